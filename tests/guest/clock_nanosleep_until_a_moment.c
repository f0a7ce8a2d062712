/* TIMER_ABSTIME sleeps until a time; errors come back as values. */
#include "proc.h"

int
main(void)
{
    struct timespec ts, left = {5, 5}, bad = {0, -1};
    double start = now_s();

    OK(clock_gettime(CLOCK_MONOTONIC, &ts));
    CHECK_EQ(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL), 0);
    ts.tv_nsec += 40000000;
    ts.tv_sec += ts.tv_nsec / 1000000000;
    ts.tv_nsec %= 1000000000;
    CHECK_EQ(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL), 0);
    CHECK(now_s() - start >= 0.039);
    CHECK_EQ(clock_nanosleep(CLOCK_MONOTONIC, 0, &bad, NULL), EINVAL);
    CHECK_EQ(clock_nanosleep(77, 0, &ts, NULL), EINVAL);

    handle(SIGALRM, note, 0);
    ts.tv_sec += 100;
    tick(20);
    CHECK_EQ(clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, &left),
             EINTR);
    CHECK(left.tv_sec == 5 && left.tv_nsec == 5); /* untouched: absolute */
    ts = (struct timespec){100, 0};
    CHECK_EQ(clock_nanosleep(CLOCK_REALTIME, 0, &ts, &left), EINTR);
    tick(0);
    CHECK(left.tv_sec > 0 && left.tv_sec <= 100);
    return 0;
}
