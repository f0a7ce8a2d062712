/* The thread of a store: jobs go in on the loop's thread, run on the store
 * thread's, and are done on the loop's thread again.
 *
 * Group commit: all jobs that wait when the thread comes are one transaction
 * and one fdatasync; only then they are done. A job that fails leaves nothing
 * behind and does not disturb the others; if the transaction fails, all of its
 * jobs fail with that error. Jobs run in the order in which they were posted,
 * but those that only read run after the writes of their group: a read sees
 * what was posted before it, and perhaps some of what was posted after it. */
#ifndef STORE_THREAD_H
#define STORE_THREAD_H

#include "base/list.h"
#include "base/own.h"
#include "store/store.h"

struct store_thread;

enum store_job_kind {
    STORE_JOB_WRITE,    /* done when it is durable */
    STORE_JOB_INTERVAL, /* done when it is safe from a kill of this process,
                         * durable within the configured time */
    STORE_JOB_READ,     /* writes nothing */
};

/* Belongs to who posts it, usually as the first member of something larger, and
 * stays where it is from store_thread_post until `done`. */
struct store_job {
    enum store_job_kind kind;
    /* On the store thread. Calls functions of store.h, not store_begin,
     * store_end, store_undo, store_tidy; 0 or the first error. */
    int (*run)(struct store *s, struct store_job *j);
    /* On the loop's thread, from store_thread_drain or store_thread_free; may
     * free the job and post others. */
    void (*done)(struct store_job *j, int error);
    /* The disk is full: may it use the store's reserve, because it makes space?
     * On the store thread. NULL: no. `run` is then called again. */
    bool (*may_use_reserve)(struct store *s, struct store_job *j);
    size_t bytes; /* it keeps in memory until it is done */
    /* for `done`, if error is not 0 */
    char why[STORE_WHY_BYTES];
    /* the store thread's own */
    struct list link;
    int error;
    bool is_off; /* not in this transaction */
};

struct store_thread_config {
    uint32_t interval_ms; /* of STORE_JOB_INTERVAL; 0: 200 */
    size_t bytes_max;     /* of jobs at which store_thread_is_full; 0: 16 MiB */
    int wake_hfd; /* an eventfd, written when store_thread_drain has to be
                   * called; borrowed */
    /* From store_thread_drain: jobs of STORE_JOB_INTERVAL that were done have
     * not become durable; what they wrote may be lost if the host goes down. */
    void (*doubt)(void *arg, int error, const char *why);
    void *arg;
};

/* Starts the thread. The store is the store thread's until store_thread_free,
 * which frees it; on failure it is freed too. -ENOMEM, -EAGAIN. */
int store_thread_new(OWN struct store *s, const struct store_thread_config *c,
                     OWN struct store_thread **ret);
/* Never waits, never fails. */
void store_thread_post(struct store_thread *k, struct store_job *j);
/* Calls `done` of all jobs that are. */
void store_thread_drain(struct store_thread *k);
/* There is as much as should be kept in memory: whoever reads records from
 * workers stops until store_thread_drain has changed that. Posts are still
 * taken. */
bool store_thread_is_full(const struct store_thread *k);
/* Runs what was posted, calls all `done`, makes all durable, closes the store.
 * What `done` posts is run too. NULL is fine. */
void store_thread_free(OWN struct store_thread *k);

DEFINE_CLEANUP(struct store_thread *, store_thread_free)

#endif
