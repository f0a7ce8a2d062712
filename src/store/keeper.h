/* The thread of a store: jobs go in on the loop's thread, run on the keeper's,
 * and are done on the loop's thread again.
 *
 * Group commit: all jobs that wait when the thread comes are one transaction
 * and one fdatasync; only then they are done. A job that fails leaves nothing
 * behind and does not disturb the others; if the transaction fails, all of its
 * jobs fail with that error. Jobs run in the order in which they were posted,
 * but those that only read run after the writes of their group: a read sees
 * what was posted before it, and perhaps some of what was posted after it. */
#ifndef STORE_KEEPER_H
#define STORE_KEEPER_H

#include "base/list.h"
#include "base/own.h"
#include "store/store.h"

struct keeper;

enum keeper_kind {
    KEEPER_WRITE,    /* done when it is durable */
    KEEPER_INTERVAL, /* done when it is safe from a kill of this process,
                      * durable within the configured time */
    KEEPER_READ,     /* writes nothing */
};

/* Belongs to who posts it, usually as the first member of something larger, and
 * stays where it is from keeper_post until `done`. */
struct keeper_job {
    enum keeper_kind kind;
    /* On the keeper's thread. Calls functions of store.h, not store_begin,
     * store_end, store_undo, store_tidy; 0 or the first error. */
    int (*run)(struct store *s, struct keeper_job *j);
    /* On the loop's thread, from keeper_drain or keeper_free; may free the job
     * and post others. */
    void (*done)(struct keeper_job *j, int error);
    /* The disk is full: may it use the store's reserve, because it makes space?
     * On the keeper's thread. NULL: no. `run` is then called again. */
    bool (*may_use_reserve)(struct store *s, struct keeper_job *j);
    size_t bytes; /* it keeps in memory until it is done */
    /* for `done`, if error is not 0 */
    char why[STORE_WHY_BYTES];
    /* the keeper's own */
    struct list link;
    int error;
    bool is_off; /* not in this transaction */
};

struct keeper_config {
    uint32_t interval_ms; /* of KEEPER_INTERVAL; 0: 200 */
    size_t bytes_max;     /* of jobs at which keeper_is_full; 0: 16 MiB */
    int wake_hfd;         /* an eventfd, written when keeper_drain has to be
                           * called; borrowed */
    /* From keeper_drain: jobs of KEEPER_INTERVAL that were done have not
     * become durable; what they wrote may be lost if the host goes down. */
    void (*doubt)(void *arg, int error, const char *why);
    void *arg;
};

/* Starts the thread. The store is the keeper's until keeper_free, which frees
 * it; on failure it is freed too. -ENOMEM, -EAGAIN. */
int keeper_new(OWN struct store *s, const struct keeper_config *c,
               OWN struct keeper **ret);
/* Never waits, never fails. */
void keeper_post(struct keeper *k, struct keeper_job *j);
/* Calls `done` of all jobs that are. */
void keeper_drain(struct keeper *k);
/* There is as much as should be kept in memory: whoever reads records from
 * workers stops until keeper_drain has changed that. Posts are still taken. */
bool keeper_is_full(const struct keeper *k);
/* Runs what was posted, calls all `done`, makes all durable, closes the store.
 * What `done` posts is run too. NULL is fine. */
void keeper_free(OWN struct keeper *k);

DEFINE_CLEANUP(struct keeper *, keeper_free)

#endif
