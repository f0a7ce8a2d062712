/* The lease of a sandbox, jobs, and the CPU time of background processes.
 *
 * Problem: calls and jobs must have a sandbox to themselves, in order of
 * arrival, because the kernel takes no locks. Background processes should use
 * the time between calls, without delaying any.
 *
 * Idea: a ticket queue with a direct hand-over. The thread that leaves passes
 * the lease to the head of the queue, so the lock is held for a few stores and
 * no later call can overtake. A waiting call sleeps on a condition of its own;
 * a waiting job needs a thread of the crew. With an empty queue, runnable
 * background processes are given to a crew and get the lease in slices; if
 * all sleep, an alarm is set.
 *
 * A call that finds background processes at work sets is_wanted and kicks the
 * kernel, so they leave soon. No wake-up is lost: state, queue and plan change
 * under one lock. */
#include "base/os_time.h"
#include "kernel/kernel.h"
#include "lib/error.h"
#include "lib/sandbox.h"
#include "lib/shell.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

#define SLICE_NS (10 * NS_PER_MS) /* of background processes */

/* A call or a job that waits for the lease. */
struct queued {
    struct list link;
    void (*fn)(struct wsand_sandbox *sb, void *arg); /* NULL: a call */
    void *arg;
    pthread_cond_t *decided; /* of a call */
    bool is_decided, is_refused;
};

int
lease_refuse(struct wsand_error *err)
{
    int r = error_set(err, ECANCELED, "the sandbox is being freed");

    return error_of_class(err, WSAND_CANCELLED, r);
}

/* Called by the thread that has just been given the lease. A cancellation
 * applies to one lease only, so the flag is cleared here. */
static void
lease_begin(struct wsand_sandbox *sb)
{
    atomic_store_explicit(&sb->lease.owner, pthread_self(),
                          memory_order_relaxed);
    atomic_store_explicit(&sb->is_cancelled, false, memory_order_relaxed);
    sb->lease.depth = 1;
}

/* --- waiting; with the lock held */

/* Asks background processes to give up the lease soon: the flag ends their
 * slice, and the kick interrupts a process or a sleep. */
static void
lease_want(struct wsand_sandbox *sb)
{
    if (sb->lease.state != LEASE_BACKGROUND)
        return;
    atomic_store(&sb->lease.is_wanted, true);
    kernel_kick(sb->kernel);
}

/* Queues this thread and sleeps until a thread that leaves has decided about
 * it. The entry lives on the stack: nobody refers to it once it is decided,
 * because the decision is made under the lock. */
static bool
lease_wait(struct wsand_sandbox *sb)
{
    struct lease *t = &sb->lease;
    pthread_cond_t decided = PTHREAD_COND_INITIALIZER;
    struct queued q = {.decided = &decided};

    list_push_back(&t->queue, &q.link);
    t->n_calls++;
    lease_want(sb);
    while (!q.is_decided)
        pthread_cond_wait(&decided, &t->lock);
    t->n_calls--;
    pthread_cond_destroy(&decided);
    if (q.is_refused)
        pthread_cond_signal(&t->left);
    return !q.is_refused;
}

/* Gives a waiting call the lease, or refuses it. */
static void
lease_decide(struct queued *q, bool is_refused)
{
    list_remove(&q->link);
    q->is_decided = true;
    q->is_refused = is_refused;
    pthread_cond_signal(q->decided);
}

/* Arranges the next CPU time of background processes: now, or by an alarm at
 * their next timer or descriptor. Processes of a repeatable sandbox advance
 * only while something runs in it, because the host's time must not matter. */
static void
lease_plan_background(struct wsand_sandbox *sb)
{
    struct crews *p = &sb->runtime->crews;
    struct kernel *k = sb->kernel;
    const struct pollfd *fds;

    if (k->clock.is_virtual && !sandbox_has_mail(sb))
        return;
    if (kernel_has_work(k)) {
        crew_add(&p->background, &sb->lease.background);
        return;
    }
    int64_t next = kernel_next_ns(k);
    size_t n = kernel_host_fds(k, &fds);
    if (n || next != NS_NEVER)
        alarm_set(&sb->lease.alarm, next, fds, n);
}

