/* Threads: waiting and waking, guest memory, and the entry into a system call.
 *
 * Blocking without blocking: a call that has to wait puts its thread on wait
 * queues and returns -EWAIT. The guest suspends itself, and after a wake-up
 * repeats the call from the start. A handler therefore never keeps state on the
 * C stack across a wait; whatever must survive is in struct call_state. A call
 * that is not repeated (a signal, another call, the end of the task) drops that
 * state, and with it the side effects in its hold. */
#include "kernel/futex.h"
#include "kernel/guard.h"
#include "kernel/kernel.h"
#include "kernel/shm.h"
#include "kernel/strace.h"
#include "kernel/syscall.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* One place of a thread in a wait queue. */
struct thread_waiter {
    struct waiter w;
    struct thread *thread;
    struct thread_waiter *next;
};

static void
thread_on_deadline(struct timer *timer)
{
    thread_wake(CONTAINER_OF(timer, struct thread, timer));
}

static void
thread_init(struct thread *th, struct task *owner)
{
    th->kernel = owner->kernel;
    th->owner = th->task = owner;
    th->timer.fire = thread_on_deadline;
    list_init(&th->run_link);
    list_init(&th->sibling);
    sigthread_init(&th->sig, 0);
    futex_init(&th->futex);
}

int
thread_new(struct task *owner, OWN struct program *p, OWN struct thread **ret)
{
    struct kernel *k = owner->kernel;
    struct thread *th = calloc(1, sizeof *th);

    if (!th) {
        program_put(p);
        return -ENOMEM;
    }
    thread_init(th, owner);
    th->program = p;
    th->tid = owner->pid;
    list_push_back(&owner->threads, &th->sibling);
    owner->thread = th;
    owner->pointer_at = 0;
    int r = k->machine->create(k->engine, p, th, &th->machine);
    if (r < 0) {
        thread_free(th);
        return r;
    }
    *ret = th;
    return 0;
}

/* The charge of a machine is the sum that thread_may_grow and
 * thread_charge_stack have added. The last thread of the process gives back the
 * charge of the memory. A thread that could not be created (thread_spawn) is
 * not in the list of threads, and is not the last one. */
void
thread_drop_machine(struct thread *th)
{
    struct task *t = th->owner;

    th->kernel->machine->free(STEAL(th->machine));
    program_put(STEAL(th->program));
    th->guard = 0;
    (void)thread_charge_stack(th, 0);
    if (task_is_threaded(t) || list_is_empty(&th->sibling))
        return;
    limits_uncharge(&th->kernel->limits, LIMIT_memory, t->memory_bytes);
    t->memory_bytes = 0;
    shm_drop(t);
}

static void
thread_free_waiters(struct thread_waiter *w)
{
    while (w) {
        struct thread_waiter *next = w->next;
        free(w);
        w = next;
    }
}

void
thread_forget_call(struct thread *th)
{
    struct call_hold *h = th->call.hold;
    struct file *f = th->call.file;

    th->call = (struct call_state){0};
    if (h)
        h->drop(h);
    if (f)
        file_put(f);
}

void
thread_free(OWN struct thread *th)
{
    if (!th)
        return;
    struct task *t = th->owner;
    thread_forget_call(th);
    thread_unwait(th);
    sched_remove(th);
    thread_drop_machine(th);
    list_remove(&th->sibling);
    if (t->thread == th) {
        t->thread = NULL;
        if (!list_is_empty(&t->threads))
            thread_switch(
                CONTAINER_OF(t->threads.next, struct thread, sibling));
    }
    if (th->has_fee)
        task_uncharge_process(th->kernel);
    sigthread_fini(&th->sig, th->kernel);
    thread_free_waiters(th->spare);
    free(th);
}

void
task_free_threads(struct task *t)
{
    while (!list_is_empty(&t->threads))
        thread_free(CONTAINER_OF(t->threads.prev, struct thread, sibling));
}

/* --- further threads */

int
thread_spawn(struct thread *by, const struct thread_start *s)
{
    struct task *t = by->owner;
    struct kernel *k = by->kernel;

    if (by->task != t)
        return -EAGAIN; /* a vfork child: the memory is not its own */
    int r = task_charge_process(t);
    if (r < 0)
        return r;
    struct thread *th = calloc(1, sizeof *th);
    if (!th) {
        task_uncharge_process(k);
        return -ENOMEM;
    }
    thread_init(th, t);
    th->has_fee = true;
    r = k->machine->spawn(by->machine, th, &s->entry, &th->machine);
    if (r == 0)
        r = guard_set(th, s->guard);
    if (r < 0) {
        thread_free(th);
        return r;
    }
    th->program = program_get(by->program);
    th->tid = task_new_tid(k);
    memcpy(th->comm, thread_comm(by), sizeof th->comm);
    th->pointer = s->pointer;
    th->clear_tid = s->clear_tid;
    th->sig.mask = task_sig(t)->mask;
    th->policy = sched_policy_of_child(*thread_policy(by, t));
    t->pointer_at = s->pointer_at;
    list_push_back(&t->threads, &th->sibling);
    sched_queue(th);
    return th->tid;
}

