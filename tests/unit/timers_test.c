/* Interval timers and POSIX timers. */
#include "kernel/posix_timers.h"
#include "kernel/timers.h"

#include "world.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

enum { NEW = 256, OLD = 512, ID = 640, EVENT = 700, HANDLER = 100 };

static struct task *
new_task(struct kernel *k)
{
    struct task *t = world_task(k);

    for (int sig = 1; sig <= NSIG_MAX; sig++)
        if (sig != SIGKILL && sig != SIGSTOP)
            t->sig.action[sig].handler = HANDLER;
    return t;
}

static void
put_itimer(struct task *t, int32_t interval_us, int32_t value_us)
{
    const int32_t it[4] = {interval_us / 1000000, interval_us % 1000000,
                           value_us / 1000000, value_us % 1000000};

    memcpy(world_at(t, NEW), it, sizeof it);
}

static int32_t
left_us(struct task *t, int which)
{
    int32_t it[4];

    CHECK_EQ(SYS(t, NR_getitimer, (uint32_t)which, OLD), 0);
    memcpy(it, world_at(t, OLD), sizeof it);
    return it[2] * 1000000 + it[3];
}

static bool
takes(struct task *t, int sig)
{
    struct siginfo_k si;

    return signal_take(t, ~UINT64_C(0), &si) == sig;
}

TEST(timers_itimer_fires_once)
{
    struct kernel *k = world_new();
    struct task *t = new_task(k);

    put_itimer(t, 0, 1500000);
    CHECK_EQ(SYS(t, NR_setitimer, ITIMER_REAL, NEW, 0), 0);
    CHECK_EQ(left_us(t, ITIMER_REAL), 1500000);
    world_sleep_ns(k, NS_PER_S);
    CHECK_EQ(left_us(t, ITIMER_REAL), 500000);
    CHECK(takes(t, 0));
    world_sleep_ns(k, NS_PER_S);
    CHECK(takes(t, SIGALRM));
    CHECK_EQ(left_us(t, ITIMER_REAL), 0);
    world_sleep_ns(k, 10 * NS_PER_S);
    CHECK(takes(t, 0));
    kernel_free(k);
}

TEST(timers_itimer_repeats_without_drift)
{
    struct kernel *k = world_new();
    struct task *t = new_task(k);

    put_itimer(t, 1000000, 1000000);
    CHECK_EQ(SYS(t, NR_setitimer, ITIMER_REAL, NEW, 0), 0);
    world_sleep_ns(k, NS_PER_S + NS_PER_S / 2);
    CHECK(takes(t, SIGALRM));
    CHECK_EQ(left_us(t, ITIMER_REAL), 500000);
    world_sleep_ns(k, 5 * NS_PER_S);
    CHECK(takes(t, SIGALRM));
    CHECK(takes(t, 0));
    CHECK_EQ(left_us(t, ITIMER_REAL), 500000);
    put_itimer(t, 0, 0);
    CHECK_EQ(SYS(t, NR_setitimer, ITIMER_REAL, NEW, OLD), 0);
    world_sleep_ns(k, 5 * NS_PER_S);
    CHECK(takes(t, 0));
    kernel_free(k);
}

TEST(timers_itimer_refuses_bad_values)
{
    struct kernel *k = world_new();
    struct task *t = new_task(k);
    int32_t bad[4] = {0, 1000000, 0, 0};

    memcpy(world_at(t, NEW), bad, sizeof bad);
    CHECK_EQ(SYS(t, NR_setitimer, ITIMER_REAL, NEW, 0), -EINVAL);
    bad[1] = -1;
    memcpy(world_at(t, NEW), bad, sizeof bad);
    CHECK_EQ(SYS(t, NR_setitimer, ITIMER_REAL, NEW, 0), -EINVAL);
    CHECK_EQ(SYS(t, NR_setitimer, 3, NEW, 0), -EINVAL);
    CHECK_EQ(SYS(t, NR_setitimer, 0, FAKE_MEMORY_BYTES - 8, 0), -EFAULT);
    CHECK_EQ(SYS(t, NR_getitimer, 0, FAKE_MEMORY_BYTES - 8), -EFAULT);
    kernel_free(k);
}

TEST(timers_cpu_timers_count_only_work)
{
    struct kernel *k = world_new();
    struct task *t = new_task(k);

    put_itimer(t, 1000000, 2000000);
    CHECK_EQ(SYS(t, NR_setitimer, ITIMER_VIRTUAL, NEW, 0), 0);
    CHECK_EQ(SYS(t, NR_setitimer, ITIMER_PROF, NEW, 0), 0);
    world_sleep_ns(k, 100 * NS_PER_S);
    timers_check_cpu(t);
    CHECK(takes(t, 0));
    t->usage.cpu_ns += 2 * NS_PER_S;
    timers_check_cpu(t);
    CHECK(takes(t, SIGVTALRM));
    CHECK(takes(t, SIGPROF));
    CHECK_EQ(left_us(t, ITIMER_VIRTUAL), 1000000);
    kernel_free(k);
}

