/* The client's end of the socket to the supervisor; it blocks. */
#ifndef CLI_LINK_H
#define CLI_LINK_H

#include "base/own.h"
#include "wire/frame.h"

#include <jansson.h>

struct link {
    int hfd;
    struct frame in;
    json_int_t last_id;
    /* Called for each notification while waiting for an answer. */
    void (*notified)(void *arg, const json_t *params);
    void *arg;
};

/* Connects; waits up to `wait_ms` for a starting supervisor. -errno: none is
 * listening there. */
int link_open(struct link *k, const char *socket, int wait_ms);
void link_close(struct link *k);
/* Sends a request and returns its id. */
json_int_t link_send(struct link *k, const char *method, OWN json_t *params);
/* Reads at least one line. 0: the end, or -errno. */
int link_read(struct link *k);
/* Returns the next message that was read, or NULL. */
OWN json_t *link_next(struct link *k);
/* Returns the answer to a request if it was read; messages before it are
 * consumed. */
OWN json_t *link_find(struct link *k, json_int_t id);
/* Returns the answer to a request: an object with `result` or `error`. NULL:
 * the supervisor closed the connection. */
OWN json_t *link_wait(struct link *k, json_int_t id);

#endif
