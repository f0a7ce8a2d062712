/* A client of the supervisor: a connection of the Unix socket, or one HTTP
 * request. All functions run on the loop's thread.
 *
 * A transport embeds a struct client, passes lines to client_line, and sends
 * answers and notifications. Memory is bounded from both sides: lines wait
 * while too many calls have no answer (wire/peer.h), and producers of output
 * wait while the client is behind. */
#ifndef SUPERVISOR_CLIENT_H
#define SUPERVISOR_CLIENT_H

#include "wire/peer.h"

struct client;
struct supervisor;

struct client_ops {
    /* The line was parsed, and its calls follow. May be NULL. */
    void (*parsed)(struct client *c, const struct json *line);
    /* Sends a line, given without its newline: an answer or a notification.
     * Never waits, never fails; must not call client_gone. */
    void (*send)(struct client *c, const char *line, size_t len);
    /* True if the client does not read fast enough. Streams to it stop until
     * client_caught_up. */
    bool (*is_behind)(const struct client *c);
    /* Waiting lines can be served: client_take_waiting must be called soon, but
     * not from within. NULL: the client has a single line. */
    void (*again)(struct client *c);
    /* Called after every answer that leaves no request open; may call
     * client_gone. May be NULL. */
    void (*settled)(struct client *c);
    /* Called when nothing refers to the client any more. */
    void (*free)(struct client *c);
};

struct client {
    struct list link; /* in supervisor.clients */
    struct supervisor *sv;
    const struct client_ops *ops;
    struct peer peer;
    bool is_gone;
    bool takes_no_output; /* gets answers, but no notifications */
    bool is_busy;         /* must not be freed now */
    struct list stalled;  /* workers that wait until it has caught up */
};

void client_init(struct client *c, struct supervisor *sv,
                 const struct client_ops *ops);
/* A line of input: a request or a batch, without the newline. Answers may come
 * before this returns. */
void client_line(struct client *c, const char *line, size_t len);
/* Serves as many waiting lines as allowed. */
void client_take_waiting(struct client *c);
/* Cancels the run that q names, if its line waits; then q is answered. */
bool client_cancel_waiting(OWN struct call *q);
/* Called for a line that was too long and was skipped. */
void client_too_large(struct client *c, size_t limit);
/* Called when the client is no longer behind. */
void client_caught_up(struct client *c);
/* The connection has ended. Requests in progress continue, and their answers
 * are dropped. ops->free follows when nothing refers to the client, perhaps at
 * once. */
void client_gone(struct client *c);

#endif