static int32_t
create(struct task *t, int clock, int sig, int notify, uint32_t value)
{
    const int32_t event[3] = {(int32_t)value, sig, notify};
    int32_t id = -1;

    memcpy(world_at(t, EVENT), event, sizeof event);
    int32_t r = SYS(t, NR_timer_create, (uint32_t)clock, EVENT, ID);
    memcpy(&id, world_at(t, ID), sizeof id);
    return r < 0 ? r : id;
}

static int32_t
set(struct task *t, int id, uint32_t flags, int64_t interval_ns,
    int64_t value_ns)
{
    const int64_t ts[4] = {interval_ns / NS_PER_S, interval_ns % NS_PER_S,
                           value_ns / NS_PER_S, value_ns % NS_PER_S};

    memcpy(world_at(t, NEW), ts, sizeof ts);
    return SYS(t, NR_timer_settime, (uint32_t)id, flags, NEW, 0);
}

TEST(timers_posix_timer_carries_its_value)
{
    struct kernel *k = world_new();
    struct task *t = new_task(k);
    struct siginfo_k si;

    int id = create(t, CLOCK_MONOTONIC, SIGUSR1, SIGEV_SIGNAL, 77);
    CHECK_EQ(set(t, id, 0, 0, NS_PER_S), 0);
    world_sleep_ns(k, NS_PER_S);
    CHECK_EQ(signal_take(t, ~UINT64_C(0), &si), SIGUSR1);
    CHECK_EQ(si.code, SI_TIMER);
    CHECK_EQ(si.value, 77);
    CHECK_EQ(si.timerid, id);
    CHECK_EQ(SYS(t, NR_timer_delete, (uint32_t)id), 0);
    CHECK_EQ(SYS(t, NR_timer_delete, (uint32_t)id), -EINVAL);
    CHECK_EQ(k->limits.used[LIMIT_sigqueue], 0);
    kernel_free(k);
}

TEST(timers_posix_timer_counts_overruns)
{
    struct kernel *k = world_new();
    struct task *t = new_task(k);
    struct siginfo_k si;

    int id = create(t, CLOCK_REALTIME, SIGUSR1, SIGEV_SIGNAL, 0);
    CHECK_EQ(set(t, id, 0, NS_PER_S, NS_PER_S), 0);
    world_sleep_ns(k, 4 * NS_PER_S);
    world_sleep_ns(k, 2 * NS_PER_S);
    CHECK_EQ(k->limits.used[LIMIT_sigqueue], 2);
    CHECK_EQ(signal_take(t, ~UINT64_C(0), &si), SIGUSR1);
    CHECK_EQ(si.overrun, 5);
    kernel_free(k);
}

TEST(timers_posix_timer_counts_as_many_overruns_as_can_be_told)
{
    struct kernel *k = world_new();
    struct task *t = new_task(k);
    struct siginfo_k si;

    int id = create(t, CLOCK_MONOTONIC, SIGUSR1, SIGEV_SIGNAL, 0);
    CHECK_EQ(set(t, id, TIMER_ABSTIME, 1, 1), 0);
    world_sleep_ns(k, 4 * NS_PER_S);
    world_sleep_ns(k, 4 * NS_PER_S);
    CHECK_EQ(signal_take(t, ~UINT64_C(0), &si), SIGUSR1);
    CHECK_EQ(si.overrun, INT32_MAX);
    kernel_free(k);
}

TEST(timers_posix_timer_at_an_absolute_time)
{
    struct kernel *k = world_new();
    struct task *t = new_task(k);
    int64_t real = clock_real_ns(&k->clock);

    int a = create(t, CLOCK_REALTIME, SIGUSR1, SIGEV_SIGNAL, 0);
    int b = create(t, CLOCK_MONOTONIC, SIGUSR2, SIGEV_SIGNAL, 0);
    CHECK_EQ(set(t, a, TIMER_ABSTIME, 0, real + NS_PER_S), 0);
    CHECK_EQ(set(t, b, TIMER_ABSTIME, 0, CLOCK_START_NS + 2 * NS_PER_S), 0);
    world_sleep_ns(k, NS_PER_S);
    CHECK(takes(t, SIGUSR1));
    CHECK(takes(t, 0));
    world_sleep_ns(k, NS_PER_S);
    CHECK(takes(t, SIGUSR2));
    CHECK_EQ(set(t, a, TIMER_ABSTIME, 0, 1), 0);
    world_sleep_ns(k, 1);
    CHECK(takes(t, SIGUSR1));
    kernel_free(k);
}

