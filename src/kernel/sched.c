/* The scheduler: selects the next thread, fires timers, polls host descriptors,
 * and sleeps.
 *
 * Problem: commands should be fast beside busy processes, no process may
 * starve, and what an earlier command left behind must not slow down the
 * current one.
 *
 * Idea: a thread that was woken, forked or exec'd goes to the head of the
 * queue. This happens at most BOOSTS_MAX times in a row, so that the others run
 * too. Processes that a shell starts one after the other begin in that order.
 * Processes of earlier runs are in a separate queue; while others are runnable,
 * they get one of BACKGROUND_TURNS time slices.
 *
 * A thread runs until it waits, or until its slice ends (engine/ticker.c).
 * Nothing else in the kernel runs meanwhile. Timers and host descriptors are
 * therefore checked between slices, at least once in a millisecond and in
 * TURNS_PER_LOOK slices. */
#include "base/counter.h"
#include "kernel/fault.h"
#include "kernel/guard.h"
#include "kernel/kernel.h"
#include "kernel/resident.h"
#include "kernel/timers.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

enum {
    BOOSTS_MAX = 64,
    SLICES_PER_LOOK = 64,
    BACKGROUND_SLICES = 8,
    TIDY_STEP = 1024, /* objects freed at a look: below a tenth of a ms */
    /* run time between two measurements of its stack */
    STACK_UNSEEN_NS = 500000,
    LONG_SLICE_NS = 200000, /* the host may have done something else in it */
};

/* Returns the queue that th belongs to: that of the current run, or the
 * background. */
static struct list *
sched_queue_of(struct thread *th)
{
    struct kernel *k = th->kernel;

    return th->owner->run_tag == k->run_tag ? &k->run_queue : &k->background;
}

/* Returns true if others can change the memory of th, which may wait for that
 * in a loop: its process has threads or shared memory. */
static bool
sched_may_spin(const struct thread *th)
{
    return task_is_threaded(th->owner) || th->owner->n_maps;
}

/* Where runs are to be repeatable, the slice of a thread that may spin is
 * counted while another one can run. The thread that runs yields at its next
 * check, so that counting begins there and not at the next tick. */
void
sched_begin_count(struct kernel *k)
{
    const struct thread *now = k->running;

    if (k->clock.is_virtual && now && sched_may_spin(now) &&
        !now->machine->is_counted)
        k->machine->interrupt(k->engine);
}

static void
sched_queue_begin(struct thread *th)
{
    if (th != th->kernel->running)
        sched_begin_count(th->kernel);
}

void
sched_queue(struct thread *th)
{
    if (!list_is_empty(&th->run_link) || th->is_stopped)
        return;
    sched_queue_begin(th);
    list_push_back(sched_queue_of(th), &th->run_link);
}

void
sched_queue_next(struct thread *th)
{
    if (list_is_empty(&th->run_link) && !th->is_stopped)
        list_push_front(sched_queue_of(th), &th->run_link);
}

/* Queues th behind `at`, or at the end if too many were queued early in a
 * row. */
static void
sched_queue_soon(struct thread *th, struct list *at)
{
    struct kernel *k = th->kernel;
    struct list *queue = sched_queue_of(th);

    if (!list_is_empty(&th->run_link) || th->is_stopped)
        return;
    sched_queue_begin(th);
    if (list_is_empty(queue) || ++k->boosts <= BOOSTS_MAX) {
        list_insert_after(at, &th->run_link);
        return;
    }
    k->boosts = 0;
    list_push_back(queue, &th->run_link);
}

void
sched_queue_front(struct thread *th)
{
    sched_queue_soon(th, sched_queue_of(th));
}

/* Keeps the order in which a shell starts the parts of a pipeline: each one is
 * queued behind the one before, as long as that has not run. */
void
sched_queue_started(struct thread *th)
{
    struct thread *before = th->kernel->started;
    bool is_behind = before && before->owner->run_tag == th->owner->run_tag;

    sched_queue_soon(th, is_behind ? &before->run_link : sched_queue_of(th));
    th->kernel->started = list_is_empty(&th->run_link) ? NULL : th;
}

