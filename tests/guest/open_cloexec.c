/* O_CLOEXEC and FD_CLOEXEC close a descriptor at exec, others are inherited
 * with their offset. */
#include "guest.h"

int
main(int argc, char **argv)
{
    char c;

    if (argc > 1) {
        (void)argv;
        CHECK_EQ(read(10, &c, 1), 1);
        CHECK_EQ(c, 'b');
        CHECK_ERR(fcntl(11, F_GETFD), EBADF);
        CHECK_ERR(fcntl(12, F_GETFD), EBADF);
        CHECK_EQ(fcntl(13, F_GETFD), 0);
        return 0;
    }
    tmpdir();
    put("f", "abc");
    int fd = OK(open("f", O_RDONLY | O_CLOEXEC));
    CHECK_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
    CHECK_EQ(read(fd, &c, 1), 1);
    CHECK_EQ(dup2(fd, 10), 10);
    CHECK_EQ(fcntl(10, F_GETFD), 0);
    CHECK_EQ(dup3(fd, 11, O_CLOEXEC), 11);
    CHECK_EQ(dup2(fd, 12), 12);
    OK(fcntl(12, F_SETFD, FD_CLOEXEC));
    CHECK_EQ(dup3(fd, 13, O_CLOEXEC), 13);
    OK(fcntl(13, F_SETFD, 0));
    CHECK_EQ(wait_exit(spawn_self("inherit")), 0);
    CHECK_EQ(read(fd, &c, 1), 1);
    CHECK_EQ(c, 'c'); /* the child moved the offset we share */
    return 0;
}
