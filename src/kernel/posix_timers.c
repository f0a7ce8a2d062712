/* POSIX timers.
 *
 * A timer on elapsed time is in the clock's heap. CPU time has no heap: it is
 * compared after each slice, so such a timer is late by a slice at most. Where
 * time is virtual, CPU time is the elapsed time. A timer that fires computes
 * the periods it has missed, and never fires twice for the past. */
#include "kernel/posix_timers.h"

#include "kernel/abi.h"
#include "kernel/kernel.h"
#include "kernel/syscall.h"
#include "kernel/timers.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

/* Linux's numbers of clocks of processes and threads, as in sys_time.c. */
enum { CPU_CLOCK_SHIFT = 3, CPU_CLOCK_OF_THREAD = 4 };

enum timer_base {
    TIMER_ELAPSED,
    TIMER_REAL,
    TIMER_OF_PROCESS,
    TIMER_OF_THREAD
};

struct posix_timer {
    struct timer timer; /* of elapsed time */
    struct list link;   /* in task->posix_timers */
    struct task *task;
    int id, sig, notify, overrun;
    int to_tid; /* SIGEV_THREAD_ID: the thread that gets the signal */
    enum timer_base base;
    int of_tid;        /* TIMER_OF_THREAD */
    int64_t cpu_at_ns; /* CPU time at which it fires; 0: not running */
    uint32_t value;
    int64_t interval_ns;
};

static bool
posix_timer_counts_cpu(const struct posix_timer *pt)
{
    return pt->base >= TIMER_OF_PROCESS && !pt->task->kernel->clock.is_virtual;
}

/* Returns the time that the timer compares with. That of a thread that has
 * ended stands still, and so does its timer. */
static int64_t
posix_timer_now(const struct posix_timer *pt)
{
    const struct task *t = pt->task;

    if (!posix_timer_counts_cpu(pt))
        return clock_mono_ns(&t->kernel->clock);
    if (pt->base == TIMER_OF_PROCESS)
        return t->usage.cpu_ns;
    const struct thread *th = thread_find(pt->task, pt->of_tid);
    return th ? th->cpu_ns : 0;
}

/* --- expiration */

/* While the signal of a timer is still pending, further expirations are added
 * to its overrun count and need no queue entry. */
static void
posix_timer_signal(const struct posix_timer *pt, int missed)
{
    struct task *t = pt->task;
    struct thread *to =
        pt->notify == SIGEV_THREAD_ID ? thread_find(t, pt->to_tid) : NULL;
    struct siginfo_k si = {.signo = pt->sig,
                           .code = SI_TIMER,
                           .timerid = pt->id,
                           .overrun = missed,
                           .value = pt->value};
    int more = missed < INT_MAX ? missed + 1 : missed;

    if (pt->notify == SIGEV_NONE || (pt->notify == SIGEV_THREAD_ID && !to) ||
        signal_add_overrun(t, to, pt->id, more))
        return;
    (void)(to ? signal_send_thread(t, to, &si) : signal_send(t, &si));
}

static void
posix_timer_on_elapsed(struct timer *timer)
{
    struct posix_timer *pt = CONTAINER_OF(timer, struct posix_timer, timer);
    struct clock *c = &pt->task->kernel->clock;
    int missed = 0;

    if (pt->interval_ns)
        (void)timer_start(c, timer,
                          timers_next_period(timer->deadline_ns,
                                             pt->interval_ns, clock_mono_ns(c),
                                             &missed));
    posix_timer_signal(pt, missed);
}

static void
posix_timer_check_cpu(struct posix_timer *pt)
{
    int64_t now = posix_timer_now(pt);
    int missed = 0;

    if (!pt->cpu_at_ns || now < pt->cpu_at_ns)
        return;
    pt->cpu_at_ns =
        pt->interval_ns
            ? timers_next_period(pt->cpu_at_ns, pt->interval_ns, now, &missed)
            : 0;
    posix_timer_signal(pt, missed);
}

/* A signal may end the task, and its timers with it. */
void
posix_timers_check_cpu(struct task *t)
{
    LIST_FOR_EACH_SAFE(it, &t->posix_timers) {
        posix_timer_check_cpu(CONTAINER_OF(it, struct posix_timer, link));
        if (task_is_over(t))
            return;
    }
}

/* --- creation */

static void
posix_timer_free(OWN struct posix_timer *pt)
{
    struct kernel *k = pt->task->kernel;

    timer_stop(&k->clock, &pt->timer);
    list_remove(&pt->link);
    limits_uncharge(&k->limits, LIMIT_sigqueue, 1);
    free(pt);
}

void
posix_timers_fini(struct task *t)
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
posix_timers_delivered(struct task *t, int timerid, int overrun)
{
    struct posix_timer *pt = posix_timer_find(t, timerid);

    if (pt)
        pt->overrun = overrun;
}

/* The CPU clock of this process, or of one of its threads. */
static int
posix_timer_set_cpu_clock(struct posix_timer *pt, int clock)
{
    struct task *t = pt->task;
    int of = (int)((uint32_t)~clock >> CPU_CLOCK_SHIFT);

    if (clock >= 0)
        return -EINVAL;
    if (!(clock & CPU_CLOCK_OF_THREAD)) {
        pt->base = TIMER_OF_PROCESS;
        return !of || of == t->pid ? 0 : -EINVAL;
    }
    pt->base = TIMER_OF_THREAD;
    pt->of_tid = of ? of : t->thread->tid;
    return thread_find(t, pt->of_tid) ? 0 : -EINVAL;
}

