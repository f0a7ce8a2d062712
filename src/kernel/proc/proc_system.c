/* Files of /proc about the system as a whole.
 *
 * The limits of the sandbox are shown as the size of the machine, so that
 * programs that adapt to it (sort, xz, Python) stay below these limits. Figures
 * that the kernel does not keep are 0. A repeatable sandbox shows no CPU time,
 * because it would differ between two runs. */
#include "kernel/proc/procfs_impl.h"
#include "kernel/version.h"

#include <string.h>

enum { KB = 1024, TICK_NS = 10000000, CS_PER_S = 100 };

/* Linux writes kB and means units of 1,024 bytes. */
static unsigned long long
proc_system_kb(uint64_t bytes)
{
    return bytes / KB;
}

/* There is no cache and no swap: memory is either used or free. */
int
proc_meminfo(const struct proc_ask *a, struct buf *b)
{
    const struct limits *l = &a->kernel->limits;
    uint64_t total = l->max[LIMIT_memory], used = l->used[LIMIT_memory];
    uint64_t left = used < total ? total - used : 0;
    const struct {
        const char *name;
        uint64_t bytes;
    } rows[] = {
        {"MemTotal", total},
        {"MemFree", left},
        {"MemAvailable", left},
        {"Buffers", 0},
        {"Cached", 0},
        {"SwapCached", 0},
        {"Active", used},
        {"Inactive", 0},
        {"Active(anon)", used},
        {"Inactive(anon)", 0},
        {"Active(file)", 0},
        {"Inactive(file)", 0},
        {"Unevictable", 0},
        {"Mlocked", 0},
        {"SwapTotal", 0},
        {"SwapFree", 0},
        {"Dirty", 0},
        {"Writeback", 0},
        {"AnonPages", used},
        {"Mapped", 0},
        {"Shmem", 0},
        {"KReclaimable", 0},
        {"Slab", 0},
        {"SReclaimable", 0},
        {"SUnreclaim", 0},
        {"KernelStack", 0},
        {"PageTables", 0},
        {"CommitLimit", total},
        {"Committed_AS", used},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int pad = 15 - (int)strlen(rows[i].name);
        buf_printf(b, "%s:%*s%8llu kB\n", rows[i].name, pad > 0 ? pad : 0, "",
                   proc_system_kb(rows[i].bytes));
    }
    return 0;
}

/* /proc/cpuinfo: one processor. Programs read the number of them, and few other
 * fields. */
int
proc_cpuinfo(const struct proc_ask *a, struct buf *b)
{
    (void)a;
    buf_puts(b, "processor\t: 0\n"
                "vendor_id\t: wasmsand\n"
                "cpu family\t: 1\n"
                "model\t\t: 1\n"
                "model name\t: WebAssembly\n"
                "stepping\t: 0\n"
                "cpu MHz\t\t: 1000.000\n"
                "cache size\t: 0 KB\n"
                "physical id\t: 0\n"
                "siblings\t: 1\n"
                "core id\t\t: 0\n"
                "cpu cores\t: 1\n"
                "flags\t\t: simd128\n"
                "bogomips\t: 2000.00\n"
                "\n");
    return 0;
}

/* Returns busy and idle time since the start of the sandbox. */
static void
proc_system_measure(const struct kernel *k, int64_t *ret_busy_ns,
                    int64_t *ret_idle_ns)
{
    int64_t up = clock_mono_ns(&k->clock);
    int64_t busy = k->clock.is_virtual ? 0 : k->cpu_ns;

    *ret_busy_ns = busy;
    *ret_idle_ns = up > busy ? up - busy : 0;
}

/* Seconds with two decimals: hundredths are the resolution of Linux. */
static void
proc_system_put_seconds(struct buf *b, int64_t ns, const char *after)
{
    int64_t cs = ns / TICK_NS;

    buf_printf(b, "%lld.%02lld%s", (long long)(cs / CS_PER_S),
               (long long)(cs % CS_PER_S), after);
}

/* /proc/uptime: seconds since the start, and idle seconds */
int
proc_uptime(const struct proc_ask *a, struct buf *b)
{
    int64_t busy, idle;

    proc_system_measure(a->kernel, &busy, &idle);
    proc_system_put_seconds(b, clock_mono_ns(&a->kernel->clock), " ");
    proc_system_put_seconds(b, idle, "\n");
    return 0;
}

/* Running and all processes; init counts as well. */
static void
proc_system_count_tasks(const struct kernel *k, int *ret_running, int *ret_all)
{
    *ret_running = *ret_all = 0;
    LIST_FOR_EACH(it, &k->tasks) {
        const struct task *t = CONTAINER_OF(it, struct task, link);
        *ret_running += proc_task_state(t, NULL) == 'R';
        (*ret_all)++;
    }
}

