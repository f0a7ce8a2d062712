/* Clocks of the host, in nanoseconds. Inline, so that src/base itself calls no
 * function of the operating system. */
#ifndef BASE_OS_TIME_H
#define BASE_OS_TIME_H

#include "base/time.h"

#include <time.h>

static inline int64_t
time_of_spec(struct timespec t)
{
    return (int64_t)t.tv_sec * NS_PER_S + t.tv_nsec;
}

static inline struct timespec
time_spec(int64_t ns)
{
    return (struct timespec){.tv_sec = ns / NS_PER_S, .tv_nsec = ns % NS_PER_S};
}

/* Reads a clock that is known to exist. */
static inline int64_t
time_read_ns(clockid_t clock)
{
    struct timespec t;

    (void)clock_gettime(clock, &t);
    return time_of_spec(t);
}

static inline int64_t
time_mono_ns(void)
{
    return time_read_ns(CLOCK_MONOTONIC);
}

static inline int64_t
time_wall_ns(void)
{
    return time_read_ns(CLOCK_REALTIME);
}

static inline int64_t
time_wall_ms(void)
{
    return time_wall_ns() / NS_PER_MS;
}

#endif
