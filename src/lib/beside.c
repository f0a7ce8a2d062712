/* Work on a sandbox while another call has the lease.
 *
 * Problem: starting a process, or writing its input, must not wait for a
 * command that runs for hours. But only the thread with the lease may touch the
 * kernel.
 *
 * Idea: the caller holds the sandbox (so that it cannot be freed) and sends an
 * errand, a function that the running thread calls between time slices. The
 * kernel is consistent there, so the function sees the sandbox as between two
 * system calls. Jobs of this kind exist for callers that cannot wait for the
 * errand themselves. */
#include "lib/error.h"
#include "lib/sandbox.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>

/* A holder counts as a call for lease_close, which therefore waits for it, but
 * it does not have the lease. */
int
sandbox_hold(struct wsand_sandbox *sb, struct wsand_error *err)
{
    struct lease *t = &sb->lease;

    pthread_mutex_lock(&t->lock);
    bool is_closed = atomic_load(&t->is_closed);
    if (!is_closed)
        t->n_calls++;
    pthread_mutex_unlock(&t->lock);
    return is_closed ? lease_refuse(err) : 0;
}

void
sandbox_release(struct wsand_sandbox *sb)
{
    struct lease *t = &sb->lease;

    pthread_mutex_lock(&t->lock);
    t->n_calls--;
    if (atomic_load(&t->is_closed))
        pthread_cond_signal(&t->left);
    pthread_mutex_unlock(&t->lock);
}

/* --- errands */

/* A message whose sender waits for its result. It lives on the sender's stack
 * until is_done is set. */
struct errand {
    struct mail mail;
    int (*fn)(struct wsand_sandbox *sb, void *arg, struct wsand_error *err);
    void *arg;
    /* guarded by lease.lock */
    pthread_cond_t done;
    bool is_done;
    int r;
    struct wsand_error err;
};

/* Runs on the thread with the lease. Without the lock of the lease while fn
 * runs, because fn may be long and others want to queue. */
static void
beside_deliver(struct wsand_sandbox *sb, struct mail *m)
{
    struct errand *e = CONTAINER_OF(m, struct errand, mail);
    struct wsand_error err = {0};

    int r =
        sandbox_is_closed(sb) ? lease_refuse(&err) : e->fn(sb, e->arg, &err);
    pthread_mutex_lock(&sb->lease.lock);
    e->r = r;
    e->err = err;
    e->is_done = true;
    pthread_cond_signal(&e->done);
    pthread_mutex_unlock(&sb->lease.lock);
}

/* Adds the errand unless the sandbox is being freed. Checking and adding are
 * one step under the lock, so lease_close sees every errand that was added
 * before. */
static bool
beside_put(struct wsand_sandbox *sb, struct errand *e)
{
    pthread_mutex_lock(&sb->lease.lock);
    bool is_closed = atomic_load(&sb->lease.is_closed);
    if (!is_closed)
        mail_put(&sb->mailbox, &e->mail);
    pthread_mutex_unlock(&sb->lease.lock);
    return !is_closed;
}

/* The errand is put before the wake-up, so the thread that is woken finds it.
 * The lock of the lease guards is_done: unlike a lock in the errand, it still
 * exists when the sender has returned. */
int
sandbox_errand(struct wsand_sandbox *sb,
               int (*fn)(struct wsand_sandbox *sb, void *arg,
                         struct wsand_error *err),
               void *arg, struct wsand_error *err)
{
    struct errand e = {.mail.deliver = beside_deliver,
                       .fn = fn,
                       .arg = arg,
                       .done = PTHREAD_COND_INITIALIZER};

    if (!beside_put(sb, &e))
        return lease_refuse(err);
    sandbox_wake(sb);
    pthread_mutex_lock(&sb->lease.lock);
    while (!e.is_done)
        pthread_cond_wait(&e.done, &sb->lease.lock);
    pthread_mutex_unlock(&sb->lease.lock);
    pthread_cond_destroy(&e.done);
    if (e.r < 0 && err)
        *err = e.err;
    return e.r;
}

