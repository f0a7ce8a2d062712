/* Loading a worker: the session's state is read from the store in pieces, each
 * when the worker has taken most of the last one. A state that is damaged is
 * repaired and loaded again, once.
 *
 *   none ─▸ waiting ⇄ reading ─▸ none
 *                        └─▸ repairing ─▸ forgetting ─▸ (again) waiting
 *                               └─▸ forgotten ─────────────┘
 *
 * The repair by the store and the worker's answer that it has forgotten the
 * first attempt come in either order; loading goes on when both are there. */
#ifndef SUPERVISOR_STATE_LOAD_H
#define SUPERVISOR_STATE_LOAD_H

#include "wire/outbox.h"

#include <stdbool.h>

struct life;
struct load_job;

enum load_phase {
    LOAD_NONE,       /* nothing is to be loaded, or everything was */
    LOAD_WAITING,    /* for the worker to take the last piece */
    LOAD_READING,    /* the store reads the next piece */
    LOAD_REPAIRING,  /* the store repairs; the worker is to forget */
    LOAD_FORGETTING, /* the store has repaired; the worker is to forget */
    LOAD_FORGOTTEN,  /* the worker has forgotten; the store repairs */
};

struct state_load {
    enum load_phase phase;
    unsigned n_repairs;
    struct load_job *job;
    struct outbox out;
};

/* Sends the state that the store has. */
void state_load_begin(struct life *l);
/* Goes on when the worker has taken enough. */
void state_load_more(struct life *l);
void state_load_close(struct life *l);
/* A job of the store is under way. */
bool state_load_is_busy(const struct life *l);

#endif
