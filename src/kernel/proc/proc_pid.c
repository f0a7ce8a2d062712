/* Files of /proc about one process.
 *
 * The formats are those of Linux, field by field, with zeros for things that do
 * not exist here. A process may be a zombie: it has a status and a name, but no
 * memory. */
#include "kernel/proc/procfs_impl.h"
#include "kernel/shm.h"
#include "kernel/tty.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>

enum { PAGE_BYTES = 4096, TICK_NS = 10000000, KB = 1024 };

/* A thread that a vfork child has borrowed runs for the child. */
static bool
proc_pid_is_runnable(const struct task *t, const struct thread *th)
{
    return th->task == t &&
           (th == t->kernel->running || !list_is_empty(&th->run_link));
}

/* A process runs if one of its threads does. Its first thread is a zombie after
 * it has ended alone. */
char
proc_task_state(const struct task *t, const struct thread *th)
{
    if (t->is_zombie)
        return 'Z';
    if (t->is_stopped)
        return 'T';
    if (th)
        return proc_pid_is_runnable(t, th) ? 'R' : 'S';
    TASK_FOR_EACH_THREAD(one, t)
        if (proc_pid_is_runnable(t, one))
            return 'R';
    return 'S';
}

/* The state of the subject of a file. A thread that is gone, in a process that
 * has others, can only be the first one: its number stays with the process. */
static char
proc_pid_state_of(const struct proc_ask *a, int tid)
{
    bool is_gone = tid && !a->thread && a->of->thread;

    return is_gone ? 'Z' : proc_task_state(a->of, a->thread);
}

/* Each thread has a name of its own (prctl); that of the process is the name of
 * its program. */
static const char *
proc_pid_name_of(const struct proc_ask *a)
{
    return a->thread ? thread_comm(a->thread) : a->of->comm;
}

/* A zombie still counts as one thread, as on Linux. */
static int
proc_pid_threads_of(const struct task *t)
{
    int n = 0;

    LIST_FOR_EACH(it, &t->threads)
        n++;
    return n ? n : 1;
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
    uint64_t shared, pending, blocked, ignored, caught;
};

/* Pending and blocked signals are those of the thread, or of the first thread
 * in files of the process. The actions belong to the process. */
