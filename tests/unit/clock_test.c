/* Clocks and timers. */
#include "host/native.h"
#include "kernel/clock.h"

#include "test.h"

#include <errno.h>
#include <stdlib.h>

/* A timer that notes when it fired. */
struct mark {
    struct timer timer;
    struct clock *clock;
    int64_t period_ns; /* 0: once */
    int64_t fired_ns;
    int fired;
};

static struct mark *last_fired;

static void
on_fire(struct timer *t)
{
    struct mark *m = (struct mark *)t;

    m->fired++;
    m->fired_ns = clock_mono_ns(m->clock);
    last_fired = m;
    if (m->period_ns)
        (void)timer_start(m->clock, t, t->deadline_ns + m->period_ns);
}

static struct mark
mark_on(struct clock *c)
{
    return (struct mark){.timer.fire = on_fire, .clock = c};
}

/* Jumps from timer to timer until none runs. */
static void
run_out(struct clock *c)
{
    for (int64_t next; (next = clock_next_ns(c)) != NS_NEVER;) {
        clock_jump(c, next);
        clock_fire(c);
    }
}

TEST(clock_timers_fire_in_the_order_of_their_deadlines)
{
    enum { N = 500 };
    static struct mark m[N];
    struct clock c;

    clock_init(&c, &host_native, true, 0);
    for (int i = 0; i < N; i++) {
        m[i] = mark_on(&c);
        CHECK_EQ(timer_start(&c, &m[i].timer, 10 * NS_PER_S + i * 7919 % N), 0);
    }
    for (int i = 0; i < N; i += 3)
        timer_stop(&c, &m[i].timer);
    for (int i = 1; i < N; i += 3)
        CHECK_EQ(timer_start(&c, &m[i].timer, 20 * NS_PER_S + i), 0);
    run_out(&c);
    for (int i = 0; i < N; i++) {
        int64_t at =
            i % 3 == 1 ? 20 * NS_PER_S + i : 10 * NS_PER_S + i * 7919 % N;
        CHECK_EQ(m[i].fired, i % 3 != 0);
        CHECK_EQ(m[i].fired_ns, i % 3 ? at : 0);
        CHECK(!timer_is_running(&m[i].timer));
    }
    clock_fini(&c);
}

TEST(clock_fires_only_what_is_due)
{
    struct clock c;

    clock_init(&c, &host_native, true, 0);
    struct mark a = mark_on(&c), b = mark_on(&c);
    CHECK_EQ(timer_start(&c, &a.timer, clock_after(&c, 10)), 0);
    CHECK_EQ(timer_start(&c, &b.timer, clock_after(&c, 11)), 0);
    clock_fire(&c);
    CHECK_EQ(a.fired, 0);
    clock_jump(&c, clock_after(&c, 10));
    clock_fire(&c);
    CHECK_EQ(a.fired, 1);
    CHECK_EQ(b.fired, 0);
    CHECK_EQ(clock_next_ns(&c), b.timer.deadline_ns);
    clock_fini(&c);
}

TEST(clock_timer_that_starts_itself_again_is_periodic)
{
    struct clock c;

    clock_init(&c, &host_native, true, 0);
    struct mark m = mark_on(&c);
    m.period_ns = NS_PER_S;
    CHECK_EQ(timer_start(&c, &m.timer, clock_after(&c, NS_PER_S)), 0);
    for (int i = 1; i <= 5; i++) {
        clock_jump(&c, clock_next_ns(&c));
        clock_fire(&c);
        CHECK_EQ(m.fired, i);
        CHECK_EQ(m.fired_ns, CLOCK_START_NS + i * NS_PER_S);
    }
    clock_jump(&c, clock_after(&c, 3 * NS_PER_S));
    clock_fire(&c);
    CHECK_EQ(m.fired, 8);
    timer_stop(&c, &m.timer);
    clock_fini(&c);
}

