/* epoll reports a state as long as it lasts, with the caller's data. */
#include "proc.h"

#include <sys/epoll.h>

int
main(void)
{
    struct epoll_event ev = {.events = EPOLLIN}, out[4];
    int a[2], b[2], ep;

    OK(pipe(a));
    OK(pipe(b));
    ep = OK(epoll_create1(EPOLL_CLOEXEC));
    CHECK_EQ(OK(fcntl(ep, F_GETFD)), FD_CLOEXEC);
    ev.data.u64 = 0x1122334455667788;
    OK(epoll_ctl(ep, EPOLL_CTL_ADD, a[0], &ev));
    ev.data.u64 = 2;
    OK(epoll_ctl(ep, EPOLL_CTL_ADD, b[0], &ev));
    CHECK_EQ(epoll_wait(ep, out, 4, 0), 0);
    CHECK_EQ(epoll_wait(ep, out, 4, 10), 0);
    say(a[1], 'x');
    CHECK_EQ(epoll_wait(ep, out, 4, -1), 1);
    CHECK_EQ(out[0].events, EPOLLIN);
    CHECK(out[0].data.u64 == 0x1122334455667788);
    CHECK_EQ(epoll_wait(ep, out, 4, -1), 1); /* still */
    say(b[1], 'x');
    CHECK_EQ(epoll_wait(ep, out, 4, -1), 2);
    CHECK_EQ(epoll_wait(ep, out, 1, -1), 1); /* no more than asked for */
    hear(a[0]);
    CHECK_EQ(epoll_wait(ep, out, 4, -1), 1);
    CHECK(out[0].data.u64 == 2);
    hear(b[0]);
    CHECK_EQ(epoll_wait(ep, out, 4, 0), 0);
    OK(close(b[1]));
    CHECK_EQ(epoll_wait(ep, out, 4, 0), 1);
    CHECK_EQ(out[0].events, EPOLLHUP); /* without being asked for */
    return 0;
}
