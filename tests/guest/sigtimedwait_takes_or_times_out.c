/* sigtimedwait: pending at once, EAGAIN after the time. */
#include "proc.h"

int
main(void)
{
    struct timespec zero = {0, 0}, some = ms_time(50), bad = {0, 1000000000};
    sigset_t set = set_of(SIGUSR1);
    siginfo_t si;
    double start;

    mask(SIG_BLOCK, SIGUSR1);
    handle(SIGUSR1, note, 0);
    CHECK_ERR(sigtimedwait(&set, &si, &zero), EAGAIN);
    start = now_s();
    CHECK_ERR(sigtimedwait(&set, &si, &some), EAGAIN);
    CHECK(now_s() - start >= 0.049);
    OK(raise(SIGUSR1));
    CHECK_EQ(OK(sigtimedwait(&set, &si, &zero)), SIGUSR1);
    CHECK_EQ(si.si_signo, SIGUSR1);
    CHECK_EQ(si.si_pid, getpid());
    CHECK(!is_pending(SIGUSR1));
    CHECK_EQ(caught[SIGUSR1], 0); /* no handler for a signal waited for */
    CHECK_ERR(sigtimedwait(&set, NULL, &bad), EINVAL);
    return 0;
}