void
thread_switch(struct thread *th)
{
    struct task *t = th->owner;
    struct thread *old = t->thread;

    if (old == th)
        return;
    if (old && t->pointer_at)
        (void)copy_from_guest(t, &old->pointer, t->pointer_at,
                              sizeof old->pointer);
    t->thread = th;
    if (t->pointer_at)
        (void)copy_to_guest(t, t->pointer_at, &th->pointer, sizeof th->pointer);
    signal_update_word(th->task);
}

void
thread_exit(struct thread *th)
{
    futex_on_exit(th);
    signals_hand_over(th->owner, th);
    th->leaving = LEAVE_EXIT;
}

void
thread_end_others(struct thread *th)
{
    TASK_FOR_EACH_THREAD(other, th->owner) {
        if (other == th)
            continue;
        task_end_borrower(other);
        futex_on_exit(other);
        sched_bury(other);
    }
}

void
thread_become_first(struct thread *th)
{
    struct task *t = th->owner;

    if (thread_is_first(th))
        return;
    sigthread_move(&t->sig.first, &th->sig, th->kernel);
    t->policy = th->policy;
    th->tid = t->pid;
    if (th->has_fee)
        task_uncharge_process(th->kernel);
    th->has_fee = false;
}

struct thread *
thread_find(struct task *t, int tid)
{
    TASK_FOR_EACH_THREAD(th, t)
        if (th->tid == tid)
            return th;
    return NULL;
}

/* --- waiting */

static void
thread_on_wake(struct waiter *w)
{
    thread_wake(CONTAINER_OF(w, struct thread_waiter, w)->thread);
}

/* Entries are kept for reuse: a thread that waits often allocates nothing. */
static struct thread_waiter *
thread_take_waiter(struct thread *th)
{
    struct thread_waiter *w = th->spare;

    if (w)
        th->spare = w->next;
    else
        w = malloc(sizeof *w);
    if (!w)
        return NULL;
    *w = (struct thread_waiter){.w.wake = thread_on_wake, .thread = th};
    w->next = th->busy;
    th->busy = w;
    return w;
}

/* Without memory the call is repeated at once, again and again, until there is
 * some. It does not fail, and other threads run in between. */
void
thread_wait_on(struct thread *th, struct waitq *q)
{
    struct thread_waiter *w = thread_take_waiter(th);

    if (w)
        waitq_add(q, &w->w);
    else
        th->is_ready = true; /* out of memory: try again instead */
}

static void
thread_poll_add(struct poll_table *pt, struct waitq *q)
{
    thread_wait_on(CONTAINER_OF(pt, struct thread_poll, pt)->thread, q);
}

void
thread_poll_init(struct thread_poll *tp, struct thread *th)
{
    tp->pt.add = thread_poll_add;
    tp->thread = th;
}

void
thread_keep_file(struct thread *th, struct file *f)
{
    if (task_is_threaded(th->owner) && !th->call.file &&
        fd_find(th->task, (int)th->call.first_arg) == f)
        th->call.file = file_get(f);
}

/* The poll operation of a file knows the queues that are woken when it becomes
 * ready. */
int
thread_wait_file(struct thread *th, struct file *f)
{
    struct thread_poll tp;

    thread_keep_file(th, f);
    thread_poll_init(&tp, th);
    (void)file_poll(f, &tp.pt);
    return -EWAIT;
}

void
thread_unwait(struct thread *th)
{
    struct thread_waiter *w;

    while ((w = th->busy)) {
        th->busy = w->next;
        waiter_remove(&w->w);
        w->next = th->spare;
        th->spare = w;
    }
    timer_stop(&th->kernel->clock, &th->timer);
}

/* The deadline is stored with the first try. 0 means "not set", so a deadline
 * in the distant past becomes 1. */
bool
thread_deadline(struct thread *th, int64_t deadline_ns)
{
    struct clock *c = &th->kernel->clock;
    struct call_state *call = &th->call;

    if (!call->deadline_ns)
        call->deadline_ns = deadline_ns > 0 ? deadline_ns : 1;
    if (call->deadline_ns == NS_NEVER)
        return false;
    if (clock_mono_ns(c) >= call->deadline_ns)
        return true;
    if (timer_start(c, &th->timer, call->deadline_ns) < 0)
        th->is_ready = true; /* out of memory: check the clock again */
    return false;
}

/* A thread that is inside a call is only marked; thread_call_end and
 * thread_must_wait find that. */
void
thread_wake(struct thread *th)
{
    thread_unwait(th);
    th->is_ready = true;
    if (th->is_waiting && !th->is_stopped)
        sched_queue_front(th);
}

/* The first try waits behind all others; the second one is the end of the
 * call. */
int
thread_yield(struct thread *th)
{
    if (th->call.is_retry)
        return 0;
    th->is_yielding = true;
    return -EWAIT;
}

