/* The link of a life to its worker: lines of JSON-RPC in both directions. A
 * worker is not trusted: it is ended by any line that is neither an answer nor
 * output. */
#ifndef SUPERVISOR_WORKER_LINK_H
#define SUPERVISOR_WORKER_LINK_H

#include "base/list.h"
#include "base/own.h"
#include "base/text.h"
#include "supervisor/common/reactor.h"
#include "wire/frame.h"
#include "wire/outbox.h"

struct buf;
struct call;
struct client;
struct life;

/* Numbers of our own requests to a worker; those of calls are above. */
enum {
    ASK_CREATE = 1,
    ASK_LOAD,
    ASK_LEAVE,
    ASK_CANCEL,
    ASK_HANG_UP,
    ASK_WINDOW,
    ASK_NETWORK,
    ASK_LAST = ASK_NETWORK
};

enum link_state {
    LINK_CLOSED,
    LINK_OPEN,
    LINK_REJECTED, /* the worker broke the protocol: nothing more is read */
};

/* The link of one life. Calls are in `open` from sending to the answer, and in
 * `held` from there until the store has their commit. */
struct worker_link {
    enum link_state state;
    struct source source;
    struct frame in;
    struct outbox out;
    uint64_t last_number;
    uint32_t n_asked[ASK_LAST + 1]; /* without an answer */
    uint64_t leave_commit;          /* of ASK_LEAVE; 0: not answered yet */
    struct list open;               /* calls that the worker has */
    struct list held;               /* calls whose answers wait for a commit */
    size_t held_bytes;
    struct list routes; /* output.h */
    size_t n_routes;
    struct list stall; /* in client->stalled */
};

/* Initialises a closed link. */
void worker_link_init(struct worker_link *k);
/* Begins to exchange lines with the life's worker. -errno. */
int worker_link_open(struct life *l);
/* Accepts a link that is closed. */
void worker_link_close(struct life *l);
/* Makes the worker cancel the run of this number. */
void worker_link_cancel(struct life *l, uint64_t number);
/* Sends a request of our own. */
void worker_link_ask(struct life *l, uint64_t number, const char *method,
                     const struct buf *params);
/* Sends the call to the worker, under a number of ours. With `follow`, the
 * worker is asked to commit instead. */
void worker_link_send_call(struct life *l, OWN struct call *q);
/* Reads all available lines. */
void worker_link_read(struct life *l);
/* Sets the events to wait for. */
void worker_link_watch(struct life *l);
/* Answers the calls whose commit is in the store. */
void worker_link_release(struct life *l);
/* Fails the calls that the worker has not answered, or whose commit the store
 * does not have. */
void worker_link_interrupt(struct life *l);
/* Returns the call that the worker has under this number, or NULL. */
struct call *worker_link_find_open(const struct life *l, uint64_t number);
/* The client reads again: resumes reading from workers that waited for it. */
void worker_link_go_on(struct client *c);

#endif
