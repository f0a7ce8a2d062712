/* Threads: waiting and waking, guest memory, and the entry into a system call.
 *
 * Blocking without blocking: a call that has to wait puts its thread on wait
 * queues and returns -EWAIT. The guest suspends itself, and after a wake-up
 * repeats the call from the start. A handler therefore never keeps state on the
 * C stack across a wait; whatever must survive is in struct call_state. A call
 * that is not repeated (a signal, another call, the end of the task) drops that
 * state, and with it the side effects in its hold. */
#include "kernel/kernel.h"
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

int
thread_new(struct task *owner, OWN struct program *p, OWN struct thread **ret)
{
    struct kernel *k = owner->kernel;
    struct thread *th = calloc(1, sizeof *th);

    if (!th) {
        program_put(p);
        return -ENOMEM;
    }
    th->kernel = k;
    th->owner = th->task = owner;
    th->program = p;
    th->timer.fire = thread_on_deadline;
    list_init(&th->run_link);
    int r = k->machine->create(k->engine, p, th, &th->machine);
    if (r < 0) {
        thread_free(th);
        return r;
    }
    owner->thread = th;
    *ret = th;
    return 0;
}

/* The charge of a machine is the sum that thread_may_grow and
 * thread_charge_stack have added. */
void
thread_drop_machine(struct thread *th)
{
    struct task *t = th->owner;

    th->kernel->machine->free(STEAL(th->machine));
    program_put(STEAL(th->program));
    limits_uncharge(&th->kernel->limits, LIMIT_memory, t->memory_bytes);
    t->memory_bytes = th->stack_bytes = 0;
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

    th->call = (struct call_state){0};
    if (h)
        h->drop(h);
}

void
thread_free(OWN struct thread *th)
{
    if (!th)
        return;
    thread_forget_call(th);
    thread_unwait(th);
    sched_remove(th);
    thread_drop_machine(th);
    thread_free_waiters(th->spare);
    free(th);
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

/* The poll operation of a file knows the queues that are woken when it becomes
 * ready. */
int
thread_wait_file(struct thread *th, struct file *f)
{
    struct thread_poll tp;

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

/* Called by the engine for memory.grow, and when a machine is instantiated. */
bool
thread_may_grow(struct thread *th, uint64_t old_bytes, uint64_t new_bytes)
{
    return new_bytes <= th->owner->rlimits[RLIMIT_AS].cur &&
           thread_charge_machine(th, new_bytes - old_bytes);
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
    if (t->sig.wait_set) {
        t->sig.wait_set = 0;
        signals_act(t);
    }
    if (t->sig.has_saved_mask && !signal_is_due(t)) {
        t->sig.has_saved_mask = false;
        signals_set_mask(t, t->sig.saved_mask);
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
    t->usage.syscalls++;
    struct host_sink *strace = th->kernel->strace ? strace_of_task(t) : NULL;
    if (strace)
        strace_enter(strace, t, nr, row, a);
    int64_t r = row ? syscall_check(t, nr, a) : -ENOSYS;
    if (r == 0)
        r = row->fn(t, (const union sysarg *)a);
    r = thread_call_end(th, t, r);
    if (strace)
        strace_exit(strace, r);
    return (int32_t)r;
}
