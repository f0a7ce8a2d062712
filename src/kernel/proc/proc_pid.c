/* Files of /proc about one process.
 *
 * The formats are those of Linux, field by field, with zeros for things that do
 * not exist here. A process may be a zombie: it has a status and a name, but no
 * memory. */
#include "kernel/proc/procfs_impl.h"
#include "kernel/tty.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>

enum { PAGE_BYTES = 4096, TICK_NS = 10000000, KB = 1024 };

/* A thread in the run queue counts as running. A vfork parent sleeps until its
 * child is done. */
char
proc_task_state(const struct task *t)
{
    const struct thread *th = t->thread;

    if (t->is_zombie)
        return 'Z';
    if (t->is_stopped)
        return 'T';
    if (th && th->task == t &&
        (th == t->kernel->running || !list_is_empty(&th->run_link)))
        return 'R';
    return 'S';
}

/* Converts to clock ticks of 10 ms. A deterministic sandbox shows 0: real time
 * must not be visible there. */
static int64_t
proc_pid_ticks(const struct kernel *k, int64_t cpu_ns)
{
    return k->clock.is_virtual ? 0 : cpu_ns / TICK_NS;
}

/* --- signals */

/* The sets of signals of a task, one bit each. */
struct signal_sets {
    uint64_t pending, blocked, ignored, caught;
};

static struct signal_sets
proc_pid_signal_sets(const struct task *t)
{
    struct signal_sets s = {.pending = t->sig.pending, .blocked = t->sig.mask};

    for (int sig = 1; sig <= NSIG_MAX; sig++) {
        uint32_t handler = t->sig.action[sig].handler;
        if (handler == GUEST_SIG_IGN)
            s.ignored |= SIG_BIT(sig);
        else if (handler != GUEST_SIG_DFL)
            s.caught |= SIG_BIT(sig);
    }
    return s;
}

/* --- stat */

/* Returns the device number in the old form, which the kernel prints in
 * decimal. */
static unsigned
proc_pid_tty(const struct task *t)
{
    if (!t->ctty)
        return 0;
    uint64_t rdev = tty_rdev(t->ctty);
    return major(rdev) << 8 | minor(rdev);
}

/* -1 without a terminal, as on Linux. */
static int
proc_pid_foreground(const struct task *t)
{
    int32_t pgid = t->ctty ? tty_foreground(t->ctty) : 0;

    return pgid ? pgid : -1;
}

/* The old format shows the first 31 signals only. */
static void
proc_pid_put_signals(struct buf *b, const struct task *t)
{
    const uint64_t shown = 0x7fffffff;
    struct signal_sets s = proc_pid_signal_sets(t);

    buf_printf(b, "%llu %llu %llu %llu ",
               (unsigned long long)(s.pending & shown),
               (unsigned long long)(s.blocked & shown),
               (unsigned long long)(s.ignored & shown),
               (unsigned long long)(s.caught & shown));
}

/* /proc/<pid>/stat: one line of 52 fields. The name is in parentheses and may
 * contain any character, so readers search for the last one. */
int
proc_pid_stat(const struct proc_ask *a, struct buf *b)
{
    const struct task *t = a->of;
    const struct kernel *k = a->kernel;

    buf_printf(b, "%d (%s) %c %d %d %d %u %d ", t->pid, t->comm,
               proc_task_state(t), t->parent ? t->parent->pid : 0, t->pgid,
               t->sid, proc_pid_tty(t), proc_pid_foreground(t));
    buf_printf(b, "4194304 0 0 0 0 %lld 0 %lld 0 ",
               (long long)proc_pid_ticks(k, t->usage.cpu_ns),
               (long long)proc_pid_ticks(k, t->children_usage.cpu_ns));
    buf_printf(b, "%d %d 1 0 %lld %llu %llu %llu ", 20 + t->nice, t->nice,
               (long long)(t->start_ns / TICK_NS),
               (unsigned long long)t->memory_bytes,
               (unsigned long long)(t->memory_bytes / PAGE_BYTES),
               (unsigned long long)t->rlimits[RLIMIT_RSS].cur);
    buf_puts(b, "0 0 0 0 0 ");
    proc_pid_put_signals(b, t);
    buf_printf(b, "0 0 0 %d 0 0 0 0 0 0 0 0 0 0 0 0 0 %d\n", SIGCHLD,
               t->is_zombie ? t->exit_status : 0);
    return 0;
}

/* /proc/<pid>/statm: sizes in pages */
int
proc_pid_statm(const struct proc_ask *a, struct buf *b)
{
    unsigned long long pages = a->of->memory_bytes / PAGE_BYTES;

    buf_printf(b, "%llu %llu 0 0 0 %llu 0\n", pages, pages, pages);
    return 0;
}

