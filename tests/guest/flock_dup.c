/* Duplicates share one flock; it goes with the last of them or an unlock
 * through any. */
#include "guest.h"

#include <sys/file.h>

int
main(void)
{
    tmpdir();
    put("f", "");
    int a = OK(open("f", O_RDWR));
    int copy = OK(dup(a));
    int other = OK(open("f", O_RDWR));
    OK(flock(a, LOCK_EX));
    OK(flock(copy, LOCK_EX | LOCK_NB)); /* the same lock */
    OK(close(a));
    CHECK_ERR(flock(other, LOCK_EX | LOCK_NB), EWOULDBLOCK);
    OK(close(copy));
    OK(flock(other, LOCK_EX | LOCK_NB));

    copy = OK(dup(other));
    OK(flock(copy, LOCK_UN));
    int third = OK(open("f", O_RDWR));
    OK(flock(third, LOCK_EX | LOCK_NB));
    return 0;
}
