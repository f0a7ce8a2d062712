/* Interval timers and limits on CPU time.
 *
 * Timers of elapsed time are in the clock's heap. CPU time has no timer: it is
 * compared after each slice, so such a signal is late by a slice at most. A
 * timer that fires computes the periods it has missed, and never fires twice
 * for the past. */
#include "kernel/timers.h"

#include "kernel/abi.h"
#include "kernel/kernel.h"
#include "kernel/posix_timers.h"
#include "kernel/syscall.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>

int64_t
timers_next_period(int64_t deadline, int64_t interval, int64_t now,
                   int *ret_passed)
{
    int64_t late, next;

    if (__builtin_sub_overflow(now, deadline, &late))
        late = NS_NEVER;
    int64_t n = late > 0 ? late / interval : 0;
    *ret_passed = n < INT_MAX ? (int)n : INT_MAX;
    if (__builtin_add_overflow(n * interval, interval, &next) ||
        __builtin_add_overflow(deadline, next, &next))
        return NS_NEVER;
    return next;
}

/* --- setitimer */

/* The timer is started before the signal is sent, which may end the task. */
static void
timers_on_itimer(struct timer *timer)
{
    struct task *t = CONTAINER_OF(timer, struct task, itimer_real);
    struct clock *c = &t->kernel->clock;
    int passed;

    if (t->itimer_interval_ns)
        (void)timer_start(c, timer,
                          timers_next_period(timer->deadline_ns,
                                             t->itimer_interval_ns,
                                             clock_mono_ns(c), &passed));
    signal_send_kernel(t, SIGALRM);
}

void
timers_init(struct task *t)
{
    t->itimer_real.fire = timers_on_itimer;
}

struct itimer {
    int64_t value_ns, interval_ns;
};

/* A running timer has at least a microsecond left, the unit of the
 * interface. */
static struct itimer
timers_real_left(const struct task *t)
{
    const struct timer *timer = &t->itimer_real;
    int64_t left = 0;

    if (timer_is_running(timer)) {
        left = timer->deadline_ns - clock_mono_ns(&t->kernel->clock);
        left = left > 1000 ? left : 1000;
    }
    return (struct itimer){left, t->itimer_interval_ns};
}

/* CPU timers have the resolution of a slice; one that is due shows a
 * microsecond. */
static struct itimer
timers_cpu_left(const struct task *t, int which)
{
    const struct cpu_timer *ct = &t->cpu_timers[which - 1];
    int64_t left = ct->at_ns ? ct->at_ns - t->usage.cpu_ns : 0;

    return (struct itimer){ct->at_ns && left <= 0 ? 1000 : left,
                           ct->interval_ns};
}

/* struct itimerval of 32-bit programs: interval first, then value. */
static int
timers_put_itimer(struct task *t, gaddr to, struct itimer it)
{
    int64_t value = it.value_ns / 1000, interval = it.interval_ns / 1000;
    int32_t out[4] = {(int32_t)(interval / 1000000),
                      (int32_t)(interval % 1000000), (int32_t)(value / 1000000),
                      (int32_t)(value % 1000000)};

    return copy_to_guest(t, to, out, sizeof out);
}

static struct itimer
itimer_left(struct task *t, int which)
{
    sched_account(t->kernel);
    return which == ITIMER_REAL ? timers_real_left(t)
                                : timers_cpu_left(t, which);
}

/* getitimer(which, value) */
int64_t
sys_getitimer(struct task *t, const union sysarg *a)
{
    if (a[0].u > ITIMER_PROF)
        return -EINVAL;
    return timers_put_itimer(t, a[1].addr, itimer_left(t, a[0].i));
}

/* A value of 0 stops the timer; the interval alone has no effect. */
static int
timers_set_real(struct task *t, struct itimer it)
{
    struct clock *c = &t->kernel->clock;

    t->itimer_interval_ns = it.interval_ns;
    if (it.value_ns)
        return timer_start(c, &t->itimer_real, clock_after(c, it.value_ns));
    timer_stop(c, &t->itimer_real);
    return 0;
}

/* The timer fires when the task has used this much more CPU time. */
static void
timers_set_cpu(struct task *t, int which, struct itimer it)
{
    struct cpu_timer *ct = &t->cpu_timers[which - 1];

    ct->at_ns = it.value_ns ? t->usage.cpu_ns + it.value_ns : 0;
    ct->interval_ns = it.interval_ns;
}

/* setitimer(which, new, old) */
int64_t
sys_setitimer(struct task *t, const union sysarg *a)
{
    struct itimer old, set = {0};
    int32_t in[4] = {0};

    if (a[0].u > ITIMER_PROF)
        return -EINVAL;
    int r = a[1].addr ? copy_from_guest(t, in, a[1].addr, sizeof in) : 0;
    if (r < 0)
        return r;
    for (int i = 0; i < 4; i++)
        if (in[i] < 0 || (i % 2 && in[i] >= 1000000))
            return -EINVAL;
    set.interval_ns = in[0] * NS_PER_S + in[1] * INT64_C(1000);
    set.value_ns = in[2] * NS_PER_S + in[3] * INT64_C(1000);
    old = itimer_left(t, a[0].i);
    if (a[0].i == ITIMER_REAL)
        r = timers_set_real(t, set);
    else
        timers_set_cpu(t, a[0].i, set);
    if (r < 0 || !a[2].addr)
        return r;
    return timers_put_itimer(t, a[2].addr, old);
}

/* --- CPU time */

static void
timers_check_cpu_timer(struct task *t, struct cpu_timer *ct, int sig)
{
    int passed;

    if (!ct->at_ns || t->usage.cpu_ns < ct->at_ns)
        return;
    ct->at_ns = ct->interval_ns ? timers_next_period(ct->at_ns, ct->interval_ns,
                                                     t->usage.cpu_ns, &passed)
                                : 0;
    signal_send_kernel(t, sig);
}

/* SIGXCPU is sent at the soft limit and every second after it; SIGKILL at the
 * hard limit. */
static void
timers_check_rlimit_cpu(struct task *t)
{
    struct rlimit_k *rl = &t->rlimits[RLIMIT_CPU];
    uint64_t used = (uint64_t)(t->usage.cpu_ns / NS_PER_S);

    if (rl->max != RLIM_INFINITY && used >= rl->max) {
        signal_send_kernel(t, SIGKILL);
        return;
    }
    if (rl->cur == RLIM_INFINITY || used < rl->cur)
        return;
    rl->cur = used + 1; /* again each second */
    signal_send_kernel(t, SIGXCPU);
}

void
timers_check_cpu(struct task *t)
{
    if (t->is_zombie)
        return;
    timers_check_cpu_timer(t, &t->cpu_timers[ITIMER_VIRTUAL - 1], SIGVTALRM);
    timers_check_cpu_timer(t, &t->cpu_timers[ITIMER_PROF - 1], SIGPROF);
    if (t->rlimits[RLIMIT_CPU].cur != RLIM_INFINITY ||
        t->rlimits[RLIMIT_CPU].max != RLIM_INFINITY)
        timers_check_rlimit_cpu(t);
    posix_timers_check_cpu(t);
}

void
timers_fini(struct task *t)
{
    timer_stop(&t->kernel->clock, &t->itimer_real);
    posix_timers_fini(t);
}