TEST(clock_virtual_time_moves_only_by_jumps_and_forward)
{
    struct clock c;

    clock_init(&c, &host_native, true, 500 * NS_PER_S);
    CHECK_EQ(clock_mono_ns(&c), CLOCK_START_NS);
    CHECK_EQ(clock_real_ns(&c), 500 * NS_PER_S);
    clock_jump(&c, CLOCK_START_NS + 7);
    clock_jump(&c, CLOCK_START_NS + 3);
    CHECK_EQ(clock_mono_ns(&c), CLOCK_START_NS + 7);
    CHECK_EQ(clock_real_ns(&c), 500 * NS_PER_S + 7);
    clock_fini(&c);
}

TEST(clock_ends_at_never)
{
    struct clock c;

    clock_init(&c, &host_native, true, 500 * NS_PER_S);
    CHECK_EQ(clock_after(&c, NS_NEVER), NS_NEVER);
    CHECK_EQ(clock_after(&c, NS_NEVER - 1), NS_NEVER);
    clock_jump(&c, NS_NEVER - 1);
    CHECK_EQ(clock_after(&c, 2), NS_NEVER);
    CHECK_EQ(clock_real_ns(&c), NS_NEVER);
    clock_jump(&c, NS_NEVER);
    CHECK_EQ(clock_mono_ns(&c), NS_NEVER - 1);
    clock_fini(&c);
}

TEST(clock_real_time_runs)
{
    struct clock c;

    clock_init(&c, &host_native, false, 0);
    int64_t mono = clock_mono_ns(&c), real = clock_real_ns(&c);
    CHECK(mono >= CLOCK_START_NS);
    CHECK(real > 1000000000 * NS_PER_S);
    while (clock_mono_ns(&c) == mono)
        ;
    CHECK(clock_mono_ns(&c) > mono);
    clock_jump(&c, NS_NEVER);
    CHECK(clock_mono_ns(&c) < NS_NEVER);
    clock_fini(&c);
}

TEST(clock_timer_without_memory_is_not_started)
{
    EACH_OOM(oom) {
        struct clock c;
        clock_init(&c, &host_native, true, 0);
        struct mark m = mark_on(&c);
        int r = timer_start(&c, &m.timer, 5);
        CHECK_EQ(r, oom == 1 ? -ENOMEM : 0);
        CHECK_EQ(timer_is_running(&m.timer), r == 0);
        clock_fini(&c);
    }
}

TEST(clock_timer_may_stop_another_that_is_due)
{
    struct clock c;

    clock_init(&c, &host_native, true, 0);
    struct mark a = mark_on(&c), b = mark_on(&c);
    CHECK_EQ(timer_start(&c, &a.timer, 5), 0);
    CHECK_EQ(timer_start(&c, &b.timer, 5), 0);
    last_fired = NULL;
    clock_jump(&c, NS_PER_S);
    timer_stop(&c, &a.timer);
    timer_stop(&c, &a.timer);
    clock_fire(&c);
    CHECK(last_fired == &b);
    CHECK_EQ(a.fired, 0);
    clock_fini(&c);
}

TEST(times_of_files_before_1970)
{
    int64_t s;
    int32_t ns;

    CHECK_EQ(time_join(-2, 999999999), -1000000001);
    time_split(-1000000001, &s, &ns);
    CHECK_EQ(s, -2);
    CHECK_EQ(ns, 999999999);
    time_split(-1000000000, &s, &ns);
    CHECK_EQ(s, -1);
    CHECK_EQ(ns, 0);
}

TEST(times_of_files_that_are_too_far_away)
{
    static const int64_t far[] = {TIME_S_MAX - 1, TIME_S_MAX, TIME_S_MAX + 1,
                                  INT64_MAX};
    int64_t s;
    int32_t ns;

    for (size_t i = 0; i < sizeof far / sizeof *far; i++) {
        time_split(time_join(far[i], 999999999), &s, &ns);
        CHECK_EQ(s, i ? TIME_S_MAX : far[0]);
        CHECK_EQ(ns, i ? 0 : 999999999);
        time_split(time_join(-far[i], 999999999), &s, &ns);
        CHECK_EQ(s, i ? -TIME_S_MAX : -far[0]);
        CHECK_EQ(ns, i ? 0 : 999999999);
    }
    time_split(INT64_MIN, &s, &ns);
    CHECK_EQ(s, -TIME_S_MAX - 1);
    CHECK_EQ(ns, 145224192);
}
