/* pidfd: readable when the process has ended; signals and waitid through it. */
/* post: fork */
#include "proc.h"

#include <poll.h>
#include <sys/epoll.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open        434
#define SYS_pidfd_send_signal 424
#endif

static int
open_process(pid_t pid, unsigned flags)
{
    return (int)syscall(SYS_pidfd_open, pid, flags);
}

static int
signal_process(int fd, int sig)
{
    return (int)syscall(SYS_pidfd_send_signal, fd, sig, NULL, 0);
}

int
main(void)
{
    struct epoll_event ev = {.events = EPOLLIN};
    siginfo_t si = {0};
    int fd, fd2, ep;
    char c;

    pid_t pid = OK(fork());
    if (pid == 0)
        for (;;)
            pause();
    fd = OK(open_process(pid, 0));
    CHECK_EQ(OK(fcntl(fd, F_GETFD)), FD_CLOEXEC);
    fd2 = OK(open_process(pid, O_NONBLOCK));
    struct pollfd p = {.fd = fd, .events = POLLIN};
    ep = OK(epoll_create1(0));
    OK(epoll_ctl(ep, EPOLL_CTL_ADD, fd, &ev));
    CHECK_EQ(poll(&p, 1, 0), 0);
    CHECK_EQ(epoll_wait(ep, &ev, 1, 0), 0);
    OK(signal_process(fd, 0));
    CHECK_ERR(waitid(P_PIDFD, (id_t)fd2, &si, WEXITED), EAGAIN);
    OK(waitid(P_PIDFD, (id_t)fd, &si, WEXITED | WNOHANG));
    CHECK_EQ(si.si_pid, 0);
    CHECK_ERR(read(fd, &c, 1), EINVAL);

    /* Its folder in /proc stands for it too, but only for signals. */
    char folder[32];
    snprintf(folder, sizeof folder, "/proc/%d", (int)pid);
    int dir = OK(open(folder, O_DIRECTORY));
    int path = OK(open(folder, O_PATH));
    OK(signal_process(dir, 0));
    CHECK_ERR(signal_process(path, 0), EBADF);
    CHECK_ERR(waitid(P_PIDFD, (id_t)dir, &si, WEXITED), EBADF);

    OK(signal_process(fd, SIGKILL));
    CHECK_EQ(poll(&p, 1, -1), 1);
    CHECK(p.revents & POLLIN);
    CHECK_EQ(epoll_wait(ep, &ev, 1, -1), 1);
    OK(waitid(P_PIDFD, (id_t)fd, &si, WEXITED));
    CHECK_EQ(si.si_pid, pid);
    CHECK_EQ(si.si_code, CLD_KILLED);
    CHECK_EQ(si.si_status, SIGKILL);

    /* Its status was taken: no process is left, nor another of its number. */
    CHECK_EQ(poll(&p, 1, 0), 1);
    CHECK_ERR(signal_process(fd, 0), ESRCH);
    CHECK_ERR(signal_process(dir, 0), ESRCH);
    CHECK_ERR(waitid(P_PIDFD, (id_t)fd, &si, WEXITED), ECHILD);
    CHECK_ERR(open_process(pid, 0), ESRCH);

    CHECK_ERR(open_process(0, 0), EINVAL);
    CHECK_ERR(open_process(getpid(), 1), EINVAL);
    CHECK_ERR(signal_process(ep, 0), EBADF);
    CHECK_ERR(signal_process(-1, 0), EBADF);
    CHECK_ERR(waitid(P_PIDFD, (id_t)ep, &si, WEXITED), EBADF);
    CHECK_ERR(waitid(P_PIDFD, 999, &si, WEXITED), EBADF);
    fd = OK(open_process(getpid(), 0));
    CHECK_ERR(signal_process(fd, 1000), EINVAL);
    CHECK_ERR(waitid(P_PIDFD, (id_t)fd, &si, WEXITED), ECHILD);
    return 0;
}