/* Messages are handled soon, whichever call has the lease: the wake-up is
 * noticed while processes run, or when the lease is passed on. */
void
sandbox_wake(struct wsand_sandbox *sb)
{
    struct lease *t = &sb->lease;

    kernel_kick(sb->kernel);
    pthread_mutex_lock(&t->lock);
    if (t->state == LEASE_FREE && !atomic_load(&t->is_closed))
        lease_plan_background(sb);
    pthread_mutex_unlock(&t->lock);
}

/* Passes the lease to the head of the queue, or frees it. Returns true if a job
 * got it, which needs a thread. a thread of the crew that returns from a job
 * can run that one itself. */
static bool
lease_pass_on(struct wsand_sandbox *sb)
{
    struct lease *t = &sb->lease;

    atomic_store_explicit(&t->owner, 0, memory_order_relaxed);
    atomic_store_explicit(&t->is_wanted, false, memory_order_relaxed);
    if (list_is_empty(&t->queue)) {
        t->state = LEASE_FREE;
        if (atomic_load(&t->is_closed))
            pthread_cond_signal(&t->left);
        else
            lease_plan_background(sb);
        return false;
    }
    struct queued *q = CONTAINER_OF(t->queue.next, struct queued, link);
    t->state = LEASE_HELD;
    if (!q->fn) {
        lease_decide(q, false);
        return false;
    }
    list_remove(&q->link);
    t->job = q;
    return true;
}

void
lease_leave(struct wsand_sandbox *sb)
{
    struct lease *t = &sb->lease;

    pthread_mutex_lock(&t->lock);
    if (lease_pass_on(sb)) {
        crew_add(&sb->runtime->crews.jobs, &t->jobs);
        if (atomic_load(&t->is_closed)) /* the closing thread may be the last */
            pthread_cond_signal(&t->left);
    }
    pthread_mutex_unlock(&t->lock);
}

/* --- calls */

/* Takes a free lease at once. Otherwise it waits behind all calls and jobs that
 * came before. */
static bool
lease_take(struct wsand_sandbox *sb)
{
    struct lease *t = &sb->lease;
    bool is_mine = false;

    pthread_mutex_lock(&t->lock);
    if (!atomic_load_explicit(&t->is_closed, memory_order_relaxed)) {
        is_mine = t->state == LEASE_FREE || lease_wait(sb);
        if (is_mine)
            t->state = LEASE_HELD;
    }
    pthread_mutex_unlock(&t->lock);
    return is_mine;
}

/* A thread that has the lease already enters again and counts the depth: public
 * functions call each other, and jobs call public functions. `owner` needs no
 * lock for this test, because only the thread itself can have stored its own
 * id. */
struct wsand_sandbox *
sandbox_enter(struct wsand_sandbox *sb, struct wsand_error *err)
{
    struct lease *t = &sb->lease;

    if (atomic_load_explicit(&t->owner, memory_order_relaxed) ==
        pthread_self()) {
        if (!atomic_load_explicit(&t->is_closed, memory_order_relaxed)) {
            t->depth++;
            return sb;
        }
    } else if (lease_take(sb)) {
        lease_begin(sb);
        return sb;
    }
    (void)lease_refuse(err);
    return NULL;
}

/* Background processes leave within a time slice, so waiting for them is
 * acceptable. */
bool
sandbox_try_enter(struct wsand_sandbox *sb)
{
    struct lease *t = &sb->lease;
    struct wsand_error unused;

    if (atomic_load_explicit(&t->owner, memory_order_relaxed) == pthread_self())
        return sandbox_enter(sb, &unused) != NULL;
    pthread_mutex_lock(&t->lock);
    bool is_mine = !atomic_load(&t->is_closed) && t->state != LEASE_HELD &&
                   (t->state == LEASE_FREE || lease_wait(sb));
    if (is_mine)
        t->state = LEASE_HELD;
    pthread_mutex_unlock(&t->lock);
    if (is_mine)
        lease_begin(sb);
    return is_mine;
}

/* --- jobs */

/* Runs the job that has the lease on this thread. */
static void
lease_call_job(struct wsand_sandbox *sb)
{
    struct queued *job = STEAL(sb->lease.job);

    lease_begin(sb);
    job->fn(sb, job->arg);
    free(job);
}

