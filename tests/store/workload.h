/* Random work on a store, and what must be there after it. */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include "world.h"

enum { WORKLOAD_SESSIONS = 10, WORKLOAD_STATES = 24 };

struct state {
    struct model_session sessions[WORKLOAD_SESSIONS];
};

struct workload {
    struct world world;
    uint32_t random;
    unsigned n_ids;
    /* What was durable before the last step, then what came after it, then
     * what the store has now. */
    struct state states[WORKLOAD_STATES];
    unsigned n;
    bool is_durable; /* what the store has now */
    /* What the last step that failed would have made. It was not acknowledged,
     * but may be in the log, and thus be there after a loss of power, or when
     * the store is opened again. */
    struct state failed;
    bool may_reopen; /* steps may close and open the store */
    struct buf frames;
};

void workload_init(struct workload *w, const struct store_options *o,
                   uint32_t seed);
void workload_fini(struct workload *w);
/* One step; an error of the store, after which nothing of it is there. */
int workload_step(struct workload *w);
/* What the store has now. */
const struct state *workload_now(const struct workload *w);
bool state_is(struct store *s, const struct state *t);
/* The store has one of the states since what was durable. */
bool workload_has(const struct workload *w, struct store *s);
/* Nothing is found by fsck; prints what is. */
bool fsck_is_clean(struct store *s);

#endif
