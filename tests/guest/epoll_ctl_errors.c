/* epoll_ctl and epoll_wait errors: EEXIST ENOENT EINVAL EPERM EBADF ELOOP. */
#include "proc.h"

#include <sys/epoll.h>

int
main(void)
{
    struct epoll_event ev = {.events = EPOLLIN}, out;
    int p[2], ep = OK(epoll_create1(0)), in, file;

    OK(pipe(p));
    CHECK_ERR(epoll_create1(0x7f), EINVAL);
    CHECK_ERR(epoll_ctl(ep, EPOLL_CTL_MOD, p[0], &ev), ENOENT);
    CHECK_ERR(epoll_ctl(ep, EPOLL_CTL_DEL, p[0], NULL), ENOENT);
    OK(epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &ev));
    CHECK_ERR(epoll_ctl(ep, EPOLL_CTL_ADD, p[0], &ev), EEXIST);
    CHECK_ERR(epoll_ctl(ep, 77, p[0], &ev), EINVAL);
    CHECK_ERR(epoll_ctl(ep, EPOLL_CTL_ADD, 99, &ev), EBADF);
    CHECK_ERR(epoll_ctl(99, EPOLL_CTL_ADD, p[0], &ev), EBADF);
    CHECK_ERR(epoll_ctl(p[0], EPOLL_CTL_ADD, p[1], &ev), EINVAL);
    CHECK_ERR(epoll_ctl(ep, EPOLL_CTL_ADD, ep, &ev), EINVAL);
    file = OK(open("/proc/self/exe", O_RDONLY));
    CHECK_ERR(epoll_ctl(ep, EPOLL_CTL_ADD, file, &ev), EPERM);
    CHECK_ERR(epoll_wait(ep, &out, 0, 0), EINVAL);
    CHECK_ERR(epoll_wait(p[0], &out, 1, 0), EINVAL);
    CHECK_ERR(epoll_wait(99, &out, 1, 0), EBADF);
    in = OK(epoll_create1(0));
    OK(epoll_ctl(ep, EPOLL_CTL_ADD, in, &ev));
    CHECK_ERR(epoll_ctl(in, EPOLL_CTL_ADD, ep, &ev), ELOOP);
    return 0;
}
