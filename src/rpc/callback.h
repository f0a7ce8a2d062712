/* Requests of ours to the client, with ids "cb_<n>". */
#ifndef RPC_CALLBACK_H
#define RPC_CALLBACK_H

#include "base/json.h"

#include <stdbool.h>
#include <stdint.h>

struct server;

#define CALLBACK_PREFIX "cb_" /* of the ids */

/* Called once, on the loop, with the client's result; or with NULL and the
 * reason in `error` if there is none in time. */
typedef void callback_done(void *arg, const struct json *result,
                           const char *error);
/* Sends {"id":"cb_<n>","method":method,"params":params}. deadline_ns 0: never.
 * done may be called before this returns. */
void callback_send(struct server *srv, const char *method,
                   const struct buf *params, int64_t deadline_ns,
                   callback_done *done, void *arg);
/* Calls `done` on the loop at the deadline, without a request to the client.
 * Returns a number for callback_forget, or 0 if there is no memory. */
uint64_t callback_after(struct server *srv, int64_t deadline_ns,
                        callback_done *done, void *arg);
/* Removes it. False: `done` was called or will be. */
bool callback_forget(struct server *srv, uint64_t number);
/* Handles the answer to such a request. False: the object is none. */
bool callback_reply(struct server *srv, const struct json *object);
/* Ends requests whose time is over, or all. Returns the next deadline, or 0. */
int64_t callback_expire(struct server *srv, bool all);

#endif
