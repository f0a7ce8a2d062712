/* signalfd: records with sender and value, lowest first, EAGAIN when empty. */
#include "proc.h"

#include <sys/signalfd.h>

int
main(void)
{
    struct signalfd_siginfo si[4];
    struct pollfd pf = {.events = POLLIN};
    union sigval v = {.sival_int = 99};
    sigset_t set;
    int fd;

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGRTMIN);
    OK(sigprocmask(SIG_BLOCK, &set, NULL));
    fd = OK(signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC));
    CHECK_EQ(OK(fcntl(fd, F_GETFD)), FD_CLOEXEC);
    pf.fd = fd;
    CHECK_EQ(poll(&pf, 1, 0), 0);
    CHECK_ERR(read(fd, si, sizeof si), EAGAIN);
    OK(sigqueue(getpid(), SIGRTMIN, v));
    OK(kill(getpid(), SIGUSR1));
    CHECK_EQ(poll(&pf, 1, 0), 1);
    CHECK_EQ(pf.revents, POLLIN);
    CHECK_EQ(read(fd, si, sizeof si), 2 * sizeof si[0]);
    CHECK_EQ(si[0].ssi_signo, SIGUSR1);
    CHECK_EQ(si[0].ssi_pid, getpid());
    CHECK_EQ(si[0].ssi_uid, getuid());
    CHECK_EQ(si[1].ssi_signo, SIGRTMIN);
    CHECK_EQ(si[1].ssi_code, SI_QUEUE);
    CHECK_EQ(si[1].ssi_int, 99);
    CHECK(!is_pending(SIGUSR1));
    CHECK_ERR(read(fd, si, sizeof si[0] - 1), EINVAL);
    set = set_of(SIGUSR2); /* another set for the same descriptor */
    OK(sigprocmask(SIG_BLOCK, &set, NULL));
    CHECK_EQ(OK(signalfd(fd, &set, 0)), fd);
    OK(raise(SIGUSR1));
    CHECK_EQ(poll(&pf, 1, 0), 0);
    OK(raise(SIGUSR2));
    CHECK_EQ(read(fd, si, sizeof si), sizeof si[0]);
    CHECK_ERR(signalfd(0, &set, 0), EINVAL);
    return 0;
}