/* --- status */

/* The letter of stat with its meaning, as status shows it. */
static const char *
proc_pid_state_text(char state)
{
    static const struct {
        char c;
        const char *text;
    } states[] = {
        {'R', "R (running)"},
        {'S', "S (sleeping)"},
        {'T', "T (stopped)"},
        {'Z', "Z (zombie)"},
    };

    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (states[i].c == state)
            return states[i].text;
    return "S (sleeping)";
}

/* Newlines and backslashes in a name would break the lines. */
static void
proc_pid_put_name(struct buf *b, const char *name)
{
    buf_puts(b, "Name:\t");
    for (; *name; name++)
        if (*name == '\n')
            buf_puts(b, "\\n");
        else if (*name == '\\')
            buf_puts(b, "\\\\");
        else
            buf_add(b, name, 1);
    buf_puts(b, "\n");
}

/* The namespaces have the same numbers inside, as there are none. */
static void
proc_pid_put_ids(struct buf *b, const struct task *t)
{
    const struct cred *c = &t->as.cred;

    proc_pid_put_name(b, t->comm);
    buf_printf(b,
               "Umask:\t%04o\nState:\t%s\nTgid:\t%d\nNgid:\t0\nPid:\t%d\n"
               "PPid:\t%d\nTracerPid:\t0\n",
               t->umask, proc_pid_state_text(proc_task_state(t)), t->pid,
               t->pid, t->parent ? t->parent->pid : 0);
    buf_printf(b,
               "Uid:\t%u\t%u\t%u\t%u\nGid:\t%u\t%u\t%u\t%u\nFDSize:\t%zu\n"
               "Groups:\t",
               c->ruid, c->uid, c->suid, c->uid, c->rgid, c->gid, c->sgid,
               c->gid, t->fds.cap);
    for (uint32_t i = 0; i < c->n_groups; i++)
        buf_printf(b, "%u ", c->groups[i]);
    buf_printf(b, "\nNStgid:\t%d\nNSpid:\t%d\nNSpgid:\t%d\nNSsid:\t%d\n",
               t->pid, t->pid, t->pgid, t->sid);
}

/* All memory is anonymous, and counts as resident. */
static void
proc_pid_put_memory(struct buf *b, const struct task *t)
{
    unsigned long long now = t->memory_bytes / KB;
    unsigned long long peak = t->usage.max_memory / KB;
    const struct {
        const char *name;
        unsigned long long kb;
    } rows[] = {
        {"VmPeak", peak}, {"VmSize", now}, {"VmLck", 0},     {"VmPin", 0},
        {"VmHWM", peak},  {"VmRSS", now},  {"RssAnon", now}, {"RssFile", 0},
        {"RssShmem", 0},  {"VmData", now}, {"VmStk", 0},     {"VmExe", 0},
        {"VmLib", 0},     {"VmPTE", 0},    {"VmSwap", 0},
    };

    if (t->is_zombie)
        return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        buf_printf(b, "%s:\t%8llu kB\n", rows[i].name, rows[i].kb);
}

/* /proc/<pid>/status: the same facts for people, one per line */
int
proc_pid_status(const struct proc_ask *a, struct buf *b)
{
    const struct task *t = a->of;
    struct signal_sets s = proc_pid_signal_sets(t);
    unsigned long long switches =
        a->kernel->clock.is_virtual ? 0 : (unsigned long long)t->usage.switches;

    proc_pid_put_ids(b, t);
    proc_pid_put_memory(b, t);
    buf_printf(b,
               "Threads:\t1\nSigQ:\t%llu/%llu\nSigPnd:\t%016llx\n"
               "ShdPnd:\t%016llx\nSigBlk:\t%016llx\nSigIgn:\t%016llx\n"
               "SigCgt:\t%016llx\n",
               (unsigned long long)a->kernel->limits.used[LIMIT_sigqueue],
               (unsigned long long)a->kernel->limits.max[LIMIT_sigqueue], 0ULL,
               (unsigned long long)s.pending, (unsigned long long)s.blocked,
               (unsigned long long)s.ignored, (unsigned long long)s.caught);
    buf_puts(b, "CapInh:\t0000000000000000\nCapPrm:\t0000000000000000\n"
                "CapEff:\t0000000000000000\nCapBnd:\t0000000000000000\n"
                "CapAmb:\t0000000000000000\n");
    buf_printf(b, "NoNewPrivs:\t%d\n", t->as.cred.no_new_privs);
    buf_puts(b, "Seccomp:\t0\n"
                "Cpus_allowed:\t1\nCpus_allowed_list:\t0\n"
                "Mems_allowed:\t1\nMems_allowed_list:\t0\n");
    buf_printf(b,
               "voluntary_ctxt_switches:\t%llu\n"
               "nonvoluntary_ctxt_switches:\t0\n",
               switches);
    return 0;
}

