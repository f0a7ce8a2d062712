/* The end of a task: exit, stop, continue, and the notification of its parent.
 *
 * Problem: ending one task can end others: a vfork child with its parent, or a
 * session with its leader. And a task can be ended from within its own system
 * call, by its own files or its own signals.
 *
 * Idea: two rules. A task that is inside a call is only marked (is_ending); it
 * ends when the call returns, so its handler keeps its files and memory. And
 * while one task ends, others that must end too are put on a list and end after
 * it, one by one: the recursion becomes a loop, whatever its depth. Threads are
 * freed by the scheduler, never from within their own run. */
#include "kernel/futex.h"
#include "kernel/kernel.h"
#include "kernel/pidfd.h"
#include "kernel/resident.h"
#include "kernel/timers.h"
#include "kernel/tty.h"

#include <errno.h>
#include <signal.h>

/* --- telling the parent */

static struct siginfo_k
task_exit_child_info(const struct task *t, int code, int status)
{
    return (struct siginfo_k){.signo = SIGCHLD,
                              .code = code,
                              .pid = t->pid,
                              .uid = t->as.cred.uid,
                              .status = status,
                              .utime_ms = t->usage.cpu_ns / NS_PER_MS};
}

/* A parent that ignores SIGCHLD, or init, does not wait for children: they are
 * reaped at once. */
static bool
task_exit_is_unwanted(const struct task *t)
{
    const struct sigaction_k *a = &t->parent->sig.action[SIGCHLD];

    if (t->parent == t->kernel->init)
        return !t->is_host_child;
    return a->handler == GUEST_SIG_IGN || a->flags & GSA_NOCLDWAIT;
}

/* Called when the thread of the task is gone, so its memory is released before
 * the parent sees its status. */
void
task_notify(struct task *t)
{
    int sig = t->exit_status & 0x7f;
    struct siginfo_k si =
        task_exit_child_info(t, sig ? CLD_KILLED : CLD_EXITED,
                             sig ? sig : t->exit_status >> 8 & 0xff);

    pidfd_ended(t);
    if (!t->parent || t->resident)
        return;
    if (task_exit_is_unwanted(t) && list_is_empty(&t->reap))
        list_push_back(&t->kernel->reap_list, &t->reap);
    (void)signal_send(t->parent, &si);
    waitq_wake(&t->parent->child_events);
}

static void
task_exit_notify_stop(struct task *t, int code, int sig)
{
    struct siginfo_k si = task_exit_child_info(t, code, sig);

    if (!t->parent)
        return;
    if (!(t->parent->sig.action[SIGCHLD].flags & GSA_NOCLDSTOP))
        (void)signal_send(t->parent, &si);
    waitq_wake(&t->parent->child_events);
}

/* The current slice of a running thread is ended, so that it stops at once and
 * not at its next call. */
void
task_stop(struct task *t, int sig)
{
    if (t->is_stopped)
        return;
    t->is_stopped = true;
    t->stop_signal = sig;
    t->has_stop_event = true;
    t->has_cont_event = false;
    TASK_FOR_EACH_THREAD(th, t) {
        if (th->task != t)
            continue;
        th->is_stopped = true;
        sched_remove(th);
        if (th == t->kernel->running)
            t->kernel->machine->interrupt(t->kernel->engine);
    }
    task_exit_notify_stop(t, CLD_STOPPED, sig);
}

/* A thread that was runnable when it was stopped is queued again; a waiting one
 * stays so. */
void
task_continue(struct task *t)
{
    t->is_stopped = t->has_stop_event = false;
    t->has_cont_event = true;
    TASK_FOR_EACH_THREAD(th, t) {
        if (th->task != t)
            continue;
        th->is_stopped = false;
        if (th != t->kernel->running && (th->is_ready || !th->is_waiting))
            sched_queue(th);
    }
    task_exit_notify_stop(t, CLD_CONTINUED, SIGCONT);
}

/* --- exit */

/* Sends SIGHUP and SIGCONT to a group that has lost its last link to its
 * session and has stopped members: nobody could continue them otherwise
 * (POSIX). */
static void
task_exit_hang_up_if_orphaned(struct kernel *k, int pgid)
{
    bool has_stopped = false;
    struct siginfo_k hup = {.signo = SIGHUP, .code = SI_KERNEL};
    struct siginfo_k cont = {.signo = SIGCONT, .code = SI_KERNEL};

    LIST_FOR_EACH(it, &k->tasks) {
        struct task *t = CONTAINER_OF(it, struct task, link);
        has_stopped |= t->pgid == pgid && t->is_stopped && !t->is_zombie;
    }
    if (!has_stopped || !task_group_is_orphaned(k, pgid))
        return;
    (void)signal_send_group(k, pgid, &hup);
    (void)signal_send_group(k, pgid, &cont);
}

