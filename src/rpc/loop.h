/* The event loop, and work that other threads leave to it. */
#ifndef RPC_LOOP_H
#define RPC_LOOP_H

#include "base/list.h"

struct server;

/* Work for the loop. It is a member of the object that it is about, so that
 * posting it cannot fail. */
struct work;
typedef void work_fn(struct work *w);
struct work {
    struct list link;
    work_fn *run;
};

/* Has w->run called on the loop. `w` is in an object that lives until then. */
void loop_post(struct server *srv, struct work *w, work_fn *run);
void loop_wake(struct server *srv);
/* Serves until every call has its answer, except `kill`. */
void loop_run(struct server *srv, int in_hfd);
/* Sends the rest of the output, as far as the client reads it. */
void loop_drain(struct server *srv);

#endif
