/* flock conflicts between descriptions, also in one process; shared locks go
 * together. */
#include "guest.h"

#include <sys/file.h>

int
main(void)
{
    tmpdir();
    put("f", "");
    int a = OK(open("f", O_RDWR));
    int b = OK(open("f", O_RDONLY)); /* the mode does not matter */
    OK(flock(a, LOCK_EX));
    OK(flock(a, LOCK_EX)); /* again: nothing changes */
    CHECK_ERR(flock(b, LOCK_EX | LOCK_NB), EWOULDBLOCK);
    CHECK_ERR(flock(b, LOCK_SH | LOCK_NB), EWOULDBLOCK);
    OK(flock(a, LOCK_SH)); /* downgrade */
    OK(flock(b, LOCK_SH | LOCK_NB));
    CHECK_ERR(flock(a, LOCK_EX | LOCK_NB), EWOULDBLOCK);
    OK(flock(b, LOCK_UN));
    OK(flock(b, LOCK_UN)); /* without a lock: fine */
    OK(flock(a, LOCK_EX | LOCK_NB));
    OK(close(a)); /* closing unlocks */
    OK(flock(b, LOCK_EX | LOCK_NB));

    CHECK_ERR(flock(-1, LOCK_EX), EBADF);
    CHECK_ERR(flock(b, 16), EINVAL);
    CHECK_ERR(flock(b, LOCK_NB), EINVAL);
    int dir = OK(open(".", O_RDONLY));
    OK(flock(dir, LOCK_EX | LOCK_NB));
    return 0;
}