/* Returns the next thread to run, or NULL. Every BACKGROUND_TURNS-th slice goes
 * to the background, if there is any. */
static struct thread *
sched_next(struct kernel *k, unsigned slice)
{
    struct list *queue = &k->run_queue;

    if (list_is_empty(queue) ||
        (slice % BACKGROUND_SLICES == 0 && !list_is_empty(&k->background)))
        queue = &k->background;
    if (list_is_empty(queue))
        return NULL;
    return CONTAINER_OF(queue->next, struct thread, run_link);
}

void
sched_remove(struct thread *th)
{
    if (th->kernel->started == th)
        th->kernel->started = NULL;
    list_remove(&th->run_link);
}

/* The thread may be the running one, whose machine cannot be freed inside its
 * own resume. sched_on_left adds it to the list when that returns. */
void
sched_bury(struct thread *th)
{
    thread_unwait(th);
    sched_remove(th);
    th->leaving = LEAVE_EXIT;
    if (th != th->kernel->running)
        list_push_back(&th->kernel->dead_threads, &th->run_link);
}

/* The parent is notified only after the thread is gone: a wait4 that succeeds
 * then finds its memory released. */
static void
sched_free_dead(struct kernel *k)
{
    while (!list_is_empty(&k->dead_threads)) {
        struct thread *th =
            CONTAINER_OF(k->dead_threads.next, struct thread, run_link);
        struct task *t = th->owner;
        thread_free(th);
        if (!t->thread)
            task_notify(t);
    }
    while (!list_is_empty(&k->reap_list))
        task_reap(CONTAINER_OF(k->reap_list.next, struct task, reap));
}

/* Returns true if th may be waiting in a loop for a thread that can run, now or
 * when a timer fires. That need not be a thread which shares its memory: that
 * one may wait for a third. th is not in a queue. */
static bool
sched_has_rival(const struct thread *th)
{
    const struct kernel *k = th->kernel;

    return sched_may_spin(th) &&
           (!list_is_empty(&k->run_queue) || !list_is_empty(&k->background) ||
            clock_next_ns(&k->clock) != NS_NEVER);
}

/* --- running one thread */

/* The old machine is freed first, so that both programs are never charged at
 * once. */
static void
sched_restart_after_exec(struct thread *th)
{
    struct kernel *k = th->kernel;
    struct program *p = program_get(th->owner->next_program);

    program_put(STEAL(th->owner->next_program));
    sched_free_dead(k); /* among them the other threads of this machine */
    thread_drop_machine(th);
    th->leaving = LEAVE_NO;
    th->program = p;
    int r = k->machine->create(k->engine, p, th, &th->machine);
    if (r < 0) {
        task_exit(th->owner, SIGKILL);
        return;
    }
    sched_queue_front(th);
}

static void
sched_on_left(struct thread *th)
{
    if (th->leaving == LEAVE_EXEC)
        sched_restart_after_exec(th);
    else if (list_is_empty(&th->run_link)) /* else it is already dead */
        list_push_back(&th->kernel->dead_threads, &th->run_link);
}

/* A trap of a vfork child ends the parent too: they share the memory that the
 * program has just shown to be broken. */
static void
sched_on_trap(struct thread *th, const struct machine_trap *trap)
{
    struct kernel *k = th->kernel;
    struct task *t = th->owner;

    k->running = NULL;
    if (!th->fault)
        memcpy(t->trap, trap->reason, sizeof t->trap);
    if (fault_handle(th, trap))
        return;
    int sig = th->fault ? th->fault : trap->signal;
    if (th->task != t) {
        struct task *child = th->task;
        task_vfork_done(th);
        task_exit(child, sig);
        task_notify(child);
    }
    task_exit(t, sig);
}

/* Returns true if the guard below its stack was written to: found in its last
 * call, or now, before another thread runs. */
