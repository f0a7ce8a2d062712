/* Output that processes of a session write while they run, for the client that
 * started them.
 *
 * A run's output belongs to its call. A process outlives the call that started
 * it, so a route remembers its client until the process has ended, the client
 * is gone, or there are too many routes. */
#ifndef SUPERVISOR_OUTPUT_H
#define SUPERVISOR_OUTPUT_H

#include "base/text.h"

struct call;
struct client;
struct life;

/* Sends the output of the process that q started to q's client. */
void output_add_route(struct life *l, const struct call *q, struct text result);
/* Called when the end of a process was reported: it writes no more. */
void output_end_route(struct life *l, const struct call *q);
/* Removes all routes, at the end of a life. */
void output_end_routes(struct life *l);
/* Passes a notification of the worker; `params` is an object. */
void output_pass(struct life *l, struct text params);
/* Stops sending output to the client. */
void output_forget_client(struct client *c);

#endif
