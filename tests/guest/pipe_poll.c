/* poll tells when a pipe can be read or written and when its other end is
 * gone. */
#include "guest.h"

#include <poll.h>
#include <sys/ioctl.h>

static int
events(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN | POLLOUT};

    OK(poll(&p, 1, 0));
    return p.revents;
}

int
main(void)
{
    static char buf[65536];
    int fds[2], n;

    OK(pipe2(fds, O_NONBLOCK));
    CHECK_EQ(events(fds[0]), 0);
    CHECK_EQ(events(fds[1]), POLLOUT);
    CHECK_EQ(write(fds[1], "abc", 3), 3);
    CHECK_EQ(events(fds[0]), POLLIN);
    OK(ioctl(fds[0], FIONREAD, &n));
    CHECK_EQ(n, 3);
    CHECK_EQ(read(fds[0], buf, 10), 3);
    CHECK_EQ(write(fds[1], buf, sizeof buf), 65536);
    CHECK_EQ(events(fds[1]), 0);
    CHECK_EQ(read(fds[0], buf, sizeof buf), 65536);
    CHECK_EQ(events(fds[1]), POLLOUT);

    CHECK_EQ(write(fds[1], "x", 1), 1);
    OK(close(fds[1]));
    CHECK_EQ(events(fds[0]), POLLIN | POLLHUP);
    CHECK_EQ(read(fds[0], buf, 10), 1);
    CHECK_EQ(events(fds[0]), POLLHUP);

    OK(pipe(fds));
    OK(close(fds[0]));
    CHECK_EQ(events(fds[1]), POLLOUT | POLLERR);
    CHECK_EQ(events(99), POLLNVAL);
    return 0;
}
