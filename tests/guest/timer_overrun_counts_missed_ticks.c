/* While its signal is pending a periodic timer counts overruns instead. */
#include "proc.h"

int
main(void)
{
    struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec its = {{0, 5000000}, {0, 5000000}};
    sigset_t set = set_of(SIGUSR1);
    struct timespec zero = {0, 0};
    siginfo_t si;
    timer_t t;

    mask(SIG_BLOCK, SIGUSR1);
    OK(timer_create(CLOCK_MONOTONIC, &ev, &t));
    OK(timer_settime(t, 0, &its, NULL));
    sleep_ms(100);
    CHECK_EQ(OK(sigwaitinfo(&set, &si)), SIGUSR1);
    CHECK_EQ(si.si_code, SI_TIMER);
    CHECK(si.si_overrun >= 10);
    CHECK_EQ(OK(timer_getoverrun(t)), si.si_overrun);
    memset(&its, 0, sizeof its);
    OK(timer_settime(t, 0, &its, NULL));
    (void)sigtimedwait(&set, &si, &zero);
    CHECK_ERR(sigtimedwait(&set, &si, &zero), EAGAIN); /* never two pending */
    OK(timer_delete(t));
    return 0;
}