int
thread_again(struct thread *th)
{
    th->is_ready = true;
    return -EWAIT;
}

bool
thread_is_leaving(const struct thread *th)
{
    return th->leaving != LEAVE_NO;
}

/* Asked by the engine in sys.wait, and again at each resume. */
bool
thread_must_wait(struct thread *th)
{
    th->is_waiting = true;
    return !th->is_ready || th->is_yielding || th->is_stopped;
}

/* --- memory limits */

/* The peak of a process is kept for its rusage. */
static bool
thread_charge_machine(struct thread *th, uint64_t more)
{
    struct task *t = th->owner;

    if (!kernel_charge(t, LIMIT_memory, more))
        return false;
    t->memory_bytes += more;
    if (t->memory_bytes > t->usage.max_memory)
        t->usage.max_memory = t->memory_bytes;
    return true;
}

/* Called by the engine for memory.grow, and when a machine is instantiated.
 * Memory that will be shared is not charged to the process. */
bool
thread_may_grow(struct thread *th, uint64_t old_bytes, uint64_t new_bytes)
{
    struct task *t = th->owner;
    uint64_t more = new_bytes - old_bytes;
    uint64_t unpaid = more < t->unpaid_bytes ? more : t->unpaid_bytes;

    if (new_bytes > t->rlimits[RLIMIT_AS].cur ||
        !thread_charge_machine(th, more - unpaid))
        return false;
    t->unpaid_bytes -= unpaid;
    return true;
}

/* A stack that became smaller gives its charge back. */
bool
thread_charge_stack(struct thread *th, uint64_t bytes)
{
    uint64_t old = th->stack_bytes;

    if (bytes > old && !thread_charge_machine(th, bytes - old))
        return false;
    if (bytes < old) {
        limits_uncharge(&th->kernel->limits, LIMIT_memory, old - bytes);
        th->owner->memory_bytes -= old - bytes;
    }
    th->stack_bytes = bytes;
    return true;
}

/* --- calls */

/* The guest may make a different call than the one that waits, after a longjmp
 * from a handler. The state of the old call is dropped then. */
void
thread_call_begin(struct thread *th, uint32_t nr)
{
    if (th->call.is_retry && th->call.nr != nr)
        thread_forget_call(th);
    th->call.nr = nr;
    if (th->busy || timer_is_running(&th->timer))
        thread_unwait(th);
    th->is_ready = th->is_waiting = false;
    th->is_calling = true;
    th->call.restartable = th->call.is_uninterruptible = false;
}

/* Decides what a result means. If the thread now works for another task, or
 * leaves its program, there is nobody to get the result. A call that would wait
 * while a handler is due is interrupted, and returns its progress if there is
 * any. Everything else ends the call and drops its state. */
int64_t
thread_call_end(struct thread *th, struct task *t, int64_t r)
{
    th->is_calling = false;
    if (th->task->is_ending || th->owner->is_ending)
        task_exit_due(th);
    if (th->task != t || th->leaving) {
        thread_forget_call(th);
        if (!th->vfork_gone)
            return r;
        th->vfork_gone = false;
        return -EVFORKGONE;
    }
    if (r == -EWAIT && (th->call.is_uninterruptible || !signal_is_due(t))) {
        th->call.is_retry = true;
        return r;
    }
    if (r == -EWAIT) {
        thread_unwait(th);
        r = th->call.progress ? (int64_t)th->call.progress
                              : signal_interrupt(t, th->call.restartable);
    }
    struct sigthread *s = thread_sig(th, t);
    if (s->wait_set) {
        s->wait_set = 0;
        signals_act(t);
    }
    if (s->has_saved_mask && !signal_is_due(t)) {
        s->has_saved_mask = false;
        signals_set_mask(t, s->saved_mask);
    }
    thread_forget_call(th);
    return r;
}

/* The entry of a system call: the only place that translates results to the
 * guest's ABI. */
int32_t
thread_syscall(struct thread *th, uint32_t nr, const uint32_t a[6])
{
    const struct syscall_row *row = syscall_row(nr);
    struct task *t = th->task;

    if (th->leaving)
        return -EINTR;
    if (th->vfork_gone) {
        th->vfork_gone = false;
        return -EVFORKGONE;
    }
    thread_call_begin(th, nr);
    th->call.first_arg = a[0];
    t->usage.syscalls++;
    struct host_sink *strace = th->kernel->strace ? strace_of_task(t) : NULL;
    if (strace)
        strace_enter(strace, t, nr, row, a);
    int64_t r = row ? syscall_check(t, nr, a) : -ENOSYS;
    if (!guard_is_intact(th)) {
        th->leaving = LEAVE_OVERFLOW;
        r = -EFAULT;
    }
    if (r == 0)
        r = row->fn(t, (const union sysarg *)a);
    r = thread_call_end(th, t, r);
    if (strace)
        strace_exit(strace, r);
    return (int32_t)r;
}
