/* wait4 and waitid.
 *
 * Both search the children for one with an event that was asked for, and
 * consume the event. A zombie whose thread was not freed yet is not reported:
 * its memory is still in use. */
#include "kernel/kernel.h"
#include "kernel/pidfd.h"
#include "kernel/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

/* The request of a wait call, and its result. */
struct wait_for {
    int which, id; /* P_ALL, P_PID, P_PGID */
    int options;
    bool must_not_wait; /* -EAGAIN instead */
    struct task *child;
    int code, status; /* CLD_*, exit status or signal */
    int wait4_status;
};

static bool
task_wait_matches(const struct wait_for *w, const struct task *child)
{
    switch (w->which) {
    case P_PID:
        return child->pid == w->id;
    case P_PGID:
        return child->pgid == w->id;
    default:
        return true;
    }
}

static void
task_wait_found(struct wait_for *w, struct task *c, int code, int status,
                int word)
{
    w->child = c;
    w->code = code;
    w->status = status;
    w->wait4_status = word;
}

/* A stop or continue is reported only to callers that ask for it. */
static bool
task_wait_has_event(struct wait_for *w, struct task *c)
{
    int s = c->exit_status;

    if (c->is_zombie && !c->thread && w->options & WEXITED &&
        list_is_empty(&c->reap))
        task_wait_found(w, c, s & 0x7f ? CLD_KILLED : CLD_EXITED,
                        s & 0x7f ? s & 0x7f : s >> 8, s);
    else if (c->has_stop_event && w->options & WSTOPPED)
        task_wait_found(w, c, CLD_STOPPED, c->stop_signal,
                        c->stop_signal << 8 | 0x7f);
    else if (c->has_cont_event && w->options & WCONTINUED)
        task_wait_found(w, c, CLD_CONTINUED, SIGCONT, 0xffff);
    return w->child;
}

/* Searches the children. Returns 1 if one has an event, and 0 for WNOHANG
 * without one. -EWAIT, -ECHILD. */
static int
task_wait_look(struct task *t, struct wait_for *w)
{
    bool any = false;

    LIST_FOR_EACH(it, &t->children) {
        struct task *c = CONTAINER_OF(it, struct task, sibling);
        if (!task_wait_matches(w, c))
            continue;
        any = true;
        if (task_wait_has_event(w, c))
            return 1;
    }
    if (!any)
        return -ECHILD;
    if (w->must_not_wait)
        return -EAGAIN;
    if (w->options & WNOHANG)
        return 0;
    t->thread->call.restartable = true;
    thread_wait_on(t->thread, &t->child_events);
    return -EWAIT;
}

/* Each event is reported once, unless WNOWAIT leaves it. */
static void
task_wait_consume(struct wait_for *w)
{
    if (w->options & WNOWAIT)
        return;
    if (w->code == CLD_STOPPED)
        w->child->has_stop_event = false;
    else if (w->code == CLD_CONTINUED)
        w->child->has_cont_event = false;
    else
        task_reap(w->child);
}

/* Writes the 32-bit rusage of the system call: times as two 32-bit words each.
 * All time is user time. */
void
task_rusage_to_guest(const struct usage *u, int32_t out[18])
{
    int64_t us = u->cpu_ns / 1000;

    memset(out, 0, 18 * sizeof *out);
    out[0] = (int32_t)(us / 1000000);
    out[1] = (int32_t)(us % 1000000);
    out[4] = (int32_t)(u->max_memory >> 10);
    out[16] = (int32_t)u->switches;
}

/* The time of a child includes that of its own children it has waited for. */
static int
task_wait_put_rusage(struct task *t, gaddr to, const struct task *child)
{
    int32_t ru[18];
    struct usage u = child->usage;

    if (!to)
        return 0;
    u.cpu_ns += child->children_usage.cpu_ns;
    task_rusage_to_guest(&u, ru);
    return copy_to_guest(t, to, ru, sizeof ru);
}

/* wait4(pid, status, options, rusage): the child is consumed even if its status
 * cannot be written, as on Linux. */
int64_t
sys_wait4(struct task *t, const union sysarg *a)
{
    int pid = a[0].i, options = a[2].i;
    struct wait_for w = {.options = options | WEXITED};

    if (options & ~(WNOHANG | WUNTRACED | WCONTINUED | __WALL | __WNOTHREAD))
        return -EINVAL;
    if (pid == INT32_MIN)
        return -ESRCH;
    w.which = pid == -1 ? P_ALL : pid > 0 ? P_PID : P_PGID;
    w.id = pid > 0 ? pid : pid == 0 ? t->pgid : -pid;
    int r = task_wait_look(t, &w);
    if (r <= 0)
        return r;
    pid = w.child->pid;
    r = a[1].addr ? copy_to_guest(t, a[1].addr, &w.wait4_status, 4) : 0;
    if (r == 0)
        r = task_wait_put_rusage(t, a[3].addr, w.child);
    task_wait_consume(&w);
    return r < 0 ? r : pid;
}

/* Without a child (WNOHANG) the record is all zero, as POSIX says. */
static int
task_wait_put_child_info(struct task *t, gaddr to, const struct wait_for *w)
{
    struct siginfo_k si = {0};
    uint8_t out[128];

    if (!to)
        return 0;
    if (w->child)
        si = (struct siginfo_k){.signo = SIGCHLD,
                                .code = w->code,
                                .pid = w->child->pid,
                                .uid = w->child->as.cred.uid,
                                .status = w->status};
    signal_info_to_guest(&si, out);
    return copy_to_guest(t, to, out, sizeof out);
}

/* Replaces P_PIDFD of a descriptor by P_PID of its process. A non-blocking
 * descriptor makes the call fail with EAGAIN instead of waiting. */
static int
task_wait_resolve_pidfd(struct task *t, struct wait_for *w)
{
    struct file *f = fd_find(t, w->id);
    struct task *of;

    if (w->id < 0)
        return -EINVAL;
    int r = f ? pidfd_task(f, &of) : -EBADF;
    if (r < 0)
        return r == -ESRCH ? -ECHILD : r;
    w->which = P_PID;
    w->id = of->pid;
    w->must_not_wait = f->flags & O_NONBLOCK && !(w->options & WNOHANG);
    return 0;
}

/* waitid(which, id, info, options, rusage) */
int64_t
sys_waitid(struct task *t, const union sysarg *a)
{
    struct wait_for w = {.which = a[0].i, .id = a[1].i, .options = a[3].i};
    const int events = WEXITED | WSTOPPED | WCONTINUED;

    if (w.options & ~(events | WNOHANG | WNOWAIT | __WALL | __WNOTHREAD) ||
        !(w.options & events))
        return -EINVAL;
    if (w.which == P_PIDFD) {
        int r = task_wait_resolve_pidfd(t, &w);
        if (r < 0)
            return r;
    }
    if (w.which != P_ALL && w.which != P_PID && w.which != P_PGID)
        return -EINVAL;
    if ((w.which == P_PID && w.id <= 0) || (w.which == P_PGID && w.id < 0))
        return -EINVAL;
    if (w.which == P_PGID && w.id == 0)
        w.id = t->pgid;
    int r = task_wait_look(t, &w);
    if (r < 0)
        return r;
    r = task_wait_put_child_info(t, a[2].addr, &w);
    if (r == 0 && w.child)
        r = task_wait_put_rusage(t, a[4].addr, w.child);
    if (w.child)
        task_wait_consume(&w);
    return r;
}
