/* The other end of the socket: a client of the supervisor, which waits. */
#ifndef CLI_LINK_H
#define CLI_LINK_H

#include "base/own.h"
#include "wire/frame.h"

#include <jansson.h>

struct link {
    int hfd;
    struct frame in;
    json_int_t last_id;
    /* Each notification, while an answer is waited for. */
    void (*notified)(void *arg, const json_t *params);
    void *arg;
};

/* Connects; waits up to `wait_ms` for a supervisor that is being started.
 * -errno: none serves there. */
int link_open(struct link *k, const char *socket, int wait_ms);
void link_close(struct link *k);
/* Sends a request; its id. */
json_int_t link_send(struct link *k, const char *method, OWN json_t *params);
/* Reads what is there, at least one line. 0: the end, or -errno. */
int link_read(struct link *k);
/* The next message that was read, or NULL. */
OWN json_t *link_next(struct link *k);
/* The answer to a request if it was read; what came before it is done with. */
OWN json_t *link_find(struct link *k, json_int_t id);
/* The answer to a request: an object with `result` or `error`. NULL: the
 * supervisor is gone. */
OWN json_t *link_wait(struct link *k, json_int_t id);

#endif
