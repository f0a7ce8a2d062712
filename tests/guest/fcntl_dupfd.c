/* F_DUPFD takes the lowest free number not below its argument. */
#include "guest.h"

int
main(void)
{
    int fd = OK(open("/dev/null", O_RDWR | O_CLOEXEC));

    CHECK_EQ(fcntl(fd, F_DUPFD, 30), 30);
    CHECK_EQ(fcntl(30, F_GETFD), 0);
    CHECK_EQ(fcntl(fd, F_DUPFD, 30), 31);
    CHECK_EQ(fcntl(fd, F_DUPFD_CLOEXEC, 30), 32);
    CHECK_EQ(fcntl(32, F_GETFD), FD_CLOEXEC);
    OK(close(31));
    CHECK_EQ(fcntl(fd, F_DUPFD, 30), 31);
    CHECK_ERR(fcntl(fd, F_DUPFD, -1), EINVAL);
    CHECK_ERR(fcntl(fd, F_DUPFD, 1 << 30), EINVAL);
    CHECK_ERR(fcntl(999, F_DUPFD, -1), EBADF);
    CHECK_ERR(fcntl(999, F_GETFD), EBADF);
    CHECK_ERR(fcntl(fd, 12345), EINVAL);
    return 0;
}
