/* tgkill signals a thread of a process; the two must belong together. */
#include "proc.h"

static volatile sig_atomic_t got;

static void
on_signal(int sig, siginfo_t *info, void *context)
{
    (void)context;
    if (info->si_code == SI_TKILL && info->si_pid == getpid())
        got = sig;
}

int
main(void)
{
    struct sigaction sa = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    pid_t pid = getpid();

    OK(sigaction(SIGUSR1, &sa, NULL));
    CHECK_EQ(syscall(SYS_tgkill, pid, pid, SIGUSR1), 0);
    CHECK_EQ(got, SIGUSR1);
    CHECK_EQ(syscall(SYS_tgkill, pid, pid, 0), 0);
    CHECK_ERR(syscall(SYS_tgkill, pid, pid, 65), EINVAL);
    CHECK_ERR(syscall(SYS_tgkill, 0, pid, SIGUSR1), EINVAL);
    CHECK_ERR(syscall(SYS_tgkill, pid, -1, SIGUSR1), EINVAL);
    CHECK_ERR(syscall(SYS_tgkill, getppid(), pid, SIGUSR1), ESRCH);
    CHECK_ERR(syscall(SYS_tgkill, pid, 0x3ffffff, SIGUSR1), ESRCH);
    return 0;
}
