/* Timers as files. */
#include "world.h"

#include "kernel/timerfd.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>

enum { BUF = 4096, SPEC = 8192 };

struct guest_itimerspec {
    int64_t interval_s;
    int32_t interval_ns, pad;
    int64_t value_s;
    int32_t value_ns, pad2;
};

static int32_t
set(struct task *t, uint32_t flags, int64_t value_s, int64_t interval_s)
{
    struct guest_itimerspec its = {.interval_s = interval_s,
                                   .value_s = value_s};

    memcpy(world_at(t, SPEC), &its, sizeof its);
    return SYS(t, NR_timerfd_settime, 0, flags, SPEC, 0);
}

static uint64_t
ticks(struct task *t)
{
    uint64_t v;

    CHECK_EQ(SYS(t, NR_read, 0, BUF, 8), 8);
    memcpy(&v, world_at(t, BUF), sizeof v);
    return v;
}

TEST(timerfd_fires_once)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    CHECK_EQ(SYS(t, NR_timerfd_create, CLOCK_MONOTONIC, 0), 0);
    CHECK_EQ(set(t, 0, 5, 0), 0);
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 8), -EWAIT);
    world_sleep_ns(k, 4 * NS_PER_S);
    CHECK(!world_is_woken(t));
    world_sleep_ns(k, 1 * NS_PER_S);
    CHECK(world_is_woken(t));
    CHECK_EQ(ticks(t), 1);
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 8), -EWAIT);
    kernel_free(k);
}

TEST(timerfd_counts_the_intervals_nobody_read)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    struct guest_itimerspec its;

    CHECK_EQ(SYS(t, NR_timerfd_create, CLOCK_MONOTONIC, TFD_NONBLOCK), 0);
    CHECK_EQ(set(t, 0, 2, 3), 0);
    world_sleep_ns(k, 12 * NS_PER_S);
    CHECK_EQ(ticks(t), 4); /* at 2, 5, 8, 11 */
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 8), -EAGAIN);
    CHECK_EQ(SYS(t, NR_timerfd_gettime, 0, SPEC), 0);
    memcpy(&its, world_at(t, SPEC), sizeof its);
    CHECK_EQ(its.value_s, 2);
    CHECK_EQ(its.interval_s, 3);
    world_sleep_ns(k, 2 * NS_PER_S);
    CHECK_EQ(ticks(t), 1);
    CHECK_EQ(set(t, 0, 0, 0), 0);
    world_sleep_ns(k, 100 * NS_PER_S);
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 8), -EAGAIN);
    kernel_free(k);
}

TEST(timerfd_absolute_times_are_of_its_clock)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    int64_t now_s = clock_real_ns(&k->clock) / NS_PER_S;

    CHECK_EQ(SYS(t, NR_timerfd_create, CLOCK_REALTIME, TFD_NONBLOCK), 0);
    CHECK_EQ(set(t, TFD_TIMER_ABSTIME, now_s + 10, 0), 0);
    world_sleep_ns(k, 9 * NS_PER_S);
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 8), -EAGAIN);
    world_sleep_ns(k, NS_PER_S);
    CHECK_EQ(ticks(t), 1);
    CHECK_EQ(set(t, TFD_TIMER_ABSTIME, 1, 0), 0);
    world_sleep_ns(k, 0);
    CHECK_EQ(ticks(t), 1);
    kernel_free(k);
}

TEST(timerfd_refuses_bad_arguments)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    CHECK_EQ(SYS(t, NR_timerfd_create, 77, 0), -EINVAL);
    CHECK_EQ(SYS(t, NR_timerfd_create, CLOCK_MONOTONIC, 1), -EINVAL);
    CHECK_EQ(SYS(t, NR_eventfd2, 0, 0), 0);
    CHECK_EQ(set(t, 0, 1, 0), -EINVAL);
    CHECK_EQ(set(t, 64, 1, 0), -EINVAL);
    CHECK_EQ(SYS(t, NR_timerfd_gettime, 9, SPEC), -EBADF);
    kernel_free(k);
}

TEST(timerfd_survives_failing_allocations)
{
    struct kernel *k = world_new();
    struct timerfd_spec spec = {.value_ns = 1}, old;
    struct file *f;

    EACH_OOM(oom) {
        if (timerfd_new(k, false, 0, &f) < 0)
            continue;
        (void)timerfd_set(f, false, &spec, &old);
        file_put(f);
    }
    CHECK_EQ(k->clock.n_timers, 0);
    kernel_free(k);
}
