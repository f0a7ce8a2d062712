/* Interval timers, POSIX timers and limits on CPU time.
 *
 * Timers of elapsed time are in the clock's heap. CPU time has no timer: it is
 * compared after each slice, so such a signal is late by a slice at most. A
 * timer that fires computes the periods it has missed, and never fires twice
 * for the past. */
#include "kernel/timers.h"

#include "kernel/abi.h"
#include "kernel/kernel.h"
#include "kernel/syscall.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>

/* A timer of timer_create. */
struct posix_timer {
    struct timer timer;
    struct list link; /* in task->posix_timers */
    struct task *task;
    int id, sig, notify, overrun;
    clockid_t clock;
    uint32_t value;
    int64_t interval_ns;
};

/* Returns the first multiple of `interval` after `deadline` that is in the
 * future (NS_NEVER on overflow), and the number of periods passed. */
static int64_t
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
}

/* --- timer_create */

/* While the signal of a timer is still pending, further expirations are added
 * to its overrun count and need no queue entry. */
static void
timers_on_posix_timer(struct timer *timer)
{
    struct posix_timer *pt = CONTAINER_OF(timer, struct posix_timer, timer);
    struct task *t = pt->task;
    struct clock *c = &t->kernel->clock;

    int missed = 0;
    if (pt->interval_ns)
        (void)timer_start(c, timer,
                          timers_next_period(timer->deadline_ns,
                                             pt->interval_ns, clock_mono_ns(c),
                                             &missed));
    int more = missed < INT_MAX ? missed + 1 : missed;
    if (pt->notify == SIGEV_NONE || signal_add_overrun(t, pt->id, more))
        return;
    struct siginfo_k si = {.signo = pt->sig,
                           .code = SI_TIMER,
                           .timerid = pt->id,
                           .overrun = missed,
                           .value = pt->value};
    (void)signal_send(t, &si);
}

static void
posix_timer_free(struct posix_timer *pt)
{
    struct kernel *k = pt->task->kernel;

    timer_stop(&k->clock, &pt->timer);
    list_remove(&pt->link);
    limits_uncharge(&k->limits, LIMIT_sigqueue, 1);
    free(pt);
}

void
timers_fini(struct task *t)
{
    timer_stop(&t->kernel->clock, &t->itimer_real);
    timers_exec(t);
}

void
timers_exec(struct task *t)
{
    while (!list_is_empty(&t->posix_timers))
        posix_timer_free(
            CONTAINER_OF(t->posix_timers.next, struct posix_timer, link));
}

/* Ids are small and a process has few timers, so the list is searched. */
static struct posix_timer *
posix_timer_find(struct task *t, int id)
{
    LIST_FOR_EACH(it, &t->posix_timers) {
        struct posix_timer *pt = CONTAINER_OF(it, struct posix_timer, link);
        if (pt->id == id)
            return pt;
    }
    return NULL;
}

void
timers_delivered(struct task *t, int timerid, int overrun)
{
    struct posix_timer *pt = posix_timer_find(t, timerid);

    if (pt)
        pt->overrun = overrun;
}

/* CPU clocks are not offered here; setitimer has them. */
static bool
timers_is_timer_clock(int id)
{
    return id == CLOCK_REALTIME || id == CLOCK_MONOTONIC ||
           id == CLOCK_BOOTTIME;
}

/* timer_create(clock, sigevent, id): sigevent begins with value, signo and
 * notify. A timer is charged as a queued signal, as on Linux. */
int64_t
sys_timer_create(struct task *t, const union sysarg *a)
{
    int32_t ev[3] = {0, SIGALRM, SIGEV_SIGNAL};
    struct kernel *k = t->kernel;

    if (!timers_is_timer_clock(a[0].i))
        return -EINVAL;
    int r = a[1].addr ? copy_from_guest(t, ev, a[1].addr, sizeof ev) : 0;
    if (r < 0)
        return r;
    if ((ev[2] != SIGEV_SIGNAL && ev[2] != SIGEV_NONE &&
         ev[2] != SIGEV_THREAD_ID) ||
        (ev[2] != SIGEV_NONE && (ev[1] < 1 || ev[1] > NSIG_MAX)))
        return -EINVAL;
    if (!limits_charge(&k->limits, LIMIT_sigqueue, 1))
        return -EAGAIN;
    struct posix_timer *pt = calloc(1, sizeof *pt);
    if (!pt) {
        limits_uncharge(&k->limits, LIMIT_sigqueue, 1);
        return -EAGAIN;
    }
    pt->task = t;
    pt->timer.fire = timers_on_posix_timer;
    pt->clock = a[0].i;
    pt->sig = ev[1];
    pt->notify = ev[2];
    while (posix_timer_find(t, pt->id))
        pt->id++;
    pt->value = a[1].addr ? (uint32_t)ev[0] : (uint32_t)pt->id;
    list_push_back(&t->posix_timers, &pt->link);
    r = copy_to_guest(t, a[2].addr, &pt->id, sizeof pt->id);
    if (r < 0)
        posix_timer_free(pt);
    return r;
}

/* A running timer shows at least a nanosecond. */
static int
timers_put_timer(struct task *t, gaddr to, const struct posix_timer *pt)
{
    int64_t left = 0;

    if (timer_is_running(&pt->timer)) {
        left = pt->timer.deadline_ns - clock_mono_ns(&t->kernel->clock);
        left = left > 0 ? left : 1;
    }
    int r = abi_put_time(t, to, pt->interval_ns);
    return r < 0 ? r : abi_put_time(t, to + 16, left);
}

/* timer_gettime(id, value) */
int64_t
sys_timer_gettime(struct task *t, const union sysarg *a)
{
    struct posix_timer *pt = posix_timer_find(t, a[0].i);

    return pt ? timers_put_timer(t, a[1].addr, pt) : -EINVAL;
}

/* timer_settime(id, flags, new, old): the old value is written before the timer
 * changes, so an unwritable address changes nothing. */
int64_t
sys_timer_settime(struct task *t, const union sysarg *a)
{
    struct posix_timer *pt = posix_timer_find(t, a[0].i);
    struct clock *c = &t->kernel->clock;
    int64_t interval = 0, value = 0;

    if (!pt || !a[2].addr)
        return -EINVAL;
    int r = abi_get_time(t, a[2].addr, &interval);
    if (r == 0)
        r = abi_get_time(t, a[2].addr + 16, &value);
    if (r == 0 && a[3].addr)
        r = timers_put_timer(t, a[3].addr, pt);
    if (r < 0)
        return r;
    timer_stop(c, &pt->timer);
    pt->interval_ns = interval;
    pt->overrun = 0;
    if (!value)
        return 0;
    int64_t deadline = clock_after(c, value);
    if (a[1].u & TIMER_ABSTIME)
        deadline = pt->clock == CLOCK_REALTIME
                       ? clock_after(c, value - clock_real_ns(c))
                       : value;
    return timer_start(c, &pt->timer, deadline);
}

/* timer_getoverrun(id): of the signal that was delivered last */
int64_t
sys_timer_getoverrun(struct task *t, const union sysarg *a)
{
    struct posix_timer *pt = posix_timer_find(t, a[0].i);

    return pt ? pt->overrun : -EINVAL;
}

/* timer_delete(id) */
int64_t
sys_timer_delete(struct task *t, const union sysarg *a)
{
    struct posix_timer *pt = posix_timer_find(t, a[0].i);

    if (!pt)
        return -EINVAL;
    posix_timer_free(pt);
    return 0;
}