/* Saves the shell after a job, while nobody waits for the next answer. With
 * another call in the queue, the checkpoint would delay it, and that call makes
 * its own if needed. */
static void
lease_checkpoint(struct wsand_sandbox *sb)
{
    struct lease *t = &sb->lease;

    pthread_mutex_lock(&t->lock);
    bool is_quiet = list_is_empty(&t->queue) && !atomic_load(&t->is_closed);
    pthread_mutex_unlock(&t->lock);
    if (is_quiet && sb->shell)
        (void)shell_checkpoint(sb->shell);
}

/* a thread of the crew runs one job, and is queued again if the next in the
 * queue is a job too. Jobs of other sandboxes get their share in between. */
static bool
lease_run_job(struct crew_work *w)
{
    struct wsand_sandbox *sb =
        CONTAINER_OF(w, struct wsand_sandbox, lease.jobs);
    struct lease *t = &sb->lease;

    lease_call_job(sb);
    lease_checkpoint(sb);
    pthread_mutex_lock(&t->lock);
    bool has_next = lease_pass_on(sb);
    pthread_mutex_unlock(&t->lock);
    return has_next;
}

/* A free lease is given to the job at once, and needs no second
 * hand-over. */
static int
lease_post(struct wsand_sandbox *sb, OWN struct queued *q,
           struct wsand_error *err)
{
    struct lease *t = &sb->lease;

    pthread_mutex_lock(&t->lock);
    bool is_closed = atomic_load(&t->is_closed);
    bool is_free = !is_closed && t->state == LEASE_FREE;
    if (is_free) {
        t->state = LEASE_HELD;
        t->job = q;
        crew_add(&sb->runtime->crews.jobs, &t->jobs);
    } else if (!is_closed) {
        list_push_back(&t->queue, &q->link);
        lease_want(sb);
    }
    pthread_mutex_unlock(&t->lock);
    if (!is_closed)
        return 0;
    free(q);
    return lease_refuse(err);
}

/* A thread must exist before the job is accepted: an accepted job is always
 * called. */
int
wsand_post(struct wsand_sandbox *sb,
           void (*fn)(struct wsand_sandbox *sb, void *arg), void *arg,
           struct wsand_error *err)
{
    struct queued *q = calloc(1, sizeof *q);

    if (!q)
        return error_set(err, ENOMEM, "out of memory");
    list_init(&q->link);
    q->fn = fn;
    q->arg = arg;
    int r = crew_ensure(&sb->runtime->crews.jobs);
    if (r < 0) {
        free(q);
        return error_errno(err, -r, "cannot start a thread");
    }
    return lease_post(sb, q, err);
}

/* The job runs on the calling thread, if nobody has the lease. This saves the
 * wake-up of another thread. */
int
wsand_enter(struct wsand_sandbox *sb)
{
    struct lease *t = &sb->lease;

    pthread_mutex_lock(&t->lock);
    bool is_free = t->state == LEASE_FREE && !atomic_load(&t->is_closed);
    if (is_free)
        t->state = LEASE_HELD;
    pthread_mutex_unlock(&t->lock);
    if (!is_free)
        return -EBUSY;
    lease_begin(sb);
    return 0;
}

void
wsand_leave(struct wsand_sandbox *sb)
{
    lease_checkpoint(sb);
    lease_leave(sb);
}

int
wsand_post_here(struct wsand_sandbox *sb,
                void (*fn)(struct wsand_sandbox *sb, void *arg), void *arg)
{
    int r = wsand_enter(sb);

    if (r < 0)
        return r;
    fn(sb, arg);
    wsand_leave(sb);
    return 0;
}

/* A job that needs no sandbox; freed by its thread. */
struct runtime_job {
    struct crew_work work;
    void (*fn)(void *arg);
    void *arg;
};

static bool
lease_run_runtime_job(struct crew_work *w)
{
    struct runtime_job *job = CONTAINER_OF(w, struct runtime_job, work);

    job->fn(job->arg);
    free(job);
    return false;
}

int
wsand_runtime_post(struct wsand_runtime *rt, void (*fn)(void *arg), void *arg,
                   struct wsand_error *err)
{
    struct runtime_job *job = calloc(1, sizeof *job);