TEST(timers_posix_timer_with_huge_times_never_fires_twice)
{
    struct kernel *k = world_new();
    struct task *t = new_task(k);
    const int64_t huge[4] = {INT64_MAX, 0, INT64_MAX, 999999999};

    int id = create(t, CLOCK_MONOTONIC, SIGUSR1, SIGEV_SIGNAL, 0);
    memcpy(world_at(t, NEW), huge, sizeof huge);
    CHECK_EQ(SYS(t, NR_timer_settime, (uint32_t)id, 0, NEW, 0), 0);
    CHECK_EQ(clock_next_ns(&k->clock), NS_NEVER);
    CHECK_EQ(set(t, id, 0, NS_NEVER - 1, NS_PER_S), 0);
    world_sleep_ns(k, NS_PER_S);
    CHECK(takes(t, SIGUSR1));
    CHECK_EQ(clock_next_ns(&k->clock), NS_NEVER);
    kernel_free(k);
}

/* Those who look move a virtual clock on. */
TEST(timers_last_to_the_end_of_time)
{
    struct kernel *k = world_new();
    struct task *t = new_task(k);

    clock_jump(&k->clock, NS_NEVER - 5000);
    int id = create(t, CLOCK_REALTIME, SIGUSR1, SIGEV_SIGNAL, 0);
    CHECK_EQ(set(t, id, TIMER_ABSTIME, 1, 1), 0);
    put_itimer(t, 1000, 1000);
    CHECK_EQ(SYS(t, NR_setitimer, ITIMER_REAL, NEW, 0), 0);
    for (int i = 0; i < 10; i++)
        CHECK_EQ(SYS(t, NR_clock_gettime, CLOCK_MONOTONIC, OLD), 0);
    CHECK_EQ(clock_mono_ns(&k->clock), NS_NEVER - 1);
    clock_fire(&k->clock);
    CHECK(takes(t, SIGUSR1));
    CHECK_EQ(clock_next_ns(&k->clock), NS_NEVER);
    kernel_free(k);
}

TEST(timers_posix_timer_without_notification_is_silent)
{
    struct kernel *k = world_new();
    struct task *t = new_task(k);

    int id = create(t, CLOCK_MONOTONIC, 0, SIGEV_NONE, 0);
    CHECK_EQ(set(t, id, 0, 0, NS_PER_S), 0);
    world_sleep_ns(k, NS_PER_S);
    CHECK(takes(t, 0));
    CHECK_EQ(create(t, CLOCK_MONOTONIC, 0, SIGEV_SIGNAL, 0), -EINVAL);
    CHECK_EQ(create(t, CLOCK_MONOTONIC, 65, SIGEV_SIGNAL, 0), -EINVAL);
    CHECK_EQ(create(t, 99, SIGUSR1, SIGEV_SIGNAL, 0), -EINVAL);
    kernel_free(k);
}

TEST(timers_exec_keeps_the_alarm_and_deletes_posix_timers)
{
    struct kernel *k = world_new();
    struct task *t = new_task(k);

    int id = create(t, CLOCK_MONOTONIC, SIGUSR1, SIGEV_SIGNAL, 0);
    CHECK_EQ(set(t, id, 0, 0, NS_PER_S), 0);
    put_itimer(t, 0, 1000000);
    CHECK_EQ(SYS(t, NR_setitimer, ITIMER_REAL, NEW, 0), 0);
    posix_timers_fini(t);
    CHECK(list_is_empty(&t->posix_timers));
    CHECK(timer_is_running(&t->itimer_real));
    task_exit(t, 0);
    CHECK_EQ(clock_next_ns(&k->clock), NS_NEVER);
    kernel_free(k);
}

TEST(timers_survive_failing_allocations)
{
    EACH_OOM(oom) {
        test_fail_alloc(0);
        struct kernel *k = world_new();
        struct task *t = new_task(k);
        put_itimer(t, 0, 1000000);
        test_fail_alloc(oom);
        int r = SYS(t, NR_setitimer, ITIMER_REAL, NEW, 0);
        CHECK(r == 0 || r == -ENOMEM);
        int id = create(t, CLOCK_MONOTONIC, SIGUSR1, SIGEV_SIGNAL, 0);
        CHECK(id >= 0 || id == -EAGAIN);
        bool failed = test_alloc_failed();
        CHECK_EQ(k->limits.used[LIMIT_sigqueue], id >= 0);
        kernel_free(k);
        if (!failed)
            break;
    }
}

TEST(timers_are_limited)
{
    struct kernel *k = world_new();
    struct task *t = new_task(k);

    k->limits.max[LIMIT_sigqueue] = 2;
    CHECK_EQ(create(t, CLOCK_MONOTONIC, SIGUSR1, SIGEV_SIGNAL, 0), 0);
    CHECK_EQ(create(t, CLOCK_MONOTONIC, SIGUSR1, SIGEV_SIGNAL, 0), 1);
    CHECK_EQ(create(t, CLOCK_MONOTONIC, SIGUSR1, SIGEV_SIGNAL, 0), -EAGAIN);
    kernel_free(k);
}
