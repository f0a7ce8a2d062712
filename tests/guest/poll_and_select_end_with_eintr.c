/* Handlers end poll, select and epoll_wait with EINTR despite SA_RESTART. */
#include "proc.h"

#include <sys/epoll.h>
#include <sys/select.h>

int
main(void)
{
    struct pollfd pf = {.events = POLLIN};
    struct timeval tv = {10, 0};
    struct epoll_event ev;
    fd_set set;
    int p[2], ep;

    OK(pipe(p));
    pf.fd = p[0];
    FD_ZERO(&set);
    FD_SET(p[0], &set);
    ep = OK(epoll_create1(0));
    handle(SIGALRM, note, SA_RESTART);
    tick(20);
    CHECK_ERR(poll(&pf, 1, -1), EINTR);
    CHECK_ERR(poll(&pf, 1, 10000), EINTR);
    CHECK_ERR(select(p[0] + 1, &set, NULL, NULL, NULL), EINTR);
    CHECK_ERR(select(p[0] + 1, &set, NULL, NULL, &tv), EINTR);
    CHECK(FD_ISSET(p[0], &set)); /* sets are untouched by an error */
    CHECK_ERR(epoll_wait(ep, &ev, 1, -1), EINTR);
    tick(0);
    return 0;
}
