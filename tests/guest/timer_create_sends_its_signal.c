/* timer_create: one shot with a value, remaining time, disarm, delete. */
#include "proc.h"

int
main(void)
{
    struct sigevent ev = {.sigev_notify = SIGEV_SIGNAL};
    struct itimerspec its = {{0, 0}, {0, 20000000}}, got;
    sigset_t set = set_of(SIGRTMIN);
    struct timespec some = ms_time(60);
    siginfo_t si;
    timer_t t;

    mask(SIG_BLOCK, SIGRTMIN);
    ev.sigev_signo = SIGRTMIN;
    ev.sigev_value.sival_int = 77;
    OK(timer_create(CLOCK_MONOTONIC, &ev, &t));
    OK(timer_gettime(t, &got));
    CHECK(got.it_value.tv_sec == 0 && got.it_value.tv_nsec == 0);
    OK(timer_settime(t, 0, &its, NULL));
    CHECK_EQ(OK(sigwaitinfo(&set, &si)), SIGRTMIN);
    CHECK_EQ(si.si_code, SI_TIMER);
    CHECK_EQ(si.si_value.sival_int, 77);
    CHECK_ERR(sigtimedwait(&set, &si, &some), EAGAIN);

    its.it_value.tv_sec = 100;
    OK(timer_settime(t, 0, &its, NULL));
    OK(timer_gettime(t, &got));
    CHECK(got.it_value.tv_sec > 0 && got.it_value.tv_sec <= 100);
    memset(&its, 0, sizeof its);
    OK(timer_settime(t, 0, &its, &got));
    CHECK(got.it_value.tv_sec > 0);
    its.it_value.tv_nsec = 1000000000;
    CHECK_ERR(timer_settime(t, 0, &its, NULL), EINVAL);
    OK(timer_delete(t));
    CHECK_ERR(timer_delete(t), EINVAL);
    CHECK_ERR(timer_create(77, &ev, &t), EINVAL);
    ev.sigev_signo = 65;
    CHECK_ERR(timer_create(CLOCK_MONOTONIC, &ev, &t), EINVAL);
    return 0;
}
