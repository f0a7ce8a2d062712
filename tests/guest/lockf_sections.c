/* lockf locks from the current offset on top of record locks. */
#include "guest.h"

int
main(int argc, char **argv)
{
    if (argc > 1) {
        CHECK_STR(argv[1], "probe");
        int fd = OK(open("f", O_RDWR));
        OK(lseek(fd, 4, SEEK_SET));
        CHECK(lockf(fd, F_TEST, 1) == -1);
        CHECK(errno == EACCES || errno == EAGAIN);
        CHECK(lockf(fd, F_TLOCK, 1) == -1);
        OK(lockf(fd, F_TEST, -2));
        OK(lseek(fd, 8, SEEK_SET));
        OK(lockf(fd, F_TLOCK, 0));
        return 0;
    }
    tmpdir();
    put("f", "0123456789");
    int fd = OK(open("f", O_RDWR | O_CLOEXEC));
    OK(lseek(fd, 4, SEEK_SET));
    OK(lockf(fd, F_LOCK, 4));
    OK(lockf(fd, F_TEST, 4)); /* our own */
    CHECK_EQ(wait_exit(spawn_self("probe")), 0);
    CHECK_ERR(lockf(fd, 99, 4), EINVAL);
    OK(lockf(fd, F_ULOCK, 4));
    return 0;
}