/* Children that nobody can wait for any more become children of init. A child
 * may have asked for a signal at this moment (PR_SET_PDEATHSIG). */
static void
task_exit_give_child_to_init(struct task *child)
{
    struct task *init = child->kernel->init;
    struct siginfo_k si = {.signo = child->pdeath_signal,
                           .pid = child->parent->pid,
                           .uid = child->parent->as.cred.uid};

    list_remove(&child->sibling);
    child->parent = init;
    list_push_back(&init->children, &child->sibling);
    if (child->is_zombie && !child->thread && list_is_empty(&child->reap))
        list_push_back(&child->kernel->reap_list, &child->reap);
    if (si.signo && !child->is_zombie)
        (void)signal_send(child, &si);
}

/* The leader of a session gives up the terminal for all of it. */
static void
task_exit_release_nodes(struct task *t)
{
    vnode_release(&t->cwd);
    vnode_release(&t->as.root);
    if (t->exe.mnt)
        vnode_release(&t->exe);
    t->exe.mnt = NULL;
    if (t->ctty) {
        if (t->sid == t->pid)
            tty_session_leader_exit(t);
        tty_put(STEAL(t->ctty));
    }
}

/* The child uses the memory of the thread, so it cannot outlive it. */
void
task_end_borrower(struct thread *th)
{
    struct task *child = th->task;

    if (child == th->owner)
        return;
    task_vfork_done(th);
    task_exit(child, SIGKILL);
    if (child->is_zombie)
        task_notify(child);
}

/* Gives up the threads of t. The scheduler frees those that t owns. A vfork
 * child gives it back to its parent, which learns of that at its next call
 * (EVFORKGONE). */
static void
task_exit_give_up_threads(struct task *t)
{
    struct thread *th = t->thread;

    if (t->vfork_parent) {
        th->vfork_gone = true;
        th->leaving = LEAVE_NO;
        thread_forget_call(th); /* the child's */
        task_vfork_done(th);
        thread_wake(th);
        return;
    }
    TASK_FOR_EACH_THREAD(own, t) {
        task_end_borrower(own);
        futex_on_exit(own);
        sched_bury(own);
    }
}

/* The steps of an exit. The thread goes first: closing files may wake other
 * tasks, but never this one. */
static void
task_exit_now(struct task *t)
{
    struct kernel *k = t->kernel;

    t->is_ending = false;
    if (t->resident) {
        resident_on_exit(t, t->exit_status);
        return;
    }
    t->is_zombie = true;
    t->is_stopped = false;
    timers_fini(t);
    page_locks_fini(&t->locks);
    task_exit_give_up_threads(t);
    fd_close_all(t, false);
    abi_state_free(STEAL(t->abi));
    task_exit_release_nodes(t);
    program_put(STEAL(t->next_program));
    while (!list_is_empty(&t->children)) {
        struct task *child =
            CONTAINER_OF(t->children.next, struct task, sibling);
        bool was_link = task_links_group(child);
        task_exit_give_child_to_init(child);
        if (was_link)
            task_exit_hang_up_if_orphaned(k, child->pgid);
    }
    if (task_links_group(t))
        task_exit_hang_up_if_orphaned(k, t->pgid);
}

/* Ends t, and then all tasks that must end with it: a loop over a list instead
 * of a recursion of any depth. */
static void
task_exit_with_others(struct task *t)
{
    struct kernel *k = t->kernel;

    k->is_exiting = true;
    task_exit_now(t);
    while (!list_is_empty(&k->ending)) {
        struct task *other = CONTAINER_OF(k->ending.next, struct task, end);
        list_remove(&other->end);
        task_exit_now(other);
        if (!other->thread)
            task_notify(other);
    }
    k->is_exiting = false;
}

/* True only for the running thread: a waiting one is not inside its handler. */
static bool
task_exit_is_in_call(const struct task *t)
{
    const struct thread *th = t->kernel->running;

    return th && th->is_calling && (th->task == t || th->owner == t);
}

void
task_exit(struct task *t, int status)
{
    struct kernel *k = t->kernel;

    if (task_is_over(t))
        return;
    t->exit_status = status;
    t->is_ending = task_exit_is_in_call(t) || k->is_exiting;
    if (!t->is_ending)
        task_exit_with_others(t);
    else if (!task_exit_is_in_call(t))
        list_push_back(&k->ending, &t->end);
}

static void
task_exit_if_due(struct task *t)
{
    if (!t->is_ending)
        return;
    task_exit_with_others(t);
    if (!t->thread)
        task_notify(t);
}

void
task_exit_due(struct thread *th)
{
    task_exit_if_due(th->task); /* it may be the owner's vfork child */
    task_exit_if_due(th->owner);
}
