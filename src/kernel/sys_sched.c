/* System calls on scheduling: policies, priorities and processors.
 *
 * All threads are scheduled alike, on one processor. Policies and priorities
 * are therefore only kept, but with the checks of Linux, because programs rely
 * on what an ordinary user is refused. A number names a thread; 0 is the
 * caller. */
#include "kernel/abi.h"
#include "kernel/kernel.h"
#include "kernel/syscall.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>

enum {
    CPUS = 1,
    PRIORITY_MAX = 99,
    INTERVAL_MS = 100, /* of SCHED_RR */
    SLICE_MS = 4,      /* of the others that share time */
    KEEP_POLICY = -1,
};

/* sched_yield() */
int64_t
sys_sched_yield(struct task *t, const union sysarg *a)
{
    (void)a;
    return thread_yield(t->thread);
}

/* A thread that another one asks for. */
struct sched_target {
    struct task *task;
    struct sched_policy *policy;
};

/* -EINVAL: a negative number; -ESRCH. */
static int
sys_sched_find(struct task *t, int tid, struct sched_target *ret)
{
    if (tid < 0)
        return -EINVAL;
    struct task *of = tid ? task_find_thread(t->kernel, tid) : t;
    if (!of)
        return -ESRCH;
    struct thread *th = tid ? thread_find(of, tid) : t->thread;
    *ret = (struct sched_target){of, th ? thread_policy(th, of) : &of->policy};
    return 0;
}

/* --- processors */

/* sched_getaffinity(tid, size, mask) */
int64_t
sys_sched_getaffinity(struct task *t, const union sysarg *a)
{
    uint32_t mask[2] = {(1u << CPUS) - 1, 0};
    struct sched_target of;

    if (a[1].u < sizeof mask || a[1].u % 4)
        return -EINVAL;
    int r = a[0].i < 0 ? -ESRCH : sys_sched_find(t, a[0].i, &of);
    if (r == 0)
        r = copy_to_guest(t, a[2].addr, mask, sizeof mask);
    return r < 0 ? r : (int64_t)sizeof mask;
}

/* sched_setaffinity(tid, size, mask): there is only one choice. */
int64_t
sys_sched_setaffinity(struct task *t, const union sysarg *a)
{
    struct sched_target of;
    uint32_t mask = 0;

    int r = copy_from_guest(t, &mask, a[2].addr,
                            a[1].u < sizeof mask ? a[1].u : sizeof mask);
    if (r == 0)
        r = a[0].i < 0 ? -ESRCH : sys_sched_find(t, a[0].i, &of);
    if (r != 0)
        return r;
    if (!cred_may_signal(&t->as.cred, &of.task->as.cred))
        return -EPERM;
    return mask & ((1u << CPUS) - 1) ? 0 : -EINVAL;
}

/* getcpu(&cpu, &node): there is one of each */
int64_t
sys_getcpu(struct task *t, const union sysarg *a)
{
    uint32_t zero = 0;

    for (int i = 0; i < 2; i++)
        if (a[i].addr && copy_to_guest(t, a[i].addr, &zero, 4) < 0)
            return -EFAULT;
    return 0;
}

/* --- policies */

static bool
sched_is_realtime(int policy)
{
    return policy == SCHED_FIFO || policy == SCHED_RR;
}

/* The highest (lowest) priority of a policy: only real-time ones have any. */
static int64_t
sys_sched_priority_of(int policy, int realtime)
{
    if (sched_is_realtime(policy))
        return realtime;
    return policy == SCHED_OTHER || policy == SCHED_BATCH ||
                   policy == SCHED_IDLE
               ? 0
               : -EINVAL;
}

/* sched_get_priority_max(policy) */
int64_t
sys_sched_get_priority_max(struct task *t, const union sysarg *a)
{
    (void)t;
    return sys_sched_priority_of(a[0].i, PRIORITY_MAX);
}

