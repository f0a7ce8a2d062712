/* Clocks and sleeping. */
#include "check.h"

#include <time.h>
#include <unistd.h>

static double
now(clockid_t id)
{
    struct timespec t;

    CHECK(clock_gettime(id, &t) == 0);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int
main(void)
{
    struct timespec half = {0, 50000000}, res;
    double start = now(CLOCK_MONOTONIC), real = now(CLOCK_REALTIME);

    CHECK(nanosleep(&half, NULL) == 0);
    double slept = now(CLOCK_MONOTONIC) - start;
    CHECK(slept >= 0.05 && slept < 5);
    CHECK(now(CLOCK_REALTIME) - real >= 0.049);
    CHECK(time(NULL) > 1600000000);
    CHECK(clock_getres(CLOCK_MONOTONIC, &res) == 0 && res.tv_sec == 0);
    CHECK(usleep(1000) == 0);
    return 0;
}
