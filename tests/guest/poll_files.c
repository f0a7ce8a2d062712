/* Files and devices are always ready for poll and select; epoll refuses
 * files with EPERM. */
#include "guest.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/select.h>

int
main(void)
{
    tmpdir();
    put("f", "");
    struct pollfd p[4] = {
        {.fd = OK(open("f", O_RDWR)), .events = POLLIN | POLLOUT},
        {.fd = OK(open("/dev/null", O_RDWR)), .events = POLLIN | POLLOUT},
        {.fd = OK(open(".", O_RDONLY)), .events = POLLIN},
        {.fd = -1, .events = POLLIN, .revents = 7},
    };
    CHECK_EQ(poll(p, 4, -1), 3);
    CHECK_EQ(p[0].revents, POLLIN | POLLOUT);
    CHECK_EQ(p[1].revents, POLLIN | POLLOUT);
    CHECK_EQ(p[2].revents, POLLIN);
    CHECK_EQ(p[3].revents, 0);

    fd_set rd, wr;
    FD_ZERO(&rd);
    FD_ZERO(&wr);
    FD_SET(p[0].fd, &rd);
    FD_SET(p[0].fd, &wr);
    CHECK_EQ(select(p[0].fd + 1, &rd, &wr, NULL, NULL), 2);

    int ep = OK(epoll_create1(EPOLL_CLOEXEC));
    struct epoll_event ev = {.events = EPOLLIN};
    CHECK_ERR(epoll_ctl(ep, EPOLL_CTL_ADD, p[0].fd, &ev), EPERM);
    CHECK_ERR(epoll_ctl(ep, EPOLL_CTL_ADD, p[2].fd, &ev), EPERM);
    return 0;
}
