/* The signal mask and pending signals survive exec, with their values. */
#include "proc.h"

int
main(int argc, char **argv)
{
    union sigval v = {.sival_int = 42};
    sigset_t set;
    siginfo_t si;

    (void)argv;
    if (argc > 1) {
        CHECK(is_blocked(SIGUSR1) && is_blocked(SIGRTMIN + 1));
        CHECK(!is_blocked(SIGUSR2));
        CHECK(is_pending(SIGUSR1));
        set = set_of(SIGRTMIN + 1);
        CHECK_EQ(OK(sigwaitinfo(&set, &si)), SIGRTMIN + 1);
        CHECK_EQ(si.si_value.sival_int, 42);
        CHECK_EQ(si.si_pid, getpid());
        return 0;
    }
    mask(SIG_BLOCK, SIGUSR1);
    mask(SIG_BLOCK, SIGRTMIN + 1);
    OK(raise(SIGUSR1));
    OK(sigqueue(getpid(), SIGRTMIN + 1, v));
    OK(execl("/proc/self/exe", "child", "x", NULL));
    return 1;
}
