/* fork and vfork.
 *
 * fork copies the machine: see engine/fork.c. vfork needs no copy: the child is
 * a task without a thread, and borrows its parent's. The thread's calls count
 * for the child until it exits, or execs and gets a thread of its own. Then
 * they count for the parent again, which continues from the same call. */
#include "kernel/kernel.h"
#include "kernel/shm.h"
#include "kernel/syscall.h"

#include <errno.h>

/* Called before the guest unwinds its frames, so that a refused fork costs
 * nothing. The charge is made for real by task_new. */
int
thread_may_fork(struct thread *th)
{
    if (th->task != th->owner)
        return -ENOSYS;
    if (!kernel_charge(th->task, LIMIT_processes, 1))
        return -EAGAIN;
    limits_uncharge(&th->kernel->limits, LIMIT_processes, 1);
    return 0;
}

/* Creates the child, ready to run. On failure nothing is left of it. The copied
 * memory was charged by growing the child's machine. */
static int
task_fork_child(struct thread *th, struct thread **ret)
{
    struct kernel *k = th->kernel;
    struct thread *copy;
    struct task *child;

    int r = task_new(k, th->owner, &child);
    if (r < 0)
        return r;
    r = shm_copy(child, th->owner);
    if (r == 0)
        r = thread_new(child, program_get(th->program), &copy);
    if (r == 0)
        r = k->machine->fork(th->machine, copy->machine);
    if (r == 0 && !thread_charge_stack(copy, th->stack_bytes))
        r = -ENOMEM;
    if (r == 0) {
        copy->guard = th->guard;
        *ret = copy;
        return 0;
    }
    task_free_threads(child);
    shm_drop(child);
    task_exit(child, 0);
    task_reap(child);
    return r;
}

void
task_fork(struct thread *th)
{
    const struct machine_ops *m = th->kernel->machine;
    struct thread *copy;

    int r = task_fork_child(th, &copy);
    if (r != 0) {
        m->fork_return(th->machine, r);
        sched_queue_front(th);
        return;
    }
    m->fork_return(copy->machine, 0);
    m->fork_return(th->machine, copy->owner->pid);
    signal_update_word(copy->owner);
    /* The parent first: it often only goes on to wait. But a shell on a
     * terminal that a ^C sends back to its prompt takes the terminal before a
     * child that has not run yet would take it away. */
    if (th->owner->ctty) {
        sched_queue_front(th);
        sched_queue_next(copy);
    } else {
        sched_queue_started(copy);
        sched_queue_front(th);
    }
}

/* vfork(): the thread works for the child from now on; the libc restores its
 * own state when the parent continues */
int64_t
sys_vfork(struct task *t, const union sysarg *a)
{
    struct thread *th = t->thread;
    struct task *child;

    (void)a;
    if (t->vfork_parent)
        return -EAGAIN;
    int r = task_new(t->kernel, t, &child);
    if (r < 0)
        return r;
    child->thread = th;
    child->vfork_parent = t;
    th->task = child;
    return child->pid;
}

/* Returns the thread to the parent, with the parent's state of being
 * stopped. */
void
task_vfork_done(struct thread *th)
{
    struct task *child = th->task;

    th->task = child->vfork_parent;
    child->vfork_parent = NULL;
    child->thread = NULL;
    th->is_stopped = th->task->is_stopped; /* it was the child's */
    if (th->is_stopped)
        sched_remove(th);
    signal_update_word(th->task);
}
