/* alarm: rounds the rest up, replaces, cancels, fires once. */
#include "proc.h"

int
main(void)
{
    struct itimerval it;
    sigset_t set = set_of(SIGALRM);
    struct timespec some = ms_time(50);
    double start, rest;

    mask(SIG_BLOCK, SIGALRM);
    start = now_s();
    CHECK_EQ(alarm(100), 0);
    rest = alarm(50); /* rounded to the nearest */
    CHECK(rest <= 100 && rest >= 99.4 - (now_s() - start));
    OK(getitimer(ITIMER_REAL, &it)); /* the same timer */
    CHECK(it.it_value.tv_sec > 0 && it.it_value.tv_sec <= 50);
    CHECK(it.it_interval.tv_sec == 0 && it.it_interval.tv_usec == 0);
    CHECK(alarm(0) > 0);
    CHECK_EQ(alarm(0), 0);
    it = (struct itimerval){{0, 0}, {0, 20000}};
    OK(setitimer(ITIMER_REAL, &it, NULL));
    CHECK_EQ(sigwaitinfo(&set, NULL), SIGALRM);
    CHECK_ERR(sigtimedwait(&set, NULL, &some), EAGAIN);
    OK(getitimer(ITIMER_REAL, &it));
    CHECK(it.it_value.tv_sec == 0 && it.it_value.tv_usec == 0);
    return 0;
}
