/* Between clients and sessions. */
#ifndef SUPERVISOR_ROUTE_H
#define SUPERVISOR_ROUTE_H

#include "base/own.h"

struct call;
struct client;

/* To its handler or its session. */
void route_call(OWN struct call *q);
/* Workers that waited for the client send again. */
void route_go_on(struct client *c);
/* Output goes to it no more. */
void route_forget_client(struct client *c);

#endif
