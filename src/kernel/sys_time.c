/* System calls on clocks and sleeping. */
#include "kernel/abi.h"
#include "kernel/kernel.h"
#include "kernel/syscall.h"

#include <errno.h>
#include <sys/time.h>
#include <time.h>

/* Clocks of processes have negative ids: the complement of the pid, a bit for
 * that of a thread, and two for what counts. */
enum {
    CPU_CLOCK_SHIFT = 3,
    CPU_CLOCK_KIND = 3,
    CPU_CLOCK_KINDS = 3,
    CPU_CLOCK_THREAD = 4,
    CPU_CLOCK_OF_PROCESS = ~7 | 2, /* of the caller */
    CPU_CLOCK_OF_THREAD = CPU_CLOCK_OF_PROCESS | CPU_CLOCK_THREAD,
};

/* Finds the CPU time of a process, or of a thread of this process. The number 0
 * is the caller. */
static const int64_t *
sys_time_cpu_ns(const struct task *t, int id)
{
    pid_t number = (pid_t)((uint32_t)~id >> CPU_CLOCK_SHIFT);

    if (!(id & CPU_CLOCK_THREAD)) {
        const struct task *of = number ? task_find(t->kernel, number) : t;
        return of ? &of->usage.cpu_ns : NULL;
    }
    const struct thread *th =
        number ? thread_find(t->thread->owner, number) : t->thread;
    return th ? &th->cpu_ns : NULL;
}

static int
sys_time_cpu_clock_ns(struct task *t, int id, int64_t *ret)
{
    struct kernel *k = t->kernel;

    if (id >= 0 || (id & CPU_CLOCK_KIND) >= CPU_CLOCK_KINDS)
        return -EINVAL;
    const int64_t *ns = sys_time_cpu_ns(t, id);
    if (!ns)
        return -EINVAL;
    sched_account(k);
    *ret = k->clock.is_virtual ? k->clock.virtual_ns : *ns;
    return 0;
}

int
task_clock_ns(struct task *t, int id, int64_t *ret)
{
    struct clock *c = &t->kernel->clock;

    /* Virtual time passes for those who look: a loop until some moment ends.
     * Timers that are due fire here. The scheduler would fire them at a moment
     * that depends on the time of the host. */
    if (c->is_virtual) {
        clock_jump(c, clock_after(c, 1000));
        clock_fire(c);
    }
    switch (id) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_TAI:
        *ret = clock_real_ns(c);
        return 0;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
        *ret = clock_mono_ns(c);
        return 0;
    case CLOCK_PROCESS_CPUTIME_ID:
        return sys_time_cpu_clock_ns(t, CPU_CLOCK_OF_PROCESS, ret);
    case CLOCK_THREAD_CPUTIME_ID:
        return sys_time_cpu_clock_ns(t, CPU_CLOCK_OF_THREAD, ret);
    default:
        return sys_time_cpu_clock_ns(t, id, ret);
    }
}

/* clock_gettime(clock, time) */
int64_t
sys_clock_gettime(struct task *t, const union sysarg *a)
{
    int64_t ns;
    int r = task_clock_ns(t, a[0].i, &ns);

    return r < 0 ? r : abi_put_time(t, a[1].addr, ns);
}

/* clock_getres(clock, resolution): a nanosecond */
int64_t
sys_clock_getres(struct task *t, const union sysarg *a)
{
    int64_t ns;
    int r = task_clock_ns(t, a[0].i, &ns);

    if (r < 0 || !a[1].addr)
        return r;
    return abi_put_time(t, a[1].addr, 1);
}

/* clock_settime(clock, time): refused, after the clock was checked */
int64_t
sys_clock_settime(struct task *t, const union sysarg *a)
{
    int64_t ns;
    int r = task_clock_ns(t, a[0].i, &ns);

    return r < 0 ? r : -EPERM;
}

/* Stores the remaining time of a relative sleep that a handler has ended. */
static int64_t
sys_time_put_left(struct task *t, gaddr to)
{
    int64_t left =
        t->thread->call.deadline_ns - clock_mono_ns(&t->kernel->clock);

    return to ? abi_put_time(t, to, left > 0 ? left : 0) : 0;
}

/* Returns how long a sleep of `left` on a clock of CPU time has to wait until
 * the call is repeated. Such a clock passes at most as fast as the real time,
 * so the rest of the sleep is waited for again and again. */
static int64_t
sys_time_cpu_left(struct call_state *call, int64_t now, int64_t left)
{
    if (!call->at && __builtin_add_overflow(now, left, (int64_t *)&call->at))
        call->at = NS_NEVER;
    call->deadline_ns = 0;
    left = (int64_t)call->at - now;
    return left <= 0 ? 0 : left < NS_PER_MS ? NS_PER_MS : left;
}

/* clock_nanosleep(clock, flags, time, left): the deadline is kept from the
 * first try, so a sleep that is repeated does not become longer. */
int64_t
sys_clock_nanosleep(struct task *t, const union sysarg *a)
{
    struct clock *c = &t->kernel->clock;
    int64_t ns, now;
    bool absolute = a[1].u & TIMER_ABSTIME;

    int r = task_clock_ns(t, a[0].i, &now);
    if (a[0].i == CLOCK_THREAD_CPUTIME_ID)
        return -EINVAL;
    if (r == 0)
        r = abi_get_time(t, a[2].addr, &ns);
    if (r < 0)
        return r;
    int64_t left = !absolute ? ns : ns > now ? ns - now : 0;
    if (!c->is_virtual && (a[0].i == CLOCK_PROCESS_CPUTIME_ID || a[0].i < 0))
        left = sys_time_cpu_left(&t->thread->call, now, left);
    if (thread_deadline(t->thread, clock_after(c, left)))
        return 0;
    if (!absolute && signal_is_due(t)) {
        r = (int)sys_time_put_left(t, a[3].addr);
        return r < 0 ? r : -EINTR;
    }
    return -EWAIT;
}

/* gettimeofday(tv, tz): 32-bit times, which our libc does not use. */
int64_t
sys_gettimeofday(struct task *t, const union sysarg *a)
{
    int64_t us = clock_real_ns(&t->kernel->clock) / 1000;
    int32_t out[2] = {(int32_t)(us / 1000000), (int32_t)(us % 1000000)};

    return a[0].addr ? copy_to_guest(t, a[0].addr, out, sizeof out) : 0;
}
