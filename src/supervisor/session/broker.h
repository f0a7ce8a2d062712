/* The broker of a life: the process that connects for its worker.
 *
 * The worker sends requests into a socket, whose other end is ours. We hold it
 * while no broker runs. The first request starts one, which inherits our end
 * and reads the request. The worker therefore needs no descriptor later, and
 * does not wait for us. If the broker dies, the worker gets a message on the
 * same socket, and the next request starts another one. */
#ifndef SUPERVISOR_SESSION_BROKER_H
#define SUPERVISOR_SESSION_BROKER_H

#include "base/list.h"
#include "base/own.h"
#include "supervisor/common/reactor.h"

#include <sys/types.h>

struct call;
struct life;

struct life_broker {
    pid_t pid; /* 0: it does not run */
    int policy_hfd;
    struct source on_request, on_report, on_pid;
    struct reactor_timer pause; /* after a broker that died */
    bool was_told;              /* the worker knows of its network */
    bool is_on;                 /* as in the last network.set */
    struct list waiting;        /* calls: until the worker has answered */
    struct list connections;
    uint64_t bytes; /* of connections that were closed */
};

void life_broker_init(struct life_broker *k);
/* Begins to serve the worker, if its session has a network or forwards. May be
 * called again: the worker and the broker get the policy as it is now. */
void life_broker_update(struct life *l);
/* The worker has answered network.set. error: NULL, or its text. */
void life_broker_answered(struct life *l, const char *error);
/* Ends a call whose answer was begun, when the worker has the policy. */
void life_broker_finish(struct life *l, OWN struct call *q);
/* Ends the broker and all connections. The worker may be gone. */
void life_broker_close(struct life *l);
/* Passes a connection of a preview to a port of the sandbox, like
 * life_broker_deliver. */
void life_broker_preview(struct life *l, uint16_t port, int hfd);
/* Passes a connection from outside to a port of the sandbox. The descriptor
 * stays with the caller. */
void life_broker_deliver(struct life *l, uint16_t port, int hfd);

#endif
