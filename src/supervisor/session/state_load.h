/* Loads the session's state into a worker. The state is read from the store in
 * pieces, each when the worker has received the main part of the last one. A
 * damaged state is repaired and loaded again, once.
 *
 *   none ─▸ waiting ⇄ reading ─▸ none
 *                        └─▸ repairing ─▸ forgetting ─▸ (again) waiting
 *                               └─▸ forgotten ─────────────┘
 *
 * The repair by the store, and the worker's answer that it has dropped the
 * first attempt, come in either order; loading continues when both are there.
 */
#ifndef SUPERVISOR_STATE_LOAD_H
#define SUPERVISOR_STATE_LOAD_H

#include "wire/outbox.h"

#include <stdbool.h>

struct life;
struct load_job;

enum load_phase {
    LOAD_NONE,       /* nothing to load, or everything was loaded */
    LOAD_WAITING,    /* for the worker to read the last piece */
    LOAD_READING,    /* the store reads the next piece */
    LOAD_REPAIRING,  /* the store repairs; the worker must drop its part */
    LOAD_FORGETTING, /* the store has repaired; the worker must drop its part */
    LOAD_FORGOTTEN,  /* the worker has dropped its part; the store repairs */
};

/* The loading of one state. Part of a life. */
struct state_load {
    enum load_phase phase;
    unsigned n_repairs;
    struct load_job *job;
    struct outbox out;
};

/* Sends the state that the store has. */
void state_load_begin(struct life *l);
/* Continues when the worker has read enough. */
void state_load_more(struct life *l);
/* Frees the rest of a loading. No job of the store may be in progress. */
void state_load_close(struct life *l);
/* True if a job of the store is in progress. */
bool state_load_is_busy(const struct life *l);

#endif
