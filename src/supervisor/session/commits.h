/* The commit stream of a life: records of the worker on their way to the store.
 *
 * Problem: the answer to a request promises that its effects are durable, but a
 * sync for each request would be slow. Workers are not trusted, and may send
 * more than fits into memory.
 *
 * Idea: the records are checked, cut into parts, and committed by one job at a
 * time for each session. No commit can therefore follow one that failed. The
 * parts that arrive in the meantime become one job again: many requests, one
 * transaction. Answers wait in worker_link.c until the store has their
 * commit. */
#ifndef SUPERVISOR_COMMITS_H
#define SUPERVISOR_COMMITS_H

#include "base/list.h"
#include "store/state_check.h"
#include "supervisor/common/reactor.h"

struct commit_job;
struct life;
struct supervisor;

enum commits_state {
    COMMITS_CLOSED,
    COMMITS_OPEN,
    COMMITS_REJECTED, /* a commit failed: nothing more is read or saved */
};

/* The stream of one life. `complete` is the newest commit whose end frame has
 * arrived, and `committed` the newest one that the store has; both are the
 * worker's own count. */
struct commit_stream {
    enum commits_state state;
    struct source source; /* also of state_load.h */
    struct state_check check;
    struct list parts; /* of commits, not posted */
    size_t part_bytes;
    struct commit_job *job;       /* posted */
    uint64_t complete, committed; /* the worker's count */
};

/* Initialises a closed stream. */
void commits_init(struct commit_stream *c);
/* Begins to read from the socket for records of the life's worker. -errno. */
int commits_open(struct life *l);
/* Stops reading and drops the parts that were not posted. The store discards
 * the parts of an unfinished commit. Accepts a stream that is closed. */
void commits_close(struct life *l);
/* Reads the records that have arrived, and posts a commit unless one is in
 * progress. May end the life. */
void commits_read(struct life *l);
/* Updates the events that the event loop waits for: input only while there is
 * space for it. */
void commits_watch(struct life *l);
/* Called when the store thread accepts records again. */
void commits_go_on(struct supervisor *sv);

#endif