/* --- arguments */

/* Returns the position after the first n strings of the arguments. */
static size_t
proc_pid_end_of_strings(const struct args *args, uint32_t n)
{
    size_t at = 0;

    for (; n && at < args->len; n--)
        at += strnlen(args->strings + at, args->len - at) + 1;
    return at < args->len ? at : args->len;
}

/* /proc/<pid>/cmdline: the arguments with their NULs; a zombie has none */
int
proc_pid_cmdline(const struct proc_ask *a, struct buf *b)
{
    const struct args *args = &a->of->args;

    if (a->of == a->kernel->init)
        buf_add(b, "init", sizeof "init");
    else if (!a->of->is_zombie && args->strings)
        buf_add(b, args->strings, proc_pid_end_of_strings(args, args->argc));
    return 0;
}

/* /proc/<pid>/environ: the environment at exec, with its NULs */
int
proc_pid_environ(const struct proc_ask *a, struct buf *b)
{
    const struct args *args = &a->of->args;

    if (a->of->is_zombie || !args->strings)
        return 0;
    size_t from = proc_pid_end_of_strings(args, args->argc);
    size_t to = proc_pid_end_of_strings(args, args->argc + args->envc);
    buf_add(b, args->strings + from, to - from);
    return 0;
}

/* /proc/<pid>/comm: the name of the process */
int
proc_pid_comm(const struct proc_ask *a, struct buf *b)
{
    buf_printf(b, "%s\n", a->of->comm);
    return 0;
}

/* --- limits, memory, input and output */

static void
proc_pid_put_limit(struct buf *b, uint64_t value)
{
    if (value == RLIM_INFINITY)
        buf_printf(b, "%-20s ", "unlimited");
    else
        buf_printf(b, "%-20llu ", (unsigned long long)value);
}

/* /proc/<pid>/limits: soft and hard rlimits in a table */
int
proc_pid_limits(const struct proc_ask *a, struct buf *b)
{
    static const struct {
        int id;
        const char *name, *unit;
    } rows[] = {
        {RLIMIT_CPU, "Max cpu time", "seconds"},
        {RLIMIT_FSIZE, "Max file size", "bytes"},
        {RLIMIT_DATA, "Max data size", "bytes"},
        {RLIMIT_STACK, "Max stack size", "bytes"},
        {RLIMIT_CORE, "Max core file size", "bytes"},
        {RLIMIT_RSS, "Max resident set", "bytes"},
        {RLIMIT_NPROC, "Max processes", "processes"},
        {RLIMIT_NOFILE, "Max open files", "files"},
        {RLIMIT_MEMLOCK, "Max locked memory", "bytes"},
        {RLIMIT_AS, "Max address space", "bytes"},
        {RLIMIT_LOCKS, "Max file locks", "locks"},
        {RLIMIT_SIGPENDING, "Max pending signals", "signals"},
        {RLIMIT_MSGQUEUE, "Max msgqueue size", "bytes"},
        {RLIMIT_NICE, "Max nice priority", ""},
        {RLIMIT_RTPRIO, "Max realtime priority", ""},
        {RLIMIT_RTTIME, "Max realtime timeout", "us"},
    };

    buf_printf(b, "%-25s %-20s %-20s %-10s\n", "Limit", "Soft Limit",
               "Hard Limit", "Units");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct rlimit_k *l = &a->of->rlimits[rows[i].id];
        buf_printf(b, "%-25s ", rows[i].name);
        proc_pid_put_limit(b, l->cur);
        proc_pid_put_limit(b, l->max);
        buf_printf(b, "%-10s\n", rows[i].unit);
    }
    return 0;
}

/* A process has one range of memory, which contains everything. */
int
proc_pid_maps(const struct proc_ask *a, struct buf *b)
{
    const struct thread *th = a->of->thread;

    if (th && th->machine && th->machine->size)
        buf_printf(b, "%08x-%08llx rwxp 00000000 00:00 0 %26s[heap]\n", 0,
                   (unsigned long long)th->machine->size, "");
    return 0;
}

/* /proc/<pid>/io: not counted */
int
proc_pid_io(const struct proc_ask *a, struct buf *b)
{
    (void)a;
    buf_puts(b, "rchar: 0\nwchar: 0\nsyscr: 0\nsyscw: 0\nread_bytes: 0\n"
                "write_bytes: 0\ncancelled_write_bytes: 0\n");
    return 0;
}
