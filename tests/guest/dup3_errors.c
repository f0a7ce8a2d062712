/* dup3 sets close-on-exec, and refuses equal numbers and other flags with
 * EINVAL. */
#include "guest.h"

int
main(void)
{
    int fd = OK(open("/dev/null", O_RDWR));

    CHECK_EQ(dup3(fd, 40, O_CLOEXEC), 40);
    CHECK_EQ(fcntl(40, F_GETFD), FD_CLOEXEC);
    CHECK_EQ(dup3(fd, 40, 0), 40);
    CHECK_EQ(fcntl(40, F_GETFD), 0);
    CHECK_ERR(dup3(fd, fd, 0), EINVAL);
    CHECK_ERR(dup3(999, 999, 0), EINVAL); /* before EBADF */
    CHECK_ERR(syscall(SYS_dup3, fd, 41, O_NONBLOCK), EINVAL);
    CHECK_ERR(syscall(SYS_dup3, 999, 41, O_APPEND), EINVAL);
    CHECK_ERR(dup3(999, 41, 0), EBADF);
    CHECK_ERR(dup3(fd, -1, 0), EBADF);
    return 0;
}
