/* What the measured programs share. They run natively and in the sandbox, and
 * print lines of `name value unit`, each the best of many rounds. */
#ifndef BENCH_H
#define BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* What must hold, or else the figures mean nothing. */
#define NEED(condition)         \
    do {                        \
        if (!(condition)) {     \
            perror(#condition); \
            exit(EXIT_FAILURE); \
        }                       \
    } while (0)

static inline int64_t
now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Nanoseconds of one of the `each` things that a call of `once` does: the best
 * of many calls. On a busy machine a call should be over in a few milliseconds,
 * so that some are not interrupted. */
static inline double
best_ns(void (*once)(void), double each)
{
    enum { BUDGET_NS = 600000000, ROUNDS_MIN = 10 };
    int64_t begin = now_ns(), best = INT64_MAX;

    for (int i = 0; i < ROUNDS_MIN || now_ns() - begin < BUDGET_NS; i++) {
        int64_t start = now_ns();
        once();
        int64_t took = now_ns() - start;
        if (took < best)
            best = took;
    }
    return (double)best / each;
}

static inline void
report(const char *name, double value, const char *unit)
{
    printf("%s %.3f %s\n", name, value, unit);
    fflush(stdout);
}

#endif