static bool
sched_has_overflown(const struct thread *th, enum machine_event e)
{
    return th->leaving == LEAVE_OVERFLOW ||
           (!th->leaving && e == MACHINE_YIELDED && !guard_is_intact(th));
}

/* A slice ends by the host's time, which must not decide which thread runs next
 * where runs are to be repeatable. The same thread continues there, unless its
 * slice was counted. That is a millisecond of virtual time, so that threads
 * which sleep wake up beside one that spins. */
static void
sched_on_slice_end(struct thread *th)
{
    struct clock *c = &th->kernel->clock;

    if (c->is_virtual && !th->machine->slice_is_over) {
        sched_queue_next(th);
        return;
    }
    sched_queue(th);
    if (c->is_virtual) {
        clock_jump(c, clock_after(c, NS_PER_MS));
        clock_fire(c);
    }
}

/* Decides what happens to a thread after its machine returned. A thread that
 * has ended in between (leaving) is handled first, whatever the machine
 * reports. */
static void
sched_on_event(struct thread *th, enum machine_event e,
               const struct machine_trap *trap)
{
    if (sched_has_overflown(th, e)) {
        th->leaving = LEAVE_NO;
        sched_on_trap(th, &(struct machine_trap){SIGSEGV, SEGV_MAPERR,
                                                 "stack overflow", 0});
        return;
    }
    if (th->leaving) {
        sched_on_left(th);
        return;
    }
    switch (e) {
    case MACHINE_WAITS:
        if (th->is_yielding) {
            th->is_ready = true;
            th->is_yielding = false;
            sched_queue(th);
        } else if (th->is_ready) {
            sched_queue_front(th);
        }
        break;
    case MACHINE_YIELDED:
        sched_on_slice_end(th);
        break;
    case MACHINE_FORKS:
        task_fork(th);
        break;
    case MACHINE_TRAPPED:
        sched_on_trap(th, trap);
        break;
    case MACHINE_NEXT:
        if (th->owner->resident && th->task == th->owner)
            resident_on_next(th->owner, th->machine->status);
        else
            task_exit(th->owner, 0);
        break;
    case MACHINE_LEFT:
    case MACHINE_ENDED:
        task_exit(th->owner, th->fault); /* its handler has returned */
        break;
    }
}

/* Returns true if the native stack should be measured, which costs a system
 * call: when it can have grown much, or when the machine gives it up in
 * sys.next. In a deterministic sandbox it is measured whenever the thread stops
 * by itself, so that time has no influence. */
static bool
sched_stack_is_due(struct thread *th, enum machine_event e, int64_t ran_ns)
{
    th->unseen_ns += ran_ns;
    if (th->leaving || e >= MACHINE_LEFT)
        return false;
    if (th->kernel->clock.is_virtual)
        return e != MACHINE_YIELDED;
    return th->unseen_ns >= STACK_UNSEEN_NS ||
           (e == MACHINE_NEXT && th->stack_bytes);
}

/* Charges the growth of the stack. Beyond the memory limit the thread ends with
 * SIGSEGV, as on Linux if the stack of a process cannot grow. */
static enum machine_event
sched_look_at_stack(struct thread *th, enum machine_event e,
                    struct machine_trap *trap)
{
    struct machine *m = th->machine;

    th->unseen_ns = 0;
    if (thread_charge_stack(th, m->ops->stack_bytes(m)))
        return e;
    *trap = (struct machine_trap){SIGSEGV, SEGV_MAPERR,
                                  "stack overflow: memory limit", 0};
    return MACHINE_TRAPPED;
}

/* --- time */

#define AWAY_UNKNOWN INT64_MIN

static void
sched_begin_slices(struct kernel *k)
{
    k->slice_start_ns = k->host->mono_ns();
    k->away_ns = AWAY_UNKNOWN;
}

/* Returns the part of a time slice in which the thread really ran.
 *
 * Problem: the host may have run something else during a slice, and a sandbox
 * must not be charged for that. The exact answer is CLOCK_THREAD_CPUTIME_ID,
 * but reading it costs as much as a short slice.
 *
 * Idea: in a short slice the host has hardly had time to switch, so its elapsed
 * time counts. The CPU clock is read only after slices longer than
 * LONG_SLICE_NS, and the difference to the last reading limits the charge. The
 * first long slice has no earlier reading and counts in full. */
