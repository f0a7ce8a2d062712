/* A watched file leaves epoll when its last descriptor closes, not before. */
#include "proc.h"

#include <sys/epoll.h>

int
main(void)
{
    struct epoll_event ev = {.events = EPOLLIN}, out;
    int p[2], q[2], copy, ep = OK(epoll_create1(0));

    OK(pipe(p));
    say(p[1], 'x');
    ev.data.fd = p[0];
    OK(epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &ev));
    copy = OK(dup(p[0]));
    OK(epoll_ctl(ep, EPOLL_CTL_ADD, copy, &ev)); /* another key */
    OK(epoll_ctl(ep, EPOLL_CTL_DEL, copy, NULL));
    OK(close(p[0]));
    CHECK_EQ(epoll_wait(ep, &out, 1, 0), 1); /* open through the copy */
    CHECK_ERR(epoll_ctl(ep, EPOLL_CTL_DEL, p[0], NULL), EBADF);
    OK(close(copy));
    CHECK_EQ(epoll_wait(ep, &out, 1, 0), 0);
    OK(pipe(q)); /* takes the old number, but is another file */
    CHECK_EQ(q[0], ev.data.fd);
    say(q[1], 'x');
    CHECK_EQ(epoll_wait(ep, &out, 1, 0), 0);
    OK(epoll_ctl(ep, EPOLL_CTL_ADD, q[0], &ev));
    CHECK_EQ(epoll_wait(ep, &out, 1, 0), 1);
    return 0;
}
