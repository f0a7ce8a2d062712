/* System calls about the system, and those that have nothing to do. */
#include "kernel/kernel.h"
#include "kernel/syscall.h"
#include "kernel/version.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

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

/* mincore(...): memory maps are a matter of the libc, so no page is known here.
 * gnulib uses the call to probe which pages exist, and accepts this answer. */
int64_t
sys_mincore(struct task *t, const union sysarg *a)
{
    (void)t, (void)a;
    return -ENOMEM;
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
