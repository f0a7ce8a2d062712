/* The thread of a store (group commit).
 *
 * It collects all waiting jobs, commits the writes as one transaction, runs the
 * reads, completes all of them, and uses the remaining time for upkeep. Jobs
 * that arrive during the fdatasync form the next group. The cost of a sync is
 * therefore shared by all sessions that wait, and the group grows by itself
 * under load.
 *
 * Lock: `lock` guards the lists and the members beside them; only the thread
 * uses the store. */
#include "store/thread.h"

#include "base/os_thread.h"
#include "base/os_time.h"
#include "store/store_impl.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { INTERVAL_MS = 200, BYTES_MAX = 16 << 20 };

/* The loop's thread owns the structure and calls the functions of thread.h. */
struct store_thread {
    struct store *store;
    struct store_thread_config config;
    pthread_t thread;

    pthread_mutex_t lock;
    pthread_cond_t posted, given;
    /* Posted jobs that the thread has not picked up, and jobs whose `done` must
     * be called. */
    struct list waiting, finished;
    bool is_ending;
    int doubt; /* an error to report */
    char doubt_why[STORE_WHY_BYTES];

    /* the loop's */
    size_t n_jobs, bytes;

    /* the thread's */
    int64_t sync_at_ms; /* 0: all is durable */
};

static struct store_job *
store_thread_job_of(struct list *link)
{
    return CONTAINER_OF(link, struct store_job, link);
}

static void
store_thread_wake(struct store_thread *k)
{
    uint64_t one = 1;

    (void)!write(k->config.wake_hfd, &one, sizeof one);
}

/* --- on the thread */

static void
store_thread_set_error(struct store_thread *k, struct store_job *j, int error)
{
    j->error = error;
    if (error < 0)
        memcpy(j->why, store_why(k->store), sizeof j->why);
}

/* Each job is an operation of its own within the group's transaction: a job
 * that fails leaves nothing behind and does not affect the others. */
static int
store_thread_run_write(struct store *s, struct store_job *j)
{
    int r = store_op_begin(s);

    return r < 0 ? r : store_op_end(s, j->run(s, j));
}

/* Runs the reads or the writes of a group. Reads run after the transaction, so
 * that they see all writes of the group and none that might be undone. */
static void
store_thread_run_kind(struct store_thread *k, struct list *jobs, bool reads)
{
    LIST_FOR_EACH(it, jobs) {
        struct store_job *j = store_thread_job_of(it);
        if ((j->kind == STORE_JOB_READ) != reads || (!reads && j->is_off))
            continue;
        store_thread_set_error(k, j,
                               reads ? j->run(k->store, j)
                                     : store_thread_run_write(k->store, j));
    }
}

/* The transaction failed as a whole, so jobs that had succeeded in it fail with
 * its error. */
static void
store_thread_fail_writes(struct store_thread *k, struct list *jobs, int error)
{
    LIST_FOR_EACH(it, jobs) {
        struct store_job *j = store_thread_job_of(it);
        if (j->kind != STORE_JOB_READ && j->error >= 0 && !j->is_off)
            store_thread_set_error(k, j, error);
    }
}

static unsigned
store_thread_count_kind(struct list *jobs, enum store_job_kind kind)
{
    unsigned n = 0;

    LIST_FOR_EACH(it, jobs)
        n += store_thread_job_of(it)->kind == kind;
    return n;
}

/* Runs the jobs that are not off as one transaction. The first commit without a
 * sync starts the interval in which it must become durable. */
static void
store_thread_run_transaction(struct store_thread *k, struct list *jobs,
                             bool is_durable, bool is_alone)
{
    int r = store_begin(k->store, is_durable);

    if (r == 0) {
        k->store->is_alone = is_alone;
        store_thread_run_kind(k, jobs, false);
        k->store->is_alone = false;
        r = store_end(k->store);
    }
    if (r < 0)
        store_thread_fail_writes(k, jobs, r);
    else if (is_durable)
        k->sync_at_ms = 0;
    else if (!k->sync_at_ms)
        k->sync_at_ms = time_mono_ns() / NS_PER_MS + k->config.interval_ms;
}

/* Switches all jobs off, except those that failed on a full disk and free
 * space. Returns the number of these. */
static unsigned
store_thread_pick_smaller(struct store_thread *k, struct list *jobs)
{
    unsigned n = 0;

    LIST_FOR_EACH(it, jobs) {
        struct store_job *j = store_thread_job_of(it);
        bool is_on = j->kind != STORE_JOB_READ && j->error == -ENOSPC &&
                     j->may_use_reserve && j->may_use_reserve(k->store, j);
        j->is_off = !is_on;
        n += is_on;
    }
    return n;
}

