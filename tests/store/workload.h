/* Random work on a store, and the states that it may have afterwards.
 *
 * After a loss of power, a store must contain one of the states since the last
 * durable one: everything that was acknowledged, and of the rest a prefix. */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include "world.h"

enum { WORKLOAD_SESSIONS = 10, WORKLOAD_STATES = 24 };

/* All sessions of the model at one time. */
struct state {
    struct model_session sessions[WORKLOAD_SESSIONS];
};

struct workload {
    struct world world;
    uint32_t random;
    unsigned n_ids;
    /* The states since the last durable one, the oldest first; the last one is
     * current. */
    struct state states[WORKLOAD_STATES];
    unsigned n;
    /* The current state is durable. */
    bool is_durable;
    /* The result that the last failed step would have had. It was not
     * acknowledged, but may be in the log, and be there after a loss of power
     * or when the store is opened again. */
    struct state failed;
    bool may_reopen; /* steps may close and open the store */
    struct buf frames;
};

void workload_init(struct workload *w, const struct store_options *o,
                   uint32_t seed);
void workload_fini(struct workload *w);
/* Makes one step. Returns an error of the store, after which nothing of the
 * step is there. */
int workload_step(struct workload *w);
/* Returns the current state of the model. */
const struct state *workload_now(const struct workload *w);
bool state_is(struct store *s, const struct state *t);
/* Returns true if the store has one of the states since the last durable
 * one. */
bool workload_has(const struct workload *w, struct store *s);
/* Returns true if fsck finds nothing; otherwise prints its findings. */
bool fsck_is_clean(struct store *s);

#endif
