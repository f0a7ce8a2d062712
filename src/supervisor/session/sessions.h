/* Sessions: their states, and the table of those that have not ended.
 *
 *   create ─▸ starting ─▸ active ─▸ paused, stopped ─▸ (resume) starting
 *                 └─▸ error ─▸ (resume) starting
 *   end: from every state to ended, which is the last
 *
 * Every change of state is an event in the store. */
#ifndef SUPERVISOR_SESSIONS_H
#define SUPERVISOR_SESSIONS_H

#include "base/list.h"
#include "supervisor/common/metrics.h"
#include "supervisor/config/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct supervisor;

enum session_state {
#define STATE(name) SESSION_##name,
#include "supervisor/session/states.def"
#undef STATE
    N_SESSION_STATES
};
extern const char *const session_state_names[N_SESSION_STATES];

/* The cause of a change of state. */
enum cause {
#define CAUSE(name, text, what) CAUSE_##name,
#include "supervisor/session/causes.def"
#undef CAUSE
    N_CAUSES
};
extern const char *const cause_names[N_CAUSES];

enum { SESSION_ID_BYTES = 33 }; /* 32 hexadecimal digits and NUL */
enum { METHODS_MAX = 192, REASON_BYTES = 256 };

/* Counts since the start, for metrics. */
struct counters {
    uint64_t entered[N_SESSION_STATES][N_CAUSES]; /* changes of state */
    uint64_t requests, refused; /* including those answered with an error */
    uint64_t routed;            /* to workers */
    uint64_t commits, commit_bytes;
    uint64_t clients;
    struct {
        uint64_t brokers, opened, denied;
        uint64_t sent, received; /* bytes of connections that were closed */
    } network;
    uint64_t answered[METHODS_MAX]
                     [2];    /* by method_index: successful, with an error */
    struct histogram start;  /* from starting to active */
    struct histogram answer; /* of routed requests */
    struct histogram commit; /* until the store has it */
};

/* A hash table by id, and the number of sessions in each state. */
struct sessions {
    struct list *buckets;
    size_t n_buckets;
    size_t n_in_state[N_SESSION_STATES]; /* ended: since the start */
};

#endif
