/* System calls on processes: life, groups, limits. */
#include "kernel/exec.h"
#include "kernel/kernel.h"
#include "kernel/pidfd.h"
#include "kernel/syscall.h"
#include "kernel/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

/* --- exit, exec */

/* exit_group(status): of a vfork child, it returns to the parent, which
 * continues from the same call */
int64_t
sys_exit_group(struct task *t, const union sysarg *a)
{
    struct thread *th = t->thread;
    int status = (a[0].i & 0xff) << 8;

    if (th->owner != t) {
        task_vfork_done(th);
        task_exit(t, status);
        task_notify(t);
        return 0;
    }
    task_exit(t, status);
    return 0;
}

/* exit(status): ends the calling thread, and the process with its last one. */
int64_t
sys_exit(struct task *t, const union sysarg *a)
{
    struct thread *th = t->thread;

    if (th->owner != t || !task_is_threaded(t))
        return sys_exit_group(t, a);
    thread_exit(th);
    return 0;
}

/* execve(path, argv, envp): see task_exec.c. */
int64_t
sys_execve(struct task *t, const union sysarg *a)
{
    int r;
    const char *path = guest_path(t, 0, a[0].addr, &r);

    if (!path)
        return r;
    return task_exec_from_guest(t, &t->cwd, path, a[1].addr, a[2].addr);
}

/* execveat(dirfd, path, argv, envp, flags): an empty path executes the file of
 * the descriptor, by its name in /proc. */
int64_t
sys_execveat(struct task *t, const union sysarg *a)
{
    int r;
    const char *path = guest_path(t, 0, a[1].addr, &r);

    if (!path)
        return r;
    if (a[4].u & ~(uint32_t)(AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW))
        return -EINVAL;
    if (a[0].i == AT_FDCWD || *path == '/')
        return task_exec_from_guest(t, &t->cwd, path, a[2].addr, a[3].addr);
    struct file *f = fd_find(t, a[0].i);
    if (!f)
        return -EBADF;
    if (!f->node.mnt)
        return -EACCES;
    if (*path)
        return task_exec_from_guest(t, &f->node, path, a[2].addr, a[3].addr);
    if (!(a[4].u & AT_EMPTY_PATH))
        return -ENOENT;
    char name[32];
    snprintf(name, sizeof name, "/proc/self/fd/%d", a[0].i);
    return task_exec_from_guest(t, &t->cwd, name, a[2].addr, a[3].addr);
}

/* clone(flags, stack, parent_tid, thread_pointer, child_tid, pointer_at): makes
 * a thread. The three words at `stack` are its function, the argument, and the
 * page to guard below its stack, or 0. The libc has the thread pointer of the
 * thread that runs at pointer_at. fork has an import of its own. */
int64_t
sys_clone(struct task *t, const union sysarg *a)
{
    const uint32_t needed = CLONE_VM | CLONE_SIGHAND | CLONE_THREAD;
    uint32_t flags = a[0].u;
    uint32_t start[3];
    int32_t tid;

    if ((flags & needed) != needed || !(flags & CLONE_SETTLS))
        return -EINVAL;
    int r = copy_from_guest(t, start, a[1].addr, sizeof start);
    if (r == 0 && flags & CLONE_PARENT_SETTID)
        r = guest_check(t, a[2].addr, sizeof tid);
    if (r < 0)
        return r;
    tid = thread_spawn(
        t->thread,
        &(struct thread_start){.entry = {start[0], start[1], a[1].addr},
                               .pointer = a[3].addr,
                               .pointer_at = a[5].addr,
                               .clear_tid =
                                   flags & CLONE_CHILD_CLEARTID ? a[4].addr : 0,
                               .guard = start[2]});
    if (tid > 0 && flags & CLONE_PARENT_SETTID)
        (void)copy_to_guest(t, a[2].addr, &tid, sizeof tid);
    return tid;
}

/* --- numbers */

/* getpid() */
int64_t
sys_getpid(struct task *t, const union sysarg *a)
{
    (void)a;
    return t->pid;
}

/* gettid(): the first thread has the number of its process */
int64_t
sys_gettid(struct task *t, const union sysarg *a)
{
    (void)a;
    return t->thread->owner == t ? t->thread->tid : t->pid;
}

/* pidfd_open(pid, flags) */
int64_t
sys_pidfd_open(struct task *t, const union sysarg *a)
{
    struct file *f;

    if (a[0].i <= 0)
        return -EINVAL;
    struct task *of = task_find(t->kernel, a[0].i);
    int r = of ? pidfd_new(of, a[1].u, &f) : -ESRCH;
    return r < 0 ? r : fd_install(t, f, 0, true);
}

/* getppid(): 0 if the parent is outside */
int64_t
sys_getppid(struct task *t, const union sysarg *a)
{
    (void)a;
    return t->parent ? t->parent->pid : 0;
}