/* A sync that fails concerns commits that were answered already. The loop
 * reports it as a doubt, because no job is left to fail. */
static void
store_thread_sync_now(struct store_thread *k)
{
    int r = store_sync(k->store);

    k->sync_at_ms = 0;
    if (r == 0)
        return;
    pthread_mutex_lock(&k->lock);
    k->doubt = r;
    memcpy(k->doubt_why, store_why(k->store), sizeof k->doubt_why);
    pthread_mutex_unlock(&k->lock);
    store_thread_wake(k);
}

/* Does a step of upkeep, and returns true if there is more to do. After a
 * failure, upkeep waits for the next jobs, so that a broken disk does not keep
 * the thread busy. */
static bool
store_thread_do_upkeep(struct store_thread *k)
{
    if (k->sync_at_ms && time_mono_ns() / NS_PER_MS >= k->sync_at_ms)
        store_thread_sync_now(k);
    int r = store_checkpoint(k->store);
    if (r == 0)
        r = store_tidy(k->store, time_wall_ms());
    if (r == -ENOSPC && reserve_use_for_upkeep(k->store))
        return true;
    if (r != 0)
        return r > 0;
    /* All that is free is in the log and the database: to the disk with it. */
    if (k->store->is_reserve_used && log_empty(k->store) == 0)
        (void)reserve_fill(k->store);
    return false;
}

/* Runs all upkeep first, which may release the space that the reserve needs. */
static int
store_thread_fill_reserve(struct store_thread *k)
{
    if (!k->store->is_reserve_used)
        return 0;
    while (store_thread_do_upkeep(k))
        ;
    return reserve_fill(k->store);
}

/* Jobs that make space are tried again with the reserve. While the reserve is
 * in use, no other job is tried. */
static void
store_thread_run_writes(struct store_thread *k, struct list *jobs,
                        bool is_durable, bool is_alone)
{
    int r = store_thread_fill_reserve(k);

    if (r < 0)
        store_thread_fail_writes(k, jobs, r);
    else
        store_thread_run_transaction(k, jobs, is_durable, is_alone);
    if (store_thread_pick_smaller(k, jobs) && reserve_use(k->store))
        store_thread_run_transaction(k, jobs, is_durable, false);
}

static void
store_thread_run_group(struct store_thread *k, struct list *jobs)
{
    unsigned durable = store_thread_count_kind(jobs, STORE_JOB_WRITE);
    unsigned all = durable + store_thread_count_kind(jobs, STORE_JOB_INTERVAL);

    if (all)
        store_thread_run_writes(k, jobs, durable > 0, all == 1);
    store_thread_run_kind(k, jobs, true);
}

static void
store_thread_give_back(struct store_thread *k, struct list *jobs)
{
    pthread_mutex_lock(&k->lock);
    bool was_empty = list_is_empty(&k->finished);
    LIST_FOR_EACH_SAFE(it, jobs) {
        list_remove(it);
        list_push_back(&k->finished, it);
    }
    pthread_cond_signal(&k->given);
    pthread_mutex_unlock(&k->lock);
    if (was_empty)
        store_thread_wake(k);
}

/* Waits until jobs are posted or until the given time; 0 means without a time
 * limit. */
static void
store_thread_wait_for_jobs(struct store_thread *k, int64_t until_ms)
{
    struct timespec t = time_spec(until_ms * NS_PER_MS);

    if (until_ms)
        (void)pthread_cond_timedwait(&k->posted, &k->lock, &t);
    else
        pthread_cond_wait(&k->posted, &k->lock);
}

/* Returns 1 and all waiting jobs, 0 when it is time for upkeep or a sync, and
 * -1 at the end. */
static int
store_thread_take(struct store_thread *k, bool has_upkeep,
                  struct list *ret_jobs)
{
    int r;

    pthread_mutex_lock(&k->lock);
    while (list_is_empty(&k->waiting) && !k->is_ending && !has_upkeep) {
        store_thread_wait_for_jobs(k, k->sync_at_ms);
        if (k->sync_at_ms && time_mono_ns() / NS_PER_MS >= k->sync_at_ms)
            break;
    }
    r = !list_is_empty(&k->waiting) ? 1 : k->is_ending ? -1 : 0;
    if (r > 0)
        list_move(&k->waiting, ret_jobs);
    pthread_mutex_unlock(&k->lock);
    return r;
}

/* The thread: jobs that arrive while a group is written form the next group.
 * Upkeep runs between groups, in steps, so that jobs wait for one step at
 * most. */
