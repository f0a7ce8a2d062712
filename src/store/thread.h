/* The thread of a store: jobs are posted on the loop's thread, run on the store
 * thread, and are completed on the loop's thread.
 *
 * Group commit: all jobs that wait when the thread becomes free are one
 * transaction and one fdatasync; only then are they done. A job that fails
 * leaves nothing behind and does not affect the others. If the transaction
 * fails, all of its jobs fail with that error. Jobs run in the order of
 * posting, but those that only read run after the writes of their group. A read
 * sees everything that was posted before it, and perhaps some later writes. */
#ifndef STORE_THREAD_H
#define STORE_THREAD_H

#include "base/list.h"
#include "base/own.h"
#include "store/store.h"

struct store_thread;

enum store_job_kind {
    STORE_JOB_WRITE,    /* done when durable */
    STORE_JOB_INTERVAL, /* done when it survives a kill of this process, durable
                         * within the configured time */
    STORE_JOB_READ,     /* writes nothing */
};

/* Belongs to the poster, usually as the first member of a larger structure, and
 * stays in place from store_thread_post until `done`. */
struct store_job {
    enum store_job_kind kind;
    /* On the store thread. Calls functions of store.h, except store_begin,
     * store_end, store_undo and store_tidy. Returns 0 or the first error. */
    int (*run)(struct store *s, struct store_job *j);
    /* On the loop's thread, from store_thread_drain or store_thread_free; may
     * free the job and post others. */
    void (*done)(struct store_job *j, int error);
    /* On a full disk: returns true if the job may use the store's reserve,
     * because it frees space. On the store thread. `run` is then called again.
     * NULL: no. */
    bool (*may_use_reserve)(struct store *s, struct store_job *j);
    size_t bytes; /* kept in memory until it is done */
    /* for `done`, if error is not 0 */
    char why[STORE_WHY_BYTES];
    /* the store thread's own */
    struct list link;
    int error;
    bool is_off; /* not in this transaction */
};

/* The configuration of the thread; it is copied. */
struct store_thread_config {
    uint32_t interval_ms; /* of STORE_JOB_INTERVAL; 0: 200 */
    size_t bytes_max;     /* of jobs, for store_thread_is_full; 0: 16 MiB */
    int wake_hfd; /* an eventfd, written when store_thread_drain must be called;
                   * borrowed */
    /* From store_thread_drain: completed jobs of STORE_JOB_INTERVAL have not
     * become durable, and may be lost if the host goes down. */
    void (*doubt)(void *arg, int error, const char *why);
    void *arg;
};

/* Starts the thread. It uses the store until store_thread_free, which frees it;
 * on failure it is freed too. -ENOMEM, -EAGAIN. */
int store_thread_new(OWN struct store *s, const struct store_thread_config *c,
                     OWN struct store_thread **ret);
/* Never waits, never fails. */
void store_thread_post(struct store_thread *k, struct store_job *j);
/* Calls `done` of all completed jobs. */
void store_thread_drain(struct store_thread *k);
/* True if no more should be kept in memory: readers of records stop until
 * store_thread_drain has changed that. Posting is still possible. */
bool store_thread_is_full(const struct store_thread *k);
/* Runs all posted jobs, calls all `done`, makes everything durable and closes
 * the store. Jobs that `done` posts run too. Accepts NULL. */
void store_thread_free(OWN struct store_thread *k);

DEFINE_CLEANUP(struct store_thread *, store_thread_free)

#endif