/* umask(mask): returns the old one */
int64_t
sys_umask(struct task *t, const union sysarg *a)
{
    uint32_t old = t->umask;

    t->umask = a[0].u & 0777;
    return old;
}

/* --- groups and sessions */

/* Returns the task of a pid or of the number of one of its threads, where 0
 * means the caller; NULL if there is none. */
static struct task *
sys_process_self_or(struct task *t, int pid)
{
    return pid == 0 ? t : task_find_thread(t->kernel, pid);
}

/* A group exists as long as it has a member, a zombie too. */
static bool
sys_process_session_has_group(struct kernel *k, int sid, int pgid)
{
    LIST_FOR_EACH(it, &k->tasks) {
        struct task *t = CONTAINER_OF(it, struct task, link);
        if (t->pgid == pgid && t->sid == sid)
            return true;
    }
    return false;
}

/* setpgid(pid, pgid): for the caller or a child that has not called exec yet,
 * within one session. A leader of a session cannot move. */
int64_t
sys_setpgid(struct task *t, const union sysarg *a)
{
    struct task *of = sys_process_self_or(t, a[0].i);
    int pgid = a[1].i ? a[1].i : a[0].i ? a[0].i : t->pid;

    if (pgid < 0)
        return -EINVAL;
    if (!of || (of != t && of->parent != t))
        return -ESRCH;
    if (a[0].i && of->pid != a[0].i)
        return -EINVAL;
    if (of->sid != t->sid)
        return -EPERM;
    if (of != t && of->did_exec)
        return -EACCES;
    if (of->sid == of->pid)
        return -EPERM;
    if (pgid != of->pid &&
        !sys_process_session_has_group(t->kernel, t->sid, pgid))
        return -EPERM;
    of->pgid = pgid;
    return 0;
}

/* getpgid(pid) */
int64_t
sys_getpgid(struct task *t, const union sysarg *a)
{
    struct task *of = sys_process_self_or(t, a[0].i);

    return of ? of->pgid : -ESRCH;
}

/* getsid(pid) */
int64_t
sys_getsid(struct task *t, const union sysarg *a)
{
    struct task *of = sys_process_self_or(t, a[0].i);

    return of ? of->sid : -ESRCH;
}

/* setsid(): a new session without a terminal; not for a leader of a group */
int64_t
sys_setsid(struct task *t, const union sysarg *a)
{
    (void)a;
    LIST_FOR_EACH(it, &t->kernel->tasks)
        if (CONTAINER_OF(it, struct task, link)->pgid == t->pid)
            return -EPERM;
    t->sid = t->pgid = t->pid;
    tty_put(STEAL(t->ctty));
    return t->pid;
}

/* --- priorities: kept, without effect */

/* Calls fn for each task that `which` and `who` mean. Returns the last result,
 * or the first error other than -ESRCH. */
static int64_t
sys_process_each_of(struct task *t, int which, int who,
                    int (*fn)(struct task *t, struct task *of, int *arg),
                    int *arg)
{
    uint32_t uid = who ? (uint32_t)who : t->as.cred.ruid;
    const struct task *one = sys_process_self_or(t, who);
    int64_t r = -ESRCH;

    if (which < PRIO_PROCESS || which > PRIO_USER)
        return -EINVAL;
    LIST_FOR_EACH(it, &t->kernel->tasks) {
        struct task *of = CONTAINER_OF(it, struct task, link);
        bool is_meant = which == PRIO_PROCESS ? of == one
                        : which == PRIO_PGRP
                            ? of->pgid == (who ? who : t->pgid)
                            : of->as.cred.ruid == uid && of != t->kernel->init;
        if (is_meant)
            r = fn(t, of, arg);
        if (r < 0 && r != -ESRCH)
            return r;
    }
    return r;
}

/* The scheduler does not use priorities; programs only get back what they have
 * set. */
static int
sys_process_highest_priority(struct task *t, struct task *of, int *best)
{
    (void)t;
    if (20 - of->nice > *best)
        *best = 20 - of->nice;
    return 0;
}

/* Raising a priority needs root, lowering one does not. */
static int
sys_process_set_nice(struct task *t, struct task *of, int *nice)
{
    const struct cred *c = &t->as.cred;

    if (of == t->kernel->init)
        return -EPERM; /* later root processes inherit from it */
    if (c->uid != ROOT_ID && c->uid != of->as.cred.uid &&
        c->uid != of->as.cred.ruid)
        return -EPERM;
    if (*nice < of->nice && c->uid != ROOT_ID)
        return -EACCES;
    of->nice = *nice;
    return 0;
}

/* getpriority(which, who): from 1 to 40, as the system call has it */
int64_t
sys_getpriority(struct task *t, const union sysarg *a)
{
    int best = 0;
    int64_t r = sys_process_each_of(t, a[0].i, a[1].i,
                                    sys_process_highest_priority, &best);

    return r < 0 ? r : best;
}