static void *
store_thread_keep(void *arg)
{
    struct store_thread *k = arg;
    bool has_upkeep = true;
    struct list jobs;
    int r;

    list_init(&jobs);
    while ((r = store_thread_take(k, has_upkeep, &jobs)) >= 0) {
        if (r) {
            store_thread_run_group(k, &jobs);
            store_thread_give_back(k, &jobs);
        }
        has_upkeep = store_thread_do_upkeep(k);
    }
    if (k->sync_at_ms)
        store_thread_sync_now(k);
    return NULL;
}

/* --- on the loop's thread */

static int
store_thread_init_lock(struct store_thread *k)
{
    pthread_condattr_t attr;

    if (pthread_condattr_init(&attr))
        return -ENOMEM;
    (void)pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_mutex_init(&k->lock, NULL);
    pthread_cond_init(&k->posted, &attr);
    pthread_cond_init(&k->given, NULL);
    pthread_condattr_destroy(&attr);
    return 0;
}

static void
store_thread_fini(struct store_thread *k)
{
    pthread_mutex_destroy(&k->lock);
    pthread_cond_destroy(&k->posted);
    pthread_cond_destroy(&k->given);
    store_free(k->store);
    free(k);
}

int
store_thread_new(struct store *s, const struct store_thread_config *c,
                 struct store_thread **ret)
{
    CLEANUP(store_freep) struct store *own = s;
    struct store_thread *k = calloc(1, sizeof *k);

    if (!k || store_thread_init_lock(k)) {
        free(k);
        return -ENOMEM;
    }
    k->store = STEAL(own);
    k->config = *c;
    if (!k->config.interval_ms)
        k->config.interval_ms = INTERVAL_MS;
    if (!k->config.bytes_max)
        k->config.bytes_max = BYTES_MAX;
    list_init(&k->waiting);
    list_init(&k->finished);
    int r = os_thread_start(&k->thread, store_thread_keep, k);
    if (r < 0) {
        store_thread_fini(k);
        return r;
    }
    *ret = k;
    return 0;
}

void
store_thread_post(struct store_thread *k, struct store_job *j)
{
    j->error = 0;
    j->why[0] = 0;
    j->is_off = false;
    k->n_jobs++;
    k->bytes += j->bytes;
    pthread_mutex_lock(&k->lock);
    list_push_back(&k->waiting, &j->link);
    pthread_mutex_unlock(&k->lock);
    /* Signalled without the lock, so that the thread does not wake only to wait
     * for it. */
    pthread_cond_signal(&k->posted);
}

bool
store_thread_is_full(const struct store_thread *k)
{
    return k->bytes >= k->config.bytes_max;
}

static void
store_thread_tell_doubt(struct store_thread *k)
{
    char why[STORE_WHY_BYTES];

    pthread_mutex_lock(&k->lock);
    int error = k->doubt;
    k->doubt = 0;
    memcpy(why, k->doubt_why, sizeof why);
    pthread_mutex_unlock(&k->lock);
    if (error && k->config.doubt)
        k->config.doubt(k->config.arg, error, why);
}

/* `done` may post new jobs, so the finished ones are moved to a list of this
 * call first. */
void
store_thread_drain(struct store_thread *k)
{
    struct list jobs;

    list_init(&jobs);
    pthread_mutex_lock(&k->lock);
    list_move(&k->finished, &jobs);
    pthread_mutex_unlock(&k->lock);
    while (!list_is_empty(&jobs)) {
        struct store_job *j = store_thread_job_of(jobs.next);
        list_remove(&j->link);
        k->n_jobs--;
        k->bytes -= j->bytes;
        j->done(j, j->error);
    }
    store_thread_tell_doubt(k);
}

static void
store_thread_wait_for_given(struct store_thread *k)
{
    pthread_mutex_lock(&k->lock);
    while (list_is_empty(&k->finished))
        pthread_cond_wait(&k->given, &k->lock);
    pthread_mutex_unlock(&k->lock);
}

/* A finished job may post another one, so the loop goes on until there is
 * none. Only then may the thread end. */
void
store_thread_free(struct store_thread *k)
{
    if (!k)
        return;
    while (k->n_jobs) {
        store_thread_wait_for_given(k);
        store_thread_drain(k);
    }
    pthread_mutex_lock(&k->lock);
    k->is_ending = true;
    pthread_cond_signal(&k->posted);
    pthread_mutex_unlock(&k->lock);
    pthread_join(k->thread, NULL);
    store_thread_tell_doubt(k);
    store_thread_fini(k);
}
