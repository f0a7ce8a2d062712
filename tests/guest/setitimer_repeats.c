/* An interval timer fires again and again; old values come back. */
#include "proc.h"

int
main(void)
{
    struct itimerval it = {{0, 10000}, {0, 30000}}, old;
    double start = now_s();

    handle(SIGALRM, note, 0);
    OK(setitimer(ITIMER_REAL, &it, NULL));
    while (caught[SIGALRM] < 5)
        pause();
    CHECK(now_s() - start >= 0.069); /* 30 + 4 * 10 ms */
    it = (struct itimerval){{0, 0}, {0, 0}};
    OK(setitimer(ITIMER_REAL, &it, &old));
    CHECK_EQ(old.it_interval.tv_usec, 10000);
    CHECK(old.it_value.tv_sec == 0 && old.it_value.tv_usec <= 10000);
    OK(getitimer(ITIMER_REAL, &old));
    CHECK_EQ(old.it_value.tv_usec, 0);
    it.it_value.tv_usec = 1000000;
    CHECK_ERR(setitimer(ITIMER_REAL, &it, NULL), EINVAL);
    CHECK_ERR(getitimer(77, &it), EINVAL);
    return 0;
}