/* The arguments of wsand_beside. */
struct visit {
    void (*fn)(struct wsand_sandbox *sb, void *arg);
    void *arg;
};

static int
beside_pay_visit(struct wsand_sandbox *sb, void *arg, struct wsand_error *err)
{
    const struct visit *v = arg;

    (void)err;
    v->fn(sb, v->arg);
    return 0;
}

/* If the sandbox is idle, or only background processes run, taking the lease is
 * simpler and faster than an errand. */
int
wsand_beside(struct wsand_sandbox *sb,
             void (*fn)(struct wsand_sandbox *sb, void *arg), void *arg,
             struct wsand_error *err)
{
    struct visit v = {fn, arg};

    if (sandbox_try_enter(sb)) {
        fn(sb, arg);
        sandbox_leave(sb);
        return 0;
    }
    int r = sandbox_hold(sb, err);
    if (r < 0)
        return r;
    r = sandbox_errand(sb, beside_pay_visit, &v, err);
    sandbox_release(sb);
    return r;
}

/* --- jobs */

/* A job that does not wait for the lease. It holds the sandbox from its post to
 * its end. */
struct beside {
    struct crew_work work;
    struct list link; /* in lease.beside */
    struct wsand_sandbox *sb;
    void (*fn)(struct wsand_sandbox *sb, void *arg);
    void *arg;
};

/* The job leaves the list before it runs, so that lease_close does not call it
 * a second time. */
static bool
beside_run(struct crew_work *w)
{
    struct beside *b = CONTAINER_OF(w, struct beside, work);
    struct wsand_sandbox *sb = b->sb;

    pthread_mutex_lock(&sb->lease.lock);
    list_remove(&b->link);
    pthread_mutex_unlock(&sb->lease.lock);
    b->fn(sb, b->arg);
    free(b);
    sandbox_release(sb);
    return false;
}

/* All steps that can fail come first. Listing and queueing are one step under
 * the lock, because lease_close searches the list for queued jobs. */
int
wsand_post_beside(struct wsand_sandbox *sb,
                  void (*fn)(struct wsand_sandbox *sb, void *arg), void *arg,
                  struct wsand_error *err)
{
    struct crew *jobs = &sb->runtime->crews.jobs;
    struct beside *b = calloc(1, sizeof *b);

    if (!b)
        return error_set(err, ENOMEM, "out of memory");
    *b = (struct beside){.sb = sb, .fn = fn, .arg = arg};
    crew_work_init(&b->work, beside_run);
    list_init(&b->link);
    int r = crew_ensure(jobs);
    if (r < 0)
        r = error_errno(err, -r, "cannot start a thread");
    else
        r = sandbox_hold(sb, err);
    if (r < 0) {
        free(b);
        return r;
    }
    pthread_mutex_lock(&sb->lease.lock);
    list_push_back(&sb->lease.beside, &b->link);
    crew_add(jobs, &b->work);
    pthread_mutex_unlock(&sb->lease.lock);
    return 0;
}

/* --- the end */

/* Removes a job from the queue of its crew that no thread has begun. NULL:
 * there is none. */
static struct crew_work *
beside_take_back(struct wsand_sandbox *sb)
{
    LIST_FOR_EACH(it, &sb->lease.beside) {
        struct crew_work *w = &CONTAINER_OF(it, struct beside, link)->work;
        if (crew_take_back(&sb->runtime->crews.jobs, w))
            return w;
    }
    return NULL;
}

/* Mail can only be delivered here while nobody has the lease; otherwise its
 * owner delivers it. */
bool
beside_finish(struct wsand_sandbox *sb)
{
    struct lease *t = &sb->lease;
    struct crew_work *w = beside_take_back(sb);
    bool has_mail = t->state == LEASE_FREE && sandbox_has_mail(sb);

    if (!w && !has_mail)
        return false;
    pthread_mutex_unlock(&t->lock);
    if (has_mail)
        mail_deliver(sb);
    if (w)
        (void)beside_run(w);
    pthread_mutex_lock(&t->lock);
    return true;
}
