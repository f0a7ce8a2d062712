/* A standard signal is pending once: the first sender's facts are kept. */
#include "proc.h"

int
main(void)
{
    struct timespec zero = {0, 0};
    sigset_t set;
    siginfo_t si;
    union sigval v;

    sigfillset(&set);
    OK(sigprocmask(SIG_BLOCK, &set, NULL));
    for (v.sival_int = 1; v.sival_int < 5; v.sival_int++)
        OK(sigqueue(getpid(), SIGUSR1, v));
    OK(kill(getpid(), SIGUSR1));
    OK(kill(getpid(), SIGRTMIN));
    OK(kill(getpid(), SIGRTMIN));
    OK(kill(getpid(), SIGHUP));
    CHECK_EQ(OK(sigtimedwait(&set, &si, &zero)), SIGHUP); /* lowest first */
    CHECK_EQ(OK(sigtimedwait(&set, &si, &zero)), SIGUSR1);
    CHECK_EQ(si.si_value.sival_int, 1);
    CHECK_EQ(OK(sigtimedwait(&set, &si, &zero)), SIGRTMIN);
    CHECK_EQ(si.si_code, SI_USER);
    CHECK_EQ(OK(sigtimedwait(&set, &si, &zero)), SIGRTMIN);
    CHECK_ERR(sigtimedwait(&set, &si, &zero), EAGAIN);
    return 0;
}