static int64_t
sched_work_of(struct kernel *k, int64_t now, int64_t slice_ns)
{
    if (slice_ns < LONG_SLICE_NS)
        return slice_ns;
    int64_t away = now - k->host->thread_ns();
    int64_t work = slice_ns;
    if (k->away_ns != AWAY_UNKNOWN)
        work -= away - k->away_ns;
    k->away_ns = away;
    return work < 0 ? 0 : work < slice_ns ? work : slice_ns;
}

/* Charges the time since the last call to the running task. The clock is read
 * once for each slice: its end is the beginning of the next one. */
void
sched_account(struct kernel *k)
{
    int64_t now = k->host->mono_ns();

    if (k->running) {
        int64_t ns = sched_work_of(k, now, now - k->slice_start_ns);
        COUNTER_ADD(k->cpu_ns, ns);
        if (!k->clock.is_virtual) {
            k->running->owner->usage.cpu_ns += ns;
            k->running->cpu_ns += ns;
        }
    }
    k->slice_start_ns = now;
}

/* Everything that a slice costs, and may cause, is settled before the next one:
 * processor time, timers of it, the stack, ended threads. */
static void
sched_run_thread(struct kernel *k, struct thread *th)
{
    struct machine_trap trap = {0};
    int64_t start_ns = k->slice_start_ns;

    sched_remove(th);
    th->is_waiting = false;
    k->running = th;
    thread_switch(th);
    th->machine->is_counted = k->clock.is_virtual && sched_has_rival(th);
    enum machine_event e = k->machine->resume(th->machine, &trap);
    sched_account(k);
    th->owner->usage.switches++;
    th->switches++;
    timers_check_cpu(th->owner); /* may end it, as its own call would */
    k->running = NULL;
    if (sched_stack_is_due(th, e, k->slice_start_ns - start_ns))
        e = sched_look_at_stack(th, e, &trap);
    sched_on_event(th, e, &trap);
    sched_free_dead(k);
}

/* --- kicks */

/* Sets the flag, wakes an idle scheduler, and ends the current slice; one of
 * the three applies, whatever the scheduler is doing.
 *
 * No kick is lost. The flag is set first, and the scheduler reads it before
 * each slice. If it has read the flag already, it is about to sleep or to run.
 * A bell that rings before the sleep ends it at once, and a slice ends at the
 * next check of its thread. */
void
kernel_kick(struct kernel *k)
{
    atomic_store(&k->kicked, true);
    k->host->bell_ring(k->kick_hfd);
    k->machine->interrupt(k->engine);
}

void
kernel_poke(struct kernel *k)
{
    atomic_store_explicit(&k->kicked, true, memory_order_relaxed);
}

/* --- the loop */

/* Converts a time of the kernel's clock to one of the host's. */
static int64_t
sched_to_host_ns(const struct kernel *k, int64_t ns)
{
    return __builtin_add_overflow(ns, k->clock.boot_ns, &ns) ? NS_NEVER : ns;
}

/* Sleeps until a timer, a host descriptor or a kick, because nothing is
 * runnable. A virtual clock jumps to the next timer instead, so that nobody has
 * to wait for it. */
static void
sched_idle(struct kernel *k, int64_t deadline_ns)
{
    int64_t next = clock_next_ns(&k->clock);

    if (k->clock.is_virtual && next != NS_NEVER) {
        clock_jump(&k->clock, next);
        return;
    }
    host_watch_wait(
        k, sched_to_host_ns(k, deadline_ns < next ? deadline_ns : next));
}

/* Serves timers and host descriptors beside runnable threads, checks the limit
 * on CPU time, and frees a bounded part of what was removed. Returns true if
 * nothing is left to free. */
