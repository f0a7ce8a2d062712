/* ppoll, pselect and epoll_pwait let a blocked signal in only while waiting. */
#include "proc.h"

#include <sys/epoll.h>
#include <sys/select.h>

int
main(void)
{
    struct timespec zero = {0, 0}, ten = {10, 0};
    sigset_t none = set_of(0);
    struct pollfd pf = {.events = POLLIN};
    struct epoll_event ev;
    fd_set set;
    int p[2], ep;

    OK(pipe(p));
    pf.fd = p[0];
    ep = OK(epoll_create1(0));
    handle(SIGUSR1, note, SA_RESTART);
    mask(SIG_BLOCK, SIGUSR1);
    OK(raise(SIGUSR1));
    CHECK_EQ(ppoll(&pf, 1, &zero, NULL), 0);
    CHECK_EQ(caught[SIGUSR1], 0);
    CHECK_ERR(ppoll(&pf, 1, &ten, &none), EINTR);
    CHECK_EQ(caught[SIGUSR1], 1);
    CHECK(is_blocked(SIGUSR1));
    CHECK_EQ(ten.tv_sec, 10);

    OK(raise(SIGUSR1));
    FD_ZERO(&set);
    FD_SET(p[0], &set);
    CHECK_ERR(pselect(p[0] + 1, &set, NULL, NULL, &ten, &none), EINTR);
    CHECK_EQ(caught[SIGUSR1], 2);
    OK(raise(SIGUSR1));
    CHECK_ERR(epoll_pwait(ep, &ev, 1, 10000, &none), EINTR);
    CHECK_EQ(caught[SIGUSR1], 3);

    OK(raise(SIGUSR1)); /* a ready descriptor comes first */
    say(p[1], 'x');
    CHECK_EQ(ppoll(&pf, 1, &ten, &none), 1);
    CHECK_EQ(caught[SIGUSR1], 3);
    CHECK(is_pending(SIGUSR1));
    return 0;
}
