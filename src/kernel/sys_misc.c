/* System calls about the system, and those that have nothing to do. */
#include "kernel/kernel.h"
#include "kernel/syscall.h"
#include "kernel/version.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/random.h>

enum { CPUS = 1 };

/* uname(buf): six fields of 65 bytes. */
int64_t
sys_uname(struct task *t, const union sysarg *a)
{
    const char *fields[6] = {KERNEL_SYSNAME, t->kernel->hostname,
                             KERNEL_RELEASE, KERNEL_VERSION,
                             KERNEL_MACHINE, "(none)"};
    char out[6][65] = {0};

    for (int i = 0; i < 6; i++)
        strncpy(out[i], fields[i], sizeof out[i] - 1);
    return copy_to_guest(t, a[0].addr, out, sizeof out);
}

/* sethostname(name, len) */
int64_t
sys_sethostname(struct task *t, const union sysarg *a)
{
    (void)t, (void)a;
    return -EPERM;
}

/* sysinfo(info): sort and others size their buffers by it. */
int64_t
sys_sysinfo(struct task *t, const union sysarg *a)
{
    struct kernel *k = t->kernel;
    struct {
        uint32_t uptime, loads[3];
        uint32_t totalram, freeram, sharedram, bufferram, totalswap, freeswap;
        uint16_t procs, pad;
        uint32_t totalhigh, freehigh, unit;
        uint8_t reserved[256];
    } out = {.unit = 4096};

    _Static_assert(sizeof out == 312, "struct sysinfo of the guest");
    out.uptime = (uint32_t)(clock_mono_ns(&k->clock) / NS_PER_S);
    out.totalram = (uint32_t)(k->limits.max[LIMIT_memory] / 4096);
    uint64_t left = k->limits.max[LIMIT_memory] - k->limits.used[LIMIT_memory];
    out.freeram = (uint32_t)(left / 4096);
    out.procs = (uint16_t)k->limits.used[LIMIT_processes];
    return copy_to_guest(t, a[0].addr, &out, sizeof out);
}

/* getrandom(buf, len, flags) */
int64_t
sys_getrandom(struct task *t, const union sysarg *a)
{
    enum { MAX = 1 << 20 };
    uint32_t len = a[1].u < MAX ? a[1].u : MAX;

    void *p = guest_out(t, a[0].addr, len);
    if (!p)
        return -EFAULT;
    rng_fill(&t->kernel->rng, p, len);
    return len;
}

/* sched_yield() */
int64_t
sys_sched_yield(struct task *t, const union sysarg *a)
{
    (void)a;
    return thread_yield(t->thread);
}

/* sched_getaffinity(pid, size, mask) */
int64_t
sys_sched_getaffinity(struct task *t, const union sysarg *a)
{
    uint32_t mask[2] = {(1u << CPUS) - 1, 0};

    if (a[1].u < sizeof mask || a[1].u % 4)
        return -EINVAL;
    if (a[0].i && !task_find(t->kernel, a[0].i))
        return -ESRCH;
    int r = copy_to_guest(t, a[2].addr, mask, sizeof mask);
    return r < 0 ? r : (int64_t)sizeof mask;
}

/* sched_setaffinity(pid, size, mask): there is only one choice. */
int64_t
sys_sched_setaffinity(struct task *t, const union sysarg *a)
{
    uint32_t mask = 0;

    if (a[0].i && !task_find(t->kernel, a[0].i))
        return -ESRCH;
    int r = copy_from_guest(t, &mask, a[2].addr,
                            a[1].u < sizeof mask ? a[1].u : sizeof mask);
    if (r < 0)
        return r;
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

/* The highest (lowest) priority of a policy: only real-time ones have any. */
static int64_t
sys_misc_priority_of(int policy, int realtime)
{
    if (policy == SCHED_FIFO || policy == SCHED_RR)
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
    return sys_misc_priority_of(a[0].i, 99);
}

/* sched_get_priority_min(policy) */
int64_t
sys_sched_get_priority_min(struct task *t, const union sysarg *a)
{
    (void)t;
    return sys_misc_priority_of(a[0].i, 1);
}

/* sched_getparam(pid, param): priority 0 */
int64_t
sys_sched_getparam(struct task *t, const union sysarg *a)
{
    int32_t zero = 0;

    return copy_to_guest(t, a[1].addr, &zero, sizeof zero);
}

/* mincore(...): memory maps are a matter of the libc, so no page is known here.
 * gnulib uses the call to probe which pages exist, and accepts this answer. */
int64_t
sys_mincore(struct task *t, const union sysarg *a)
{
    (void)t, (void)a;
    return -ENOMEM;
}

/* futex(addr, op, value): a process has one thread, so a wait that would sleep
 * could never be woken. Wake-ups succeed without effect. */
int64_t
sys_futex(struct task *t, const union sysarg *a)
{
    enum { WAIT = 0, WAKE = 1, OP_MASK = 127 };
    uint32_t now;

    if ((a[1].u & OP_MASK) != WAIT)
        return 0;
    int r = copy_from_guest(t, &now, a[0].addr, sizeof now);
    return r < 0 ? r : -EAGAIN;
}

/* The handler of calls that are accepted and have nothing to do here. */
int64_t
sys_nothing(struct task *t, const union sysarg *a)
{
    (void)t, (void)a;
    return 0;
}

/* The handler of calls that need rights which no sandbox gives; recorded as
 * denied. */
int64_t
sys_not_permitted(struct task *t, const union sysarg *a)
{
    (void)a;
    kernel_deny(t->kernel, t);
    return -EPERM;
}

/* The handler of calls for features that the kernel does not have. */
int64_t
sys_not_supported(struct task *t, const union sysarg *a)
{
    (void)t, (void)a;
    return -EOPNOTSUPP;
}