static bool
sched_look_around(struct kernel *k)
{
    uint64_t cpu_ms = k->limits.max[LIMIT_cpu];
    uint64_t used_ms = (uint64_t)((k->cpu_ns - k->run_cpu_ns) / NS_PER_MS);

    clock_fire(&k->clock);
    if (cpu_ms && used_ms >= cpu_ms && !k->limits.was_hit[LIMIT_cpu]) {
        k->limits.was_hit[LIMIT_cpu] = true;
        kernel_kill(k, 0, SIGKILL);
    }
    if (!list_is_empty(&k->host_watches))
        host_watch_wait(k, 0);
    return mount_tidy_all(&k->vfs, TIDY_STEP);
}

static bool
sched_is_past(const struct kernel *k, int64_t deadline_ns)
{
    return deadline_ns != NS_NEVER &&
           k->host->mono_ns() - k->clock.boot_ns >= deadline_ns;
}

/* The flag is cleared before the call-back, so a kick during it is not lost. */
static void
sched_take_kick(struct kernel *k)
{
    if (!atomic_load_explicit(&k->kicked, memory_order_relaxed))
        return;
    atomic_store(&k->kicked, false);
    if (k->on_kick)
        k->on_kick(k->on_kick_arg);
}

/* The loop. `done` is checked before each slice. If nothing is runnable, the
 * kernel sleeps only after it has freed everything that was removed. */
static int
sched_run_until(struct kernel *k, bool (*done)(void *arg), void *arg,
                int64_t deadline_ns)
{
    bool is_tidy = true;

    sched_free_dead(k);
    sched_begin_slices(k);
    for (unsigned slice = 1; sched_take_kick(k), !done(arg); slice++) {
        struct thread *next = sched_next(k, slice);
        if (!next || slice % SLICES_PER_LOOK == 0 ||
            k->slice_start_ns - k->look_ns > NS_PER_MS) {
            k->look_ns = k->slice_start_ns;
            is_tidy = sched_look_around(k);
            sched_free_dead(k);
            if (sched_is_past(k, deadline_ns))
                return -ETIMEDOUT;
            next = sched_next(k, slice);
        }
        if (next) {
            sched_run_thread(k, next);
            continue;
        }
        if (done(arg))
            break;
        /* The pending requests may have ended or woken a thread. */
        if (is_tidy && !kernel_has_work(k))
            sched_idle(k, deadline_ns);
        sched_begin_slices(k);
    }
    return 0;
}

/* Objects that were removed are freed before the run is answered, so that their
 * memory is available to the next run. */
int
kernel_run(struct kernel *k, bool (*done)(void *arg), void *arg,
           int64_t deadline_ns)
{
    if (deadline_ns != NS_NEVER)
        k->deadline_ns = k->clock.boot_ns + deadline_ns;
    int r = sched_run_until(k, done, arg, deadline_ns);
    k->deadline_ns = 0;
    (void)mount_tidy_all(&k->vfs, SIZE_MAX);
    return r;
}

/* --- between runs */

struct step {
    struct kernel *kernel;
    bool (*done)(void *arg);
    void *arg;
};

static bool
sched_is_stepped(void *arg)
{
    struct step *s = arg;

    return s->done(s->arg) || !kernel_has_work(s->kernel);
}

void
kernel_step(struct kernel *k, bool (*done)(void *arg), void *arg)
{
    struct step s = {k, done, arg};

    (void)sched_look_around(k);
    (void)sched_run_until(k, sched_is_stepped, &s, NS_NEVER);
    (void)mount_tidy_all(&k->vfs, SIZE_MAX);
}

bool
kernel_has_work(const struct kernel *k)
{
    return !list_is_empty(&k->run_queue) || !list_is_empty(&k->background) ||
           !list_is_empty(&k->dead_threads) || !list_is_empty(&k->reap_list) ||
           atomic_load_explicit(&k->kicked, memory_order_relaxed);
}

int64_t
kernel_next_ns(const struct kernel *k)
{
    return sched_to_host_ns(k, clock_next_ns(&k->clock));
}
