/* Terminal requests on files are ENOTTY; the generic ones work on every
 * descriptor. */
#include "guest.h"

#include <sys/ioctl.h>

int
main(void)
{
    struct winsize ws;
    int n, fds[2];

    tmpdir();
    put("f", "0123456789");
    int fd = OK(open("f", O_RDONLY));
    CHECK_ERR(ioctl(fd, TIOCGWINSZ, &ws), ENOTTY);
    CHECK(!isatty(fd) && errno == ENOTTY);
    CHECK(!isatty(-1) && errno == EBADF);
    CHECK_ERR(ioctl(-1, TIOCGWINSZ, &ws), EBADF);
    OK(pipe(fds));
    CHECK(!isatty(fds[0]) && errno == ENOTTY);

    OK(lseek(fd, 4, SEEK_SET));
    OK(ioctl(fd, FIONREAD, &n));
    CHECK_EQ(n, 6);
    OK(ioctl(fd, FIOCLEX));
    CHECK_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
    OK(ioctl(fd, FIONCLEX));
    CHECK_EQ(fcntl(fd, F_GETFD), 0);
    n = 1;
    OK(ioctl(fds[0], FIONBIO, &n));
    CHECK(fcntl(fds[0], F_GETFL) & O_NONBLOCK);
    n = 0;
    OK(ioctl(fds[0], FIONBIO, &n));
    CHECK(!(fcntl(fds[0], F_GETFL) & O_NONBLOCK));
    return 0;
}
