/* The client's end of the socket to the supervisor. Calls block.
 *
 * Requests are numbered, so that several may be under way. Notifications that
 * arrive while one waits for an answer go to a callback. */
#ifndef CLI_LINK_H
#define CLI_LINK_H

#include "base/json.h"
#include "base/own.h"
#include "wire/frame.h"

/* One connection. Only one thread uses it. */
struct link {
    int hfd;
    struct frame in;
    int64_t last_id; /* of the newest request */
    /* Called for each notification while waiting for an answer. */
    void (*notified)(void *arg, const struct json *params);
    void *arg;
};

/* Connects; waits up to `wait_ms` for a starting supervisor. -errno: none is
 * listening there. */
int link_open(struct link *k, const char *socket, int wait_ms);
/* Closes the connection. The supervisor then hangs up terminals of this
 * client. */
void link_close(struct link *k);
/* Sends a request and returns its id. `params` is an object without its closing
 * brace, and is freed. */
int64_t link_send(struct link *k, const char *method, struct buf *params);
/* Reads at least one line. 0: the end, or -errno. */
int link_read(struct link *k);
/* Returns the next message that was read, which the caller frees; false: there
 * is none. */
bool link_next(struct link *k, struct json_doc *ret);
/* Returns the answer to a request if it was read; messages before it are
 * consumed. */
bool link_find(struct link *k, int64_t id, struct json_doc *ret);
/* Returns the answer to a request: an object with `result` or `error`. False:
 * the supervisor closed the connection. */
bool link_wait(struct link *k, int64_t id, struct json_doc *ret);

#endif
