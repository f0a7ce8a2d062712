/* Whoever sends requests and gets answers: a connection of the Unix socket, or
 * one HTTP request. All of this happens on the loop's thread.
 *
 * A transport embeds a struct client, gives it lines with client_line, and
 * sends what it is told to. Memory is bounded from both sides: while too much
 * that was asked has no answer, lines wait unparsed, up to a size beyond which
 * they are refused; and whoever produces output waits while the client is
 * behind. */
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
    /* More was sent than it reads. Whoever streams to it stops until
     * client_caught_up. */
    bool (*is_behind)(const struct client *c);
    /* There is room for lines that wait: client_take_waiting is to be called
     * soon, not from within. NULL: it gives one line only. */
    void (*again)(struct client *c);
    /* Everything that was asked has been answered. Called after every answer
     * that leaves none open; may call client_gone. NULL: nothing to do. */
    void (*settled)(struct client *c);
    /* Nothing refers to it any more. */
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
    size_t n_urgent;        /* calls that overtook them while it is behind */
    size_t n_over; /* not 0: the line is refused, so many wait already */
    bool is_gone;
    bool takes_no_output; /* it gets answers, and no notifications */
    bool is_busy;         /* not to be freed now */
    struct list stalled;  /* workers that wait until it has caught up */
};

void client_init(struct client *c, struct supervisor *sv,
                 const struct client_ops *ops);
/* A line of input: a request or a batch, without the newline. Answers may come
 * before this returns. */
void client_line(struct client *c, const char *line, size_t len);
/* Serves lines that wait, as many as there is room for. */
void client_take_waiting(struct client *c);
/* So much waits, without the client reading any answer, that it shall give no
 * more lines. */
bool client_is_stuck(const struct client *c);
/* Cancels the run that q asks for, if its line waits. q is answered then. */
bool client_cancel_waiting(OWN struct call *q);
/* A line that was too long, and was skipped. */
void client_too_large(struct client *c, size_t limit);
/* It was behind and is not any more. */
void client_caught_up(struct client *c);
/* The connection is over. What was asked goes on, answers are dropped;
 * ops->free follows as soon as nothing refers to the client, perhaps at once.
 */
void client_gone(struct client *c);

#endif
