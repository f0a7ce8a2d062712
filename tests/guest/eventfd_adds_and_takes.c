/* eventfd: a read takes the sum, or one with EFD_SEMAPHORE. */
#include "proc.h"

#include <sys/eventfd.h>

int
main(void)
{
    uint64_t n = 0;
    int fd;

    fd = OK(eventfd(3, EFD_NONBLOCK));
    n = 4;
    CHECK_EQ(write(fd, &n, 8), 8);
    CHECK_EQ(read(fd, &n, 8), 8);
    CHECK_EQ(n, 7);
    CHECK_ERR(read(fd, &n, 8), EAGAIN);
    CHECK_ERR(read(fd, &n, 7), EINVAL);
    CHECK_ERR(write(fd, &n, 7), EINVAL);
    OK(close(fd));
    fd = OK(eventfd(2, EFD_NONBLOCK | EFD_SEMAPHORE | EFD_CLOEXEC));
    CHECK_EQ(OK(fcntl(fd, F_GETFD)), FD_CLOEXEC);
    CHECK_EQ(read(fd, &n, 8), 8);
    CHECK_EQ(n, 1);
    CHECK_EQ(read(fd, &n, 8), 8);
    CHECK_EQ(n, 1);
    CHECK_ERR(read(fd, &n, 8), EAGAIN);
    CHECK_ERR(eventfd(0, 0x10), EINVAL);
    return 0;
}
