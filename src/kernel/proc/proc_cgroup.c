/* Files of /sys/fs/cgroup: the limits of the sandbox, as a container sees
 * its own cgroup v2. Language runtimes size their heaps and thread pools by
 * them. */
#include "kernel/proc/procfs_impl.h"

static int
proc_cgroup_put_number(struct buf *b, uint64_t n)
{
    buf_printf(b, "%llu\n", (unsigned long long)n);
    return 0;
}

/* memory.max and memory.current: in bytes */
int
cgroup_memory_max(const struct proc_ask *a, struct buf *b)
{
    return proc_cgroup_put_number(b, a->kernel->limits.max[LIMIT_memory]);
}

int
cgroup_memory_current(const struct proc_ask *a, struct buf *b)
{
    return proc_cgroup_put_number(b, a->kernel->limits.used[LIMIT_memory]);
}

/* pids.max and pids.current: processes, zombies too */
int
cgroup_pids_max(const struct proc_ask *a, struct buf *b)
{
    return proc_cgroup_put_number(b, a->kernel->limits.max[LIMIT_processes]);
}

int
cgroup_pids_current(const struct proc_ask *a, struct buf *b)
{
    return proc_cgroup_put_number(b, a->kernel->limits.used[LIMIT_processes]);
}

/* cgroup.procs: one number per line, oldest first */
int
cgroup_procs(const struct proc_ask *a, struct buf *b)
{
    LIST_FOR_EACH(it, &a->kernel->tasks)
        buf_printf(b, "%d\n", CONTAINER_OF(it, struct task, link)->pid);
    return 0;
}

/* All time is user time; 0 in a deterministic sandbox. */
int
cgroup_cpu_stat(const struct proc_ask *a, struct buf *b)
{
    const struct kernel *k = a->kernel;
    long long us = k->clock.is_virtual ? 0 : k->cpu_ns / 1000;

    buf_printf(b, "usage_usec %lld\nuser_usec %lld\nsystem_usec 0\n", us, us);
    return 0;
}
