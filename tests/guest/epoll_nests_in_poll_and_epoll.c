/* An epoll descriptor is readable while it has events, to poll and epoll. */
#include "proc.h"

#include <sys/epoll.h>

int
main(void)
{
    struct epoll_event ev = {.events = EPOLLIN}, got;
    struct pollfd pf = {.events = POLLIN};
    int p[2], in = OK(epoll_create1(0)), out = OK(epoll_create1(0));

    OK(pipe(p));
    OK(epoll_ctl(in, EPOLL_CTL_ADD, p[0], &ev));
    ev.data.fd = in;
    OK(epoll_ctl(out, EPOLL_CTL_ADD, in, &ev));
    pf.fd = in;
    CHECK_EQ(poll(&pf, 1, 0), 0);
    CHECK_EQ(epoll_wait(out, &got, 1, 0), 0);
    say(p[1], 'x');
    CHECK_EQ(poll(&pf, 1, -1), 1);
    CHECK_EQ(pf.revents, POLLIN);
    CHECK_EQ(epoll_wait(out, &got, 1, -1), 1);
    CHECK_EQ(got.data.fd, in);
    hear(p[0]);
    CHECK_EQ(poll(&pf, 1, 0), 0);
    CHECK_EQ(epoll_wait(out, &got, 1, 0), 0);
    return 0;
}