    if (!job)
        return error_set(err, ENOMEM, "out of memory");
    int r = crew_ensure(&rt->crews.jobs);
    if (r < 0) {
        free(job);
        return error_errno(err, -r, "cannot start a thread");
    }
    crew_work_init(&job->work, lease_run_runtime_job);
    job->fn = fn;
    job->arg = arg;
    crew_add(&rt->crews.jobs, &job->work);
    return 0;
}

/* --- background processes */

/* The CPU time of background processes until another sandbox's may run. */
struct slice {
    struct wsand_sandbox *sb;
    int64_t end_ns;
};

/* Asked by the kernel between time slices of processes. `slice_start_ns` is the
 * time at which the current time slice began, so no clock is read here. */
static bool
lease_is_slice_over(void *arg)
{
    const struct slice *s = arg;

    return s->sb->kernel->clock.is_virtual ||
           atomic_load_explicit(&s->sb->lease.is_wanted,
                                memory_order_relaxed) ||
           s->sb->kernel->slice_start_ns > s->end_ns;
}

/* Runs background processes for one slice. If a call has the lease, there is
 * nothing to do: that call plans the next slice when it leaves. */
static bool
lease_run_background(struct crew_work *w)
{
    struct wsand_sandbox *sb =
        CONTAINER_OF(w, struct wsand_sandbox, lease.background);
    struct lease *t = &sb->lease;
    struct slice s = {sb, time_mono_ns() + SLICE_NS};

    pthread_mutex_lock(&t->lock);
    bool is_free = t->state == LEASE_FREE && !atomic_load(&t->is_closed);
    if (is_free)
        t->state = LEASE_BACKGROUND;
    pthread_mutex_unlock(&t->lock);
    if (!is_free)
        return false; /* the owner of the lease plans them when it leaves */
    lease_begin(sb);  /* errands are calls within this one */
    kernel_step(sb->kernel, lease_is_slice_over, &s);
    lease_leave(sb);
    return false;
}

/* --- creating and closing */

void
lease_init(struct lease *t, struct crews *p)
{
    *t = (struct lease){.state = LEASE_FREE};
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->left, NULL);
    list_init(&t->queue);
    list_init(&t->beside);
    crew_work_init(&t->jobs, lease_run_job);
    crew_work_init(&t->background, lease_run_background);
    alarm_init(&t->alarm, p, &t->background);
}

/* One step of lease_close, with the lock held: does a piece of work that would
 * otherwise need a thread, or waits. A job that has the lease but no thread yet
 * is called on this thread, which may be the last one of the crew. */
static void
lease_wait_or_work(struct wsand_sandbox *sb)
{
    struct lease *t = &sb->lease;

    if (beside_finish(sb))
        return;
    if (!crew_take_back(&sb->runtime->crews.jobs, &t->jobs)) {
        pthread_cond_wait(&t->left, &t->lock);
        return;
    }
    pthread_mutex_unlock(&t->lock);
    lease_call_job(sb);
    lease_leave(sb);
    pthread_mutex_lock(&t->lock);
}

/* The order is important: no call enters after is_closed is set under the lock.
 * Calls in the queue are refused, while jobs are called, because their owners
 * expect it. When the lease is free and nobody holds the sandbox, only the
 * crews can still know of it. */
void
lease_close(struct wsand_sandbox *sb)
{
    struct lease *t = &sb->lease;
    struct crews *p = &sb->runtime->crews;

    pthread_mutex_lock(&t->lock);
    atomic_store(&t->is_closed, true);
    LIST_FOR_EACH_SAFE(it, &t->queue) {
        struct queued *q = CONTAINER_OF(it, struct queued, link);
        if (!q->fn)
            lease_decide(q, true);
    }
    atomic_store(&t->is_wanted, true);
    if (t->state != LEASE_FREE)
        kernel_kick(sb->kernel);
    while (t->state != LEASE_FREE || t->n_calls)
        lease_wait_or_work(sb);
    pthread_mutex_unlock(&t->lock);
    alarm_stop(&t->alarm);
    crew_forget(&p->background, &t->background);
    crew_forget(&p->jobs, &t->jobs);
}

void
lease_fini(struct lease *t)
{
    pthread_cond_destroy(&t->left);
    pthread_mutex_destroy(&t->lock);
}
