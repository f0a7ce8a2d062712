/* The sender of requests: a connection of the Unix socket, or one HTTP request.
 * All functions run on the loop's thread.
 *
 * A transport embeds a struct client, passes lines to client_line, and sends
 * answers and notifications. Memory is bounded from both sides. While too many
 * requests have no answer, lines wait unparsed, up to a size beyond which they
 * are rejected. Producers of output wait while the client is behind. */
#ifndef SUPERVISOR_CLIENT_H
#define SUPERVISOR_CLIENT_H

#include "base/list.h"
#include "wire/backlog.h"

#include <stdbool.h>
#include <stddef.h>

struct call;
struct client;
struct supervisor;

struct client_ops {
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
    struct list calls; /* without an answer */
    size_t n_calls;
    size_t call_bytes;      /* of their lines */
    struct backlog waiting; /* lines behind too many calls */
    size_t n_urgent;        /* calls that overtook these while it is behind */
    size_t n_over; /* not 0: the line is rejected, because this many wait */
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
/* True if so much waits, without the client reading any answer, that no more
 * lines are accepted. */
bool client_is_stuck(const struct client *c);
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
