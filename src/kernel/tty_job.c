/* Sessions and job control of a terminal.
 *
 * A terminal belongs to at most one session, and has one foreground group.
 * Processes of other groups of that session are in the background: reading, and
 * changing the terminal, stops them (SIGTTIN, SIGTTOU) until the shell makes
 * them the foreground. */
#include "kernel/kernel.h"
#include "kernel/tty_impl.h"

#include <errno.h>
#include <signal.h>
#include <sys/ioctl.h>

static void
tty_job_signal_group(struct kernel *k, int32_t pgid, int sig)
{
    struct siginfo_k si = {.signo = sig, .code = SI_KERNEL};

    if (pgid)
        (void)signal_send_group(k, pgid, &si);
}

void
tty_signal_foreground(struct tty *tty, int sig)
{
    tty_job_signal_group(tty->kernel, tty->pgid, sig);
}

static bool
tty_job_is_ignored(struct task *t, int sig)
{
    return (task_sig(t)->mask & SIG_BIT(sig)) ||
           t->sig.action[sig].handler == GUEST_SIG_IGN;
}

/* A process that ignores or blocks the signal is not stopped: reads fail, and
 * changes are allowed. In an orphaned group both fail, because nobody could
 * continue it. */
int
tty_check_job(struct tty *tty, struct task *t, int sig)
{
    if (!t || t->ctty != tty || !tty->pgid || t->pgid == tty->pgid)
        return 0;
    if (tty_job_is_ignored(t, sig))
        return sig == SIGTTIN ? -EIO : 0;
    if (task_group_is_orphaned(tty->kernel, t->pgid))
        return -EIO;
    tty_job_signal_group(tty->kernel, t->pgid, sig);
    /* Ready at once: the call is made again when the task goes on. */
    if (t->thread)
        t->thread->is_ready = true;
    return -EWAIT;
}

/* --- acquiring and giving up */

static void
tty_job_clear_session(struct tty *tty)
{
    LIST_FOR_EACH(it, &tty->kernel->tasks) {
        struct task *t = CONTAINER_OF(it, struct task, link);
        if (t->ctty == tty)
            tty_put(STEAL(t->ctty));
    }
    tty->sid = tty->pgid = 0;
}

int
tty_set_session(struct tty *tty, struct task *t)
{
    if (t->pid != t->sid || t->ctty || tty->sid)
        return -EPERM;
    t->ctty = tty_get(tty);
    tty->sid = t->sid;
    tty->pgid = t->pgid;
    return 0;
}

/* The terminal is cut off from its processes before they are signalled, so that
 * a handler finds it hung up. */
void
tty_hangup(struct tty *tty)
{
    struct kernel *k = tty->kernel;
    struct task *leader = tty->sid ? task_find(k, tty->sid) : NULL;
    int32_t pgid = tty->pgid;

    if (tty->is_hung_up)
        return;
    tty->is_hung_up = true;
    list_remove(&tty->link);
    tty_job_clear_session(tty);
    waitq_wake(&tty->slave_queue);
    waitq_wake(&tty->master_queue);
    if (leader && leader->pgid != pgid) {
        int32_t pid = leader->pid;
        signal_send_kernel(leader, SIGHUP);
        leader = task_find(k, pid);
        if (leader)
            signal_send_kernel(leader, SIGCONT);
    }
    tty_job_signal_group(k, pgid, SIGHUP);
    tty_job_signal_group(k, pgid, SIGCONT);
}

/* Releases the terminal from its session, and hangs up the foreground group. */
static void
tty_job_leave_session(struct tty *tty, bool continues)
{
    struct kernel *k = tty->kernel;
    int32_t pgid = tty->pgid;

    tty_job_clear_session(tty);
    tty_job_signal_group(k, pgid, SIGHUP);
    if (continues)
        tty_job_signal_group(k, pgid, SIGCONT);
}

void
tty_session_leader_exit(struct task *t)
{
    CLEANUP(tty_putp) struct tty *tty = STEAL(t->ctty);

    if (tty && t->pid == t->sid)
        tty_job_leave_session(tty, false);
}

/* --- ioctls */

/* TIOCSCTTY: a leader that has the terminal already succeeds. */
static int
tty_job_set_controlling(struct tty *tty, struct file *f, struct task *t)
{
    if (t->pid == t->sid && t->sid == tty->sid)
        return 0;
    if (!file_is_readable(f))
        return -EPERM;
    return tty_set_session(tty, t);
}

/* TIOCNOTTY: if the leader gives the terminal up, the whole session loses
 * it. */
static int
tty_job_give_up(struct tty *tty, struct task *t)
{
    if (t->ctty != tty)
        return -ENOTTY;
    tty_put(STEAL(t->ctty));
    if (t->pid == t->sid)
        tty_job_leave_session(tty, true);
    return 0;
}

/* A group belongs to one session, so any member tells which. */
static int
tty_job_session_of_group(struct kernel *k, int32_t pgid, int32_t *ret_sid)
{
    LIST_FOR_EACH(it, &k->tasks) {
        struct task *t = CONTAINER_OF(it, struct task, link);
        if (t->pgid != pgid)
            continue;
        *ret_sid = t->sid;
        return 0;
    }
    return -ESRCH;
}

/* The new group must be in the caller's session. A background process that
 * tries this is stopped, so shells ignore SIGTTOU. */
static int
tty_job_set_foreground(struct tty *tty, struct task *t, uint32_t arg)
{
    int32_t pgid, sid;

    int r = tty_check_job(tty, t, SIGTTOU);
    if (r < 0)
        return r == -EIO ? -ENOTTY : r;
    if (t->ctty != tty || tty->sid != t->sid)
        return -ENOTTY;
    r = copy_from_guest(t, &pgid, arg, sizeof pgid);
    if (r < 0)
        return r;
    if (pgid < 0)
        return -EINVAL;
    r = tty_job_session_of_group(tty->kernel, pgid, &sid);
    if (r < 0)
        return r;
    if (sid != t->sid)
        return -EPERM;
    tty->pgid = pgid;
    return 0;
}

int64_t
tty_ioctl_session(struct tty *tty, struct file *f, struct task *t, uint32_t cmd,
                  uint32_t arg)
{
    bool may_ask = f->ops == &tty_master_ops || t->ctty == tty;

    switch (cmd) {
    case TIOCSCTTY:
        return tty_job_set_controlling(tty, f, t);
    case TIOCNOTTY:
        return tty_job_give_up(tty, t);
    case TIOCSPGRP:
        return tty_job_set_foreground(tty, t, arg);
    case TIOCGPGRP:
        if (!may_ask)
            return -ENOTTY;
        return copy_to_guest(t, arg, &tty->pgid, sizeof tty->pgid);
    case TIOCGSID:
        if (!may_ask || !tty->sid)
            return -ENOTTY;
        return copy_to_guest(t, arg, &tty->sid, sizeof tty->sid);
    default:
        return -ENOTTY;
    }
}
