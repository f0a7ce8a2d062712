/* The commit stream of a life: records of the worker on their way to the store.
 *
 * The records are checked, cut into parts, and committed by one job at a time
 * for each session. So no commit can follow one that failed. The parts that
 * come in the meantime are one job again: many requests, one transaction. */
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

struct commit_stream {
    enum commits_state state;
    struct source source; /* also of state_load.h */
    struct state_check check;
    struct list parts; /* of commits, not posted */
    size_t part_bytes;
    struct commit_job *job;       /* posted */
    uint64_t complete, committed; /* the worker's count */
};

void commits_init(struct commit_stream *c);
int commits_open(struct life *l);
/* Accepts a stream that is closed. */
void commits_close(struct life *l);
/* Reads the records that are there. */
void commits_read(struct life *l);
/* Waits for the events that are wanted now. */
void commits_watch(struct life *l);
/* Called when the store thread accepts records again. */
void commits_go_on(struct supervisor *sv);

#endif
