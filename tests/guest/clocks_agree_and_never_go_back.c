/* Real and monotonic clocks: resolution, agreement, order, errors. */
#include "proc.h"

static int64_t
ns(clockid_t id)
{
    struct timespec ts;

    OK(clock_gettime(id, &ts));
    CHECK(ts.tv_nsec >= 0 && ts.tv_nsec < 1000000000);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

int
main(void)
{
    struct timespec ts;
    struct timeval tv;
    int64_t last = ns(CLOCK_MONOTONIC), now, a, b;
    int i;

    for (i = 0; i < 10000; i++, last = now) {
        now = ns(CLOCK_MONOTONIC);
        CHECK(now >= last);
    }
    a = ns(CLOCK_REALTIME);
    OK(gettimeofday(&tv, NULL));
    b = ns(CLOCK_REALTIME);
    now = (int64_t)tv.tv_sec * 1000000 + tv.tv_usec;
    CHECK(now >= a / 1000 && now <= b / 1000);
    now = time(NULL); /* of a coarse clock */
    CHECK(now >= a / 1000000000 - 1 && now <= ns(CLOCK_REALTIME) / 1000000000);
    CHECK(a > 1600000000LL * 1000000000);
    OK(clock_getres(CLOCK_MONOTONIC, &ts));
    CHECK(ts.tv_sec == 0 && ts.tv_nsec > 0 && ts.tv_nsec <= 1000000);
    OK(clock_getres(CLOCK_REALTIME, NULL));
    CHECK(ns(CLOCK_BOOTTIME) > 0);
    CHECK(ns(CLOCK_MONOTONIC_COARSE) > 0);
    CHECK_ERR(clock_gettime(77, &ts), EINVAL);
    CHECK_ERR(clock_getres(77, &ts), EINVAL);
    as_user();
    CHECK_ERR(clock_settime(CLOCK_REALTIME, &ts), EPERM);
    return 0;
}