/* sched_get_priority_min(policy) */
int64_t
sys_sched_get_priority_min(struct task *t, const union sysarg *a)
{
    (void)t;
    return sys_sched_priority_of(a[0].i, 1);
}

/* Returns true if `by` may give a thread of `to` this policy. A real-time one
 * needs root or RLIMIT_RTPRIO, unless the thread has at least that priority. */
static bool
sys_sched_may_set(const struct task *by, const struct sched_target *to,
                  struct sched_policy set)
{
    if (by->as.cred.uid == 0)
        return true;
    if (!cred_may_signal(&by->as.cred, &to->task->as.cred))
        return false;
    bool is_more =
        set.policy != to->policy->policy || set.priority > to->policy->priority;
    if (to->policy->resets_on_fork && !set.resets_on_fork)
        return false;
    return !sched_is_realtime(set.policy) || !is_more ||
           set.priority <= to->task->rlimits[RLIMIT_RTPRIO].cur;
}

/* KEEP_POLICY: changes the priority only. */
static int64_t
sys_sched_set(struct task *t, int tid, int policy, gaddr param)
{
    struct sched_target to;
    int32_t priority;

    if (!param || policy < KEEP_POLICY || tid < 0)
        return -EINVAL;
    int r = copy_from_guest(t, &priority, param, sizeof priority);
    if (r == 0)
        r = sys_sched_find(t, tid, &to);
    if (r != 0)
        return r;
    struct sched_policy set = *to.policy;
    if (policy != KEEP_POLICY) {
        set.resets_on_fork = policy & SCHED_RESET_ON_FORK;
        set.policy = policy & ~SCHED_RESET_ON_FORK;
    }
    int64_t max = sys_sched_priority_of(set.policy, PRIORITY_MAX);
    if (max < 0 || priority > max || priority < (max ? 1 : 0))
        return -EINVAL;
    set.priority = (unsigned)priority;
    if (!sys_sched_may_set(t, &to, set))
        return -EPERM;
    *to.policy = set;
    return 0;
}

/* sched_setscheduler(tid, policy, param) */
int64_t
sys_sched_setscheduler(struct task *t, const union sysarg *a)
{
    if (a[1].i < 0)
        return -EINVAL;
    return sys_sched_set(t, a[0].i, a[1].i, a[2].addr);
}

/* sched_setparam(tid, param) */
int64_t
sys_sched_setparam(struct task *t, const union sysarg *a)
{
    return sys_sched_set(t, a[0].i, KEEP_POLICY, a[1].addr);
}

/* sched_getscheduler(tid) */
int64_t
sys_sched_getscheduler(struct task *t, const union sysarg *a)
{
    struct sched_target of;

    int r = sys_sched_find(t, a[0].i, &of);
    if (r < 0)
        return r;
    return of.policy->policy |
           (of.policy->resets_on_fork ? SCHED_RESET_ON_FORK : 0);
}

/* sched_getparam(tid, param) */
int64_t
sys_sched_getparam(struct task *t, const union sysarg *a)
{
    struct sched_target of;

    if (!a[1].addr)
        return -EINVAL;
    int r = sys_sched_find(t, a[0].i, &of);
    if (r < 0)
        return r;
    int32_t priority = (int32_t)of.policy->priority;
    return copy_to_guest(t, a[1].addr, &priority, sizeof priority);
}

/* sched_rr_get_interval(tid, interval) */
int64_t
sys_sched_rr_get_interval(struct task *t, const union sysarg *a)
{
    struct sched_target of;

    int r = sys_sched_find(t, a[0].i, &of);
    if (r < 0)
        return r;
    int64_t ms = of.policy->policy == SCHED_RR     ? INTERVAL_MS
                 : of.policy->policy == SCHED_FIFO ? 0
                                                   : SLICE_MS;
    return abi_put_time(t, a[1].addr, ms * NS_PER_MS);
}
