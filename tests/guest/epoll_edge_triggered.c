/* EPOLLET reports new data once, and again only when more arrives. */
#include "proc.h"

#include <sys/epoll.h>

int
main(void)
{
    struct epoll_event ev = {.events = EPOLLIN | EPOLLET}, out;
    int p[2], ep = OK(epoll_create1(0));

    OK(pipe(p));
    say(p[1], 'a');
    OK(epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &ev));
    CHECK_EQ(epoll_wait(ep, &out, 1, 0), 1); /* was ready when added */
    CHECK_EQ(epoll_wait(ep, &out, 1, 0), 0);
    say(p[1], 'b');
    CHECK_EQ(epoll_wait(ep, &out, 1, 0), 1); /* though 'a' is still unread */
    CHECK_EQ(epoll_wait(ep, &out, 1, 0), 0);
    CHECK_EQ(hear(p[0]), 'a');
    CHECK_EQ(epoll_wait(ep, &out, 1, 0), 0); /* reading is no event */
    OK(epoll_ctl(ep, EPOLL_CTL_MOD, p[0], &ev));
    CHECK_EQ(epoll_wait(ep, &out, 1, 0), 1); /* modifying looks again */
    CHECK_EQ(hear(p[0]), 'b');
    OK(close(p[1]));
    CHECK_EQ(epoll_wait(ep, &out, 1, 0), 1);
    CHECK_EQ(out.events, EPOLLHUP);
    return 0;
}
