/* Units of time, and the moments that files have. */
#ifndef BASE_TIME_H
#define BASE_TIME_H

#include <stdint.h>

#define NS_PER_S  INT64_C(1000000000)
#define NS_PER_MS INT64_C(1000000)
#define NS_NEVER  INT64_MAX
/* The maximum distance in seconds between 1970 and the time of a file. */
#define TIME_S_MAX (INT64_MAX / NS_PER_S)

/* Returns the time of a file in nanoseconds since 1970; 0 <= ns < NS_PER_S. A
 * time out of range becomes the first or the last one that can be
 * represented. */
static inline int64_t
time_join(int64_t s, int64_t ns)
{
    if (s >= TIME_S_MAX)
        return TIME_S_MAX * NS_PER_S;
    if (s <= -TIME_S_MAX)
        return -TIME_S_MAX * NS_PER_S;
    return s * NS_PER_S + ns;
}

/* Returns the end of a time limit that begins now. A limit of 0, or one that is
 * too large for the clock, is none: NS_NEVER. */
static inline int64_t
time_deadline_ns(int64_t now_ns, uint64_t timeout_ms)
{
    int64_t ns;

    if (!timeout_ms || timeout_ms > INT64_MAX / NS_PER_MS ||
        __builtin_add_overflow(now_ns, (int64_t)timeout_ms * NS_PER_MS, &ns))
        return NS_NEVER;
    return ns;
}

/* The inverse of time_join. */
static inline void
time_split(int64_t time_ns, int64_t *ret_s, int32_t *ret_ns)
{
    int64_t s = time_ns / NS_PER_S, ns = time_ns % NS_PER_S;

    *ret_s = s - (ns < 0);
    *ret_ns = (int32_t)(ns < 0 ? ns + NS_PER_S : ns);
}

#endif