/* The averages are not kept. */
int
proc_loadavg(const struct proc_ask *a, struct buf *b)
{
    int running, all;

    proc_system_count_tasks(a->kernel, &running, &all);
    buf_printf(b, "0.00 0.00 0.00 %d/%d %d\n", running, all,
               a->kernel->last_pid);
    return 0;
}

/* /proc/version: see kernel/version.h */
int
proc_version(const struct proc_ask *a, struct buf *b)
{
    (void)a;
    buf_puts(b, KERNEL_SYSNAME " version " KERNEL_RELEASE
                               " (wasmsand) " KERNEL_VERSION "\n");
    return 0;
}

/* btime is the real time at which the monotonic clock was 0. */
int
proc_stat(const struct proc_ask *a, struct buf *b)
{
    const struct kernel *k = a->kernel;
    int64_t busy, idle, born;
    int running, all;

    proc_system_measure(k, &busy, &idle);
    proc_system_count_tasks(k, &running, &all);
    born = clock_real_ns(&k->clock) - clock_mono_ns(&k->clock);
    long long user = busy / TICK_NS, rest = idle / TICK_NS;
    buf_printf(b, "cpu  %lld 0 0 %lld 0 0 0 0 0 0\n", user, rest);
    buf_printf(b, "cpu0 %lld 0 0 %lld 0 0 0 0 0 0\n", user, rest);
    buf_printf(b,
               "intr 0\nctxt 0\nbtime %lld\nprocesses %llu\n"
               "procs_running %d\nprocs_blocked 0\n"
               "softirq 0 0 0 0 0 0 0 0 0 0 0\n",
               (long long)(born / NS_PER_S), (unsigned long long)k->n_forks,
               running);
    return 0;
}

/* --- sys/ */

/* /proc/sys/kernel/hostname: as uname(2) reports it */
int
proc_hostname(const struct proc_ask *a, struct buf *b)
{
    buf_printf(b, "%s\n", a->kernel->hostname);
    return 0;
}

/* /proc/sys/kernel/osrelease: as uname(2) reports it, see kernel/version.h */
int
proc_osrelease(const struct proc_ask *a, struct buf *b)
{
    (void)a;
    buf_puts(b, KERNEL_RELEASE "\n");
    return 0;
}

/* Version 4, variant 1: six bits are fixed, and all others random. */
static void
proc_system_put_uuid(struct buf *b, const uint8_t id[16])
{
    for (int i = 0; i < 16; i++) {
        uint8_t v = id[i];
        if (i == 6)
            v = (v & 0x0f) | 0x40;
        if (i == 8)
            v = (v & 0x3f) | 0x80;
        bool dash = i == 4 || i == 6 || i == 8 || i == 10;
        buf_printf(b, "%s%02x", dash ? "-" : "", v);
    }
    buf_puts(b, "\n");
}

/* /proc/sys/kernel/random/uuid: a new one for each read, from the random
 * numbers of the sandbox, so that a repeatable one stays so */
int
proc_uuid(const struct proc_ask *a, struct buf *b)
{
    uint8_t id[16];

    rng_fill(&a->kernel->rng, id, sizeof id);
    proc_system_put_uuid(b, id);
    return 0;
}

/* /proc/sys/kernel/random/boot_id: constant for the life of the sandbox */
int
proc_boot_id(const struct proc_ask *a, struct buf *b)
{
    proc_system_put_uuid(b, a->procfs->boot_id);
    return 0;
}

/* /proc/sys/fs/file-max: the limit of open files in the whole sandbox */
int
proc_file_max(const struct proc_ask *a, struct buf *b)
{
    const struct limits *l = &a->kernel->limits;

    buf_printf(b, "%llu\n", (unsigned long long)l->max[LIMIT_open_files]);
    return 0;
}

/* /proc/sys/fs/file-nr: open files, free ones (always 0), and the limit */
int
proc_file_nr(const struct proc_ask *a, struct buf *b)
{
    const struct limits *l = &a->kernel->limits;

    buf_printf(b, "%llu\t0\t%llu\n",
               (unsigned long long)l->used[LIMIT_open_files],
               (unsigned long long)l->max[LIMIT_open_files]);
    return 0;
}

/* /proc/sys/kernel/threads-max: a thread counts as a process. */
int
proc_threads_max(const struct proc_ask *a, struct buf *b)
{
    const struct limits *l = &a->kernel->limits;

    buf_printf(b, "%llu\n", (unsigned long long)l->max[LIMIT_processes]);
    return 0;
}