/* setpriority(which, who, nice) */
int64_t
sys_setpriority(struct task *t, const union sysarg *a)
{
    int nice = a[2].i < -20 ? -20 : a[2].i > 19 ? 19 : a[2].i;

    return sys_process_each_of(t, a[0].i, a[1].i, sys_process_set_nice, &nice);
}

/* --- limits and usage */

/* prlimit64(pid, resource, new, old): a hard limit can only be lowered, by root
 * too. It is one of the limits of the sandbox. */
int64_t
sys_prlimit64(struct task *t, const union sysarg *a)
{
    struct task *of = sys_process_self_or(t, a[0].i);
    struct rlimit_k set;

    if (!of)
        return -ESRCH;
    if (a[1].u >= RLIMIT_COUNT)
        return -EINVAL;
    if (of == t->kernel->init)
        return -EPERM; /* later root processes inherit from it */
    if (of != t && !cred_may_limit(&t->as.cred, &of->as.cred))
        return -EPERM;
    struct rlimit_k *rl = &of->rlimits[a[1].u], old = *rl;
    if (a[2].addr) {
        int r = copy_from_guest(t, &set, a[2].addr, sizeof set);
        if (r < 0)
            return r;
        if (set.cur > set.max)
            return -EINVAL;
        if (set.max > rl->max)
            return -EPERM;
        *rl = set;
    }
    return a[3].addr ? copy_to_guest(t, a[3].addr, &old, sizeof old) : 0;
}

/* getrusage(who, usage): the current slice is counted first. */
int64_t
sys_getrusage(struct task *t, const union sysarg *a)
{
    int32_t ru[18];

    if (a[0].i != RUSAGE_SELF && a[0].i != RUSAGE_CHILDREN &&
        a[0].i != RUSAGE_THREAD)
        return -EINVAL;
    sched_account(t->kernel);
    struct usage u = a[0].i == RUSAGE_CHILDREN ? t->children_usage : t->usage;
    const struct thread *th = t->thread;
    if (a[0].i == RUSAGE_THREAD && th->owner == t) {
        u.cpu_ns = th->cpu_ns;
        u.switches = th->switches;
    }
    task_rusage_to_guest(&u, ru);
    return copy_to_guest(t, a[1].addr, ru, sizeof ru);
}

/* times(buf): clock ticks of 10 ms. */
int64_t
sys_times(struct task *t, const union sysarg *a)
{
    enum { NS_PER_TICK = 10000000 };

    sched_account(t->kernel);
    int32_t out[4] = {(int32_t)(t->usage.cpu_ns / NS_PER_TICK), 0,
                      (int32_t)(t->children_usage.cpu_ns / NS_PER_TICK), 0};
    if (a[0].addr) {
        int r = copy_to_guest(t, a[0].addr, out, sizeof out);
        if (r < 0)
            return r;
    }
    return (int32_t)(clock_mono_ns(&t->kernel->clock) / NS_PER_TICK &
                     INT32_MAX);
}

/* --- prctl */

/* The name is cut to 15 bytes. */
static int64_t
sys_process_set_name(struct task *t, gaddr a)
{
    char name[sizeof t->comm];

    int64_t n = guest_string(t, a, name, sizeof name);
    if (n == -ENAMETOOLONG)
        n = copy_from_guest(t, name, a, sizeof name);
    if (n < 0)
        return n;
    name[sizeof name - 1] = 0;
    char *comm = thread_comm(t->thread);
    memset(comm, 0, sizeof t->comm);
    (void)snprintf(comm, sizeof t->comm, "%s", name);
    return 0;
}

/* prctl(option, arg): names, the signal at the parent's end, no_new_privs */
int64_t
sys_prctl(struct task *t, const union sysarg *a)
{
    int32_t sig = t->pdeath_signal;

    switch (a[0].i) {
    case PR_SET_NAME:
        return sys_process_set_name(t, a[1].addr);
    case PR_GET_NAME:
        return copy_to_guest(t, a[1].addr, thread_comm(t->thread),
                             sizeof t->comm);
    case PR_SET_PDEATHSIG:
        if (a[1].u > NSIG_MAX)
            return -EINVAL;
        t->pdeath_signal = a[1].i;
        return 0;
    case PR_GET_PDEATHSIG:
        return copy_to_guest(t, a[1].addr, &sig, sizeof sig);
    case PR_GET_DUMPABLE:
    case PR_SET_DUMPABLE:
    case PR_SET_KEEPCAPS:
    case PR_GET_KEEPCAPS:
        return 0;
    case PR_SET_NO_NEW_PRIVS:
        t->as.cred.no_new_privs |= a[1].u == 1;
        return a[1].u == 1 ? 0 : -EINVAL;
    case PR_GET_NO_NEW_PRIVS:
        return t->as.cred.no_new_privs;
    default:
        return -EINVAL;
    }
}
