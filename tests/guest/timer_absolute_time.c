/* TIMER_ABSTIME: a moment in the past fires at once, a future one in time. */
#include "proc.h"

int
main(void)
{
    struct itimerspec its = {{0, 0}, {0, 1}};
    sigset_t set = set_of(SIGALRM);
    double start;
    timer_t t;

    mask(SIG_BLOCK, SIGALRM);
    OK(timer_create(CLOCK_MONOTONIC, NULL, &t)); /* no event: SIGALRM */
    OK(timer_settime(t, TIMER_ABSTIME, &its, NULL));
    CHECK_EQ(sigwaitinfo(&set, NULL), SIGALRM);
    start = now_s();
    OK(clock_gettime(CLOCK_MONOTONIC, &its.it_value));
    its.it_value.tv_nsec += 50000000;
    if (its.it_value.tv_nsec >= 1000000000) {
        its.it_value.tv_nsec -= 1000000000;
        its.it_value.tv_sec++;
    }
    OK(timer_settime(t, TIMER_ABSTIME, &its, NULL));
    CHECK_EQ(sigwaitinfo(&set, NULL), SIGALRM);
    CHECK(now_s() - start >= 0.049);
    OK(timer_delete(t));
    return 0;
}
