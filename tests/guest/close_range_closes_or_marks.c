/* close_range closes the open descriptors of a range, or marks them
 * close-on-exec. */
#include "guest.h"

#define CLOEXEC_FLAG 4

static long
close_them(unsigned first, unsigned last, unsigned flags)
{
    return syscall(SYS_close_range, first, last, flags);
}

int
main(void)
{
    for (int fd = 40; fd < 50; fd++)
        CHECK_EQ(dup2(0, fd), fd);
    CHECK_EQ(close_them(42, 44, CLOEXEC_FLAG), 0);
    CHECK_EQ(fcntl(41, F_GETFD), 0);
    CHECK_EQ(fcntl(42, F_GETFD), FD_CLOEXEC);
    CHECK_EQ(fcntl(44, F_GETFD), FD_CLOEXEC);
    CHECK_EQ(close_them(43, 46, 0), 0);
    CHECK_EQ(fcntl(42, F_GETFD), FD_CLOEXEC);
    CHECK_ERR(fcntl(43, F_GETFD), EBADF);
    CHECK_ERR(fcntl(46, F_GETFD), EBADF);
    CHECK_EQ(fcntl(47, F_GETFD), 0);
    CHECK_EQ(close_them(45, 45, 0), 0);
    CHECK_EQ(close_them(40, ~0u, 0), 0);
    CHECK_ERR(fcntl(49, F_GETFD), EBADF);
    CHECK_ERR(close_them(5, 4, 0), EINVAL);
    CHECK_ERR(close_them(40, 41, 1u << 10), EINVAL);
    return 0;
}
