/* A call of a client of the supervisor, on its way to a session and back. */
#ifndef SUPERVISOR_CALL_H
#define SUPERVISOR_CALL_H

#include "supervisor/session/client.h"
#include "wire/call.h"

struct session;

enum { SESSION_ERROR = 2 }; /* the code for a session in another state */

struct routing {
    struct call call; /* its link: in one of the session's lists */
    struct session *session;
    uint64_t number; /* its id at the worker, or a number for a handler */
    uint64_t commit; /* its answer waits for this commit; 0: for none */
    /* The worker is asked to commit, and this runs when the store has the
     * commit. NULL: the worker serves the call itself. */
    void (*follow)(struct call *q);
    int64_t begun_ns;
    bool has_failed; /* the answer is an error of the worker */
};

static inline struct routing *
routing_of(const struct call *q)
{
    return CONTAINER_OF(q, struct routing, call);
}

static inline struct client *
client_of(const struct call *q)
{
    return CONTAINER_OF(q->peer, struct client, peer);
}

#endif