static struct signal_sets
signal_sets(const struct proc_ask *a)
{
    struct task *t = a->of;
    const struct sigthread *th =
        a->thread ? thread_sig(a->thread, t) : &t->sig.first;
    struct signal_sets s = {.shared = t->sig.pending.set,
                            .pending = th->pending.set,
                            .blocked = th->mask};

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
put_signals(struct buf *b, const struct proc_ask *a)
{
    const uint64_t shown = 0x7fffffff;
    struct signal_sets s = signal_sets(a);

    buf_printf(b, "%llu %llu %llu %llu ",
               (unsigned long long)((s.pending | s.shared) & shown),
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

    buf_printf(b, "%d (%s) %c %d %d %d %u %d ", a->tid ? a->tid : t->pid,
               proc_pid_name_of(a), proc_pid_state_of(a, a->tid),
               t->parent ? t->parent->pid : 0, t->pgid, t->sid, proc_pid_tty(t),
               proc_pid_foreground(t));
    buf_printf(b, "4194304 0 0 0 0 %lld 0 %lld 0 ",
               (long long)proc_pid_ticks(k, a->thread ? a->thread->cpu_ns
                                                      : t->usage.cpu_ns),
               (long long)proc_pid_ticks(k, t->children_usage.cpu_ns));
    buf_printf(b, "%d %d %d 0 %lld %llu %llu %llu ", 20 + t->nice, t->nice,
               proc_pid_threads_of(t), (long long)(t->start_ns / TICK_NS),
               (unsigned long long)t->memory_bytes,
               (unsigned long long)(t->memory_bytes / PAGE_BYTES),
               (unsigned long long)t->rlimits[RLIMIT_RSS].cur);
    buf_puts(b, "0 0 0 0 0 ");
    put_signals(b, a);
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
put_identity(struct buf *b, const struct proc_ask *a)
{
    const struct task *t = a->of;
    const struct cred *c = &t->as.cred;
    int tid = a->tid ? a->tid : t->pid;

    proc_pid_put_name(b, proc_pid_name_of(a));
    buf_printf(b,
               "Umask:\t%04o\nState:\t%s\nTgid:\t%d\nNgid:\t0\nPid:\t%d\n"
               "PPid:\t%d\nTracerPid:\t0\n",
               t->umask, proc_pid_state_text(proc_pid_state_of(a, a->tid)),
               t->pid, tid, t->parent ? t->parent->pid : 0);
    buf_printf(b,
               "Uid:\t%u\t%u\t%u\t%u\nGid:\t%u\t%u\t%u\t%u\nFDSize:\t%zu\n"
               "Groups:\t",
               c->ruid, c->uid, c->suid, c->uid, c->rgid, c->gid, c->sgid,
               c->gid, t->fds.cap);
    for (uint32_t i = 0; i < c->n_groups; i++)
        buf_printf(b, "%u ", c->groups[i]);
    buf_printf(b, "\nNStgid:\t%d\nNSpid:\t%d\nNSpgid:\t%d\nNSsid:\t%d\n",
               t->pid, tid, t->pgid, t->sid);
}

/* All memory is anonymous, and counts as resident. */
static void
proc_pid_put_memory(struct buf *b, const struct task *t)
{
    unsigned long long now = t->memory_bytes / KB;
    unsigned long long peak = t->usage.max_memory / KB;
    unsigned long long locked = page_locks_count(&t->locks) * 4;
    const struct {
        const char *name;
        unsigned long long kb;
    } rows[] = {
        {"VmPeak", peak}, {"VmSize", now}, {"VmLck", locked}, {"VmPin", 0},
        {"VmHWM", peak},  {"VmRSS", now},  {"RssAnon", now},  {"RssFile", 0},
        {"RssShmem", 0},  {"VmData", now}, {"VmStk", 0},      {"VmExe", 0},
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
    struct signal_sets s = signal_sets(a);
    unsigned long long switches =
        a->kernel->clock.is_virtual ? 0 : (unsigned long long)t->usage.switches;

    put_identity(b, a);
    proc_pid_put_memory(b, t);
    buf_printf(b,
               "Threads:\t%d\nSigQ:\t%llu/%llu\nSigPnd:\t%016llx\n"
               "ShdPnd:\t%016llx\nSigBlk:\t%016llx\nSigIgn:\t%016llx\n"
               "SigCgt:\t%016llx\n",
               proc_pid_threads_of(t),
               (unsigned long long)a->kernel->limits.used[LIMIT_sigqueue],
               (unsigned long long)a->kernel->limits.max[LIMIT_sigqueue],
               (unsigned long long)s.pending, (unsigned long long)s.shared,
               (unsigned long long)s.blocked, (unsigned long long)s.ignored,
               (unsigned long long)s.caught);
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
    buf_printf(b, "%s\n", proc_pid_name_of(a));
    return 0;
}

/* --- limits, memory, input and output */

/* Columns have a fixed width, which some programs rely on. */
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

static void
proc_pid_put_private(struct buf *b, uint64_t from, uint64_t to)
{
    if (from < to)
        buf_printf(b, "%08llx-%08llx rwxp 00000000 00:00 0 %26s[heap]\n",
                   (unsigned long long)from, (unsigned long long)to, "");
}

/* The name of a file ends the line; memory without a file has the name that
 * Linux gives it. */
static int
proc_pid_put_map(struct buf *b, const struct shm_map *m)
{
    const struct file *f = m->file;
    uint64_t dev = f ? f->node.mnt->fs->dev : 0;
    char *path = malloc(PATH_BYTES_MAX);

    if (!path)
        return -ENOMEM;
    int64_t len = f && f->name ? vnode_path_in(&f->dir, f->name, &f->node, path,
                                               PATH_BYTES_MAX)
                               : -ENOENT;
    const char *name = len >= 0          ? path
                       : m->mem->segment ? "/SYSV (deleted)"
                                         : "/dev/zero (deleted)";
    buf_printf(b,
               "%08" PRIx64 "-%08" PRIx64 " %c%c%cs %08" PRIx64
               " %02x:%02x %-26" PRIu64 " %s\n",
               m->at, m->at + m->len, m->prot & PROT_READ ? 'r' : '-',
               m->prot & PROT_WRITE ? 'w' : '-',
               m->prot & PROT_EXEC ? 'x' : '-', m->offset, major(dev),
               minor(dev), f ? f->node.ino : 0, name);
    free(path);
    return 0;
}

/* A process has one range of memory, which contains everything but its shared
 * mappings. */
int
proc_pid_maps(const struct proc_ask *a, struct buf *b)
{
    const struct thread *th = a->of->thread;
    uint64_t at = 0;

    if (!th || !th->machine || !th->machine->size)
        return 0;
    for (size_t i = 0; i < th->owner->n_maps; i++) {
        const struct shm_map *m = &th->owner->maps[i];
        proc_pid_put_private(b, at, m->at);
        int r = proc_pid_put_map(b, m);
        if (r < 0)
            return r;
        at = m->at + m->len;
    }
    proc_pid_put_private(b, at, th->machine->size);
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
