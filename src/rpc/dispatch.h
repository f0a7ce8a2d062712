/* From calls to handlers and slots; on the loop only. */
#ifndef RPC_DISPATCH_H
#define RPC_DISPATCH_H

#include "rpc/job.h"

/* Checks a call and passes it to its handler or its slot. */
void dispatch_call(OWN struct call *q);
/* Serves an object without "jsonrpc": a request of the line protocol. */
void dispatch_other(struct peer *p, struct message *msg,
                    const struct json *object);

/* The number of a sandbox from its name ("12"). 0: no sandbox has that name. */
uint64_t dispatch_sandbox_id(struct text name);

#endif