static int
posix_timer_set_clock(struct posix_timer *pt, int clock)
{
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_TAI:
        pt->base = TIMER_REAL;
        return 0;
    case CLOCK_MONOTONIC:
    case CLOCK_BOOTTIME:
        pt->base = TIMER_ELAPSED;
        return 0;
    case CLOCK_PROCESS_CPUTIME_ID:
        pt->base = TIMER_OF_PROCESS;
        return 0;
    case CLOCK_THREAD_CPUTIME_ID:
        pt->base = TIMER_OF_THREAD;
        pt->of_tid = pt->task->thread->tid;
        return 0;
    case CLOCK_REALTIME_ALARM:
    case CLOCK_BOOTTIME_ALARM:
        return -EPERM;
    default:
        return posix_timer_set_cpu_clock(pt, clock);
    }
}

/* sigevent begins with value, signo, notify and the number of a thread. The
 * libc makes SIGEV_THREAD of SIGEV_THREAD_ID. */
static int
posix_timer_set_event(struct posix_timer *pt, const int32_t ev[4])
{
    pt->value = (uint32_t)ev[0];
    pt->sig = ev[1];
    pt->notify = ev[2];
    pt->to_tid = ev[3];
    switch (pt->notify) {
    case SIGEV_NONE:
        return 0;
    case SIGEV_THREAD_ID:
        if (!thread_find(pt->task, pt->to_tid))
            return -EINVAL;
        break;
    case SIGEV_SIGNAL:
        break;
    default:
        return -EINVAL;
    }
    return pt->sig < 1 || pt->sig > NSIG_MAX ? -EINVAL : 0;
}

/* A timer is charged as a queued signal, as on Linux. */
static struct posix_timer *
posix_timer_new(struct task *t)
{
    struct kernel *k = t->kernel;

    if (!signal_may_queue(t) || !limits_charge(&k->limits, LIMIT_sigqueue, 1))
        return NULL;
    struct posix_timer *pt = calloc(1, sizeof *pt);
    if (!pt) {
        limits_uncharge(&k->limits, LIMIT_sigqueue, 1);
        return NULL;
    }
    pt->task = t;
    pt->timer.fire = posix_timer_on_elapsed;
    while (posix_timer_find(t, pt->id))
        pt->id++;
    list_push_back(&t->posix_timers, &pt->link);
    return pt;
}

/* timer_create(clock, sigevent, id) */
int64_t
sys_timer_create(struct task *t, const union sysarg *a)
{
    int32_t ev[4] = {0, SIGALRM, SIGEV_SIGNAL, 0};

    int r = a[1].addr ? copy_from_guest(t, ev, a[1].addr, sizeof ev) : 0;
    if (r < 0)
        return r;
    struct posix_timer *pt = posix_timer_new(t);
    if (!pt)
        return -EAGAIN;
    r = posix_timer_set_clock(pt, a[0].i);
    if (r == 0)
        r = posix_timer_set_event(pt, ev);
    if (r == 0 && !a[1].addr)
        pt->value = (uint32_t)pt->id;
    if (r == 0)
        r = copy_to_guest(t, a[2].addr, &pt->id, sizeof pt->id);
    if (r < 0)
        posix_timer_free(pt);
    return r;
}

/* --- setting and reading */

/* A running timer shows at least a nanosecond. */
static int
posix_timer_put(struct task *t, gaddr to, const struct posix_timer *pt)
{
    bool is_cpu = posix_timer_counts_cpu(pt);
    bool runs = is_cpu ? pt->cpu_at_ns != 0 : timer_is_running(&pt->timer);
    int64_t at = is_cpu ? pt->cpu_at_ns : pt->timer.deadline_ns;
    int64_t left = runs ? at - posix_timer_now(pt) : 0;

    if (runs && left < 1)
        left = 1;
    int r = abi_put_time(t, to, pt->interval_ns);
    return r < 0 ? r : abi_put_time(t, to + 16, left);
}

/* timer_gettime(id, value) */
int64_t
sys_timer_gettime(struct task *t, const union sysarg *a)
{
    struct posix_timer *pt = posix_timer_find(t, a[0].i);

    sched_account(t->kernel);
    return pt ? posix_timer_put(t, a[1].addr, pt) : -EINVAL;
}

/* A time of the past fires at once. */
static int
posix_timer_start(struct posix_timer *pt, int64_t value, bool is_absolute)
{
    struct clock *c = &pt->task->kernel->clock;
    int64_t now = posix_timer_now(pt), at = value;

    if (is_absolute && pt->base == TIMER_REAL)
        at = clock_after(c, value - clock_real_ns(c));
    else if (!is_absolute && __builtin_add_overflow(now, value, &at))
        at = NS_NEVER;
    if (!posix_timer_counts_cpu(pt))
        return timer_start(c, &pt->timer, at);
    pt->cpu_at_ns = at > 0 ? at : 1;
    return 0;
}

/* timer_settime(id, flags, new, old): the old value is written before the timer
 * changes, so an unwritable address changes nothing. */
int64_t
sys_timer_settime(struct task *t, const union sysarg *a)
{
    struct posix_timer *pt = posix_timer_find(t, a[0].i);
    int64_t interval = 0, value = 0;

    if (!pt || !a[2].addr)
        return -EINVAL;
    sched_account(t->kernel);
    int r = abi_get_time(t, a[2].addr, &interval);
    if (r == 0)
        r = abi_get_time(t, a[2].addr + 16, &value);
    if (r == 0 && a[3].addr)
        r = posix_timer_put(t, a[3].addr, pt);
    if (r < 0)
        return r;
    timer_stop(&t->kernel->clock, &pt->timer);
    pt->cpu_at_ns = 0;
    pt->interval_ns = interval;
    pt->overrun = 0;
    return value ? posix_timer_start(pt, value, a[1].u & TIMER_ABSTIME) : 0;
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
