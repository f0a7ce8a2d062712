/* EPOLLONESHOT disarms after one report until EPOLL_CTL_MOD. */
#include "proc.h"

#include <sys/epoll.h>

int
main(void)
{
    struct epoll_event ev = {.events = EPOLLIN | EPOLLONESHOT}, out;
    int p[2], ep = OK(epoll_create1(0));

    OK(pipe(p));
    OK(epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &ev));
    say(p[1], 'x');
    CHECK_EQ(epoll_wait(ep, &out, 1, 0), 1);
    CHECK_EQ(epoll_wait(ep, &out, 1, 0), 0);
    say(p[1], 'y');
    OK(close(p[1]));
    CHECK_EQ(epoll_wait(ep, &out, 1, 0), 0); /* not even a hangup */
    CHECK_ERR(epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &ev), EEXIST);
    OK(epoll_ctl(ep, EPOLL_CTL_MOD, p[0], &ev));
    CHECK_EQ(epoll_wait(ep, &out, 1, 0), 1);
    CHECK_EQ(out.events, EPOLLIN | EPOLLHUP);
    return 0;
}
