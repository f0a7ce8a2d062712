/* Process CPU time, getrusage and clock() grow while working, not asleep. */
#include "proc.h"

static double
cpu_s(void)
{
    struct timespec ts;

    OK(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts));
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

int
main(void)
{
    struct rusage a, b;
    double start = cpu_s(), now;
    clock_t c = clock();
    double ua, ub;

    OK(getrusage(RUSAGE_SELF, &a));
    do {
        now = cpu_s();
        CHECK(now >= start);
    } while (now < start + 0.1);
    OK(getrusage(RUSAGE_SELF, &b));
    ua = (double)(a.ru_utime.tv_sec + a.ru_stime.tv_sec) +
         (double)(a.ru_utime.tv_usec + a.ru_stime.tv_usec) / 1e6;
    ub = (double)(b.ru_utime.tv_sec + b.ru_stime.tv_sec) +
         (double)(b.ru_utime.tv_usec + b.ru_stime.tv_usec) / 1e6;
    CHECK(ub - ua > 0.08 && ub - ua < 5);
    CHECK((double)(clock() - c) / CLOCKS_PER_SEC > 0.08);

    double wall = now_s();
    start = cpu_s();
    sleep_ms(200);
    now = cpu_s() - start;
    CHECK(now <= now_s() - wall - 0.199); /* none of it asleep */
    CHECK_ERR(getrusage(99, &a), EINVAL);
    return 0;
}
