/* A failed non-blocking conversion gives up the lock that was held. */
#include "guest.h"

#include <sys/file.h>

int
main(void)
{
    tmpdir();
    put("f", "");
    int a = OK(open("f", O_RDWR));
    int b = OK(open("f", O_RDWR));
    OK(flock(a, LOCK_SH));
    OK(flock(b, LOCK_SH));
    CHECK_ERR(flock(a, LOCK_EX | LOCK_NB), EWOULDBLOCK);
    OK(flock(b, LOCK_EX | LOCK_NB)); /* a's shared lock is gone */
    return 0;
}
