/* A peer: the sender of requests, as the core of both programs sees it.
 *
 * A front end puts a struct peer into its object for a client and passes lines
 * to peer_line. The core finds the method, makes a call of each request, and
 * hands it to the front end. Answers come back through the table below. One
 * thread at a time passes lines; calls may be answered on any thread.
 *
 * Problem: the number of calls in progress must be bounded, but a front end
 * cannot just stop reading. A request to cancel, an answer to a request of ours
 * or the end of input may be the event that all others wait for.
 *
 * Idea: as many requests as allowed are parsed and served. Further lines wait
 * unparsed (backlog.h), and the front end continues to read; urgent lines are
 * served at once. Memory stays bounded: a line beyond the size of the backlog
 * is rejected. If the peer does not read these answers either, it is stuck, and
 * the front end reads nothing more from it. */
#ifndef WIRE_PEER_H
#define WIRE_PEER_H

#include "wire/backlog.h"
#include "wire/call.h"

#include <stdatomic.h>

/* The delivery table of a front end. */
struct peer_ops {
    /* While this many calls are in progress, or this many bytes of their lines,
     * further lines wait. */
    size_t calls_max, bytes_max;
    size_t urgent_max; /* served for a peer that does not read */

    /* A line was parsed, and its calls follow. NULL: not of interest. */
    void (*parsed)(struct peer *p, const struct json *line);
    /* Returns a call in an object of the front end, filled with zeros. NULL: no
     * memory. */
    struct call *(*alloc)(struct peer *p);
    /* Serves a call: the method exists, and params is an object or NULL. */
    void (*serve)(OWN struct call *q);
    /* Gets a call with its complete answer, and calls answer_send, at once or
     * later. */
    void (*finish)(OWN struct call *q);
    /* Frees the object of the front end. */
    void (*free)(OWN struct call *q);
    /* A call has been answered and freed. */
    void (*answered)(struct peer *p);

    /* Sends an answer or a notification, with its newline. may_wait: the caller
     * can wait while the peer is far behind. */
    void (*send)(struct peer *p, const char *line, size_t len, bool may_wait);
    /* True if the peer does not read fast enough. */
    bool (*is_behind)(struct peer *p);

    /* Gets an object without "jsonrpc", of another protocol. NULL: such an
     * object is an invalid request. */
    void (*other)(struct peer *p, struct message *msg,
                  const struct json *object);
    /* Gets an object that is no request, and returns true if it answers a
     * request of ours. NULL: there are no such requests. */
    bool (*reply)(struct peer *p, const struct json *object);
    /* The beginning of the ids of such requests; NULL: none. */
    const char *reply_prefix;
};

struct peer {
    const struct peer_ops *ops;
    const struct method_table *methods;
    atomic_size_t n_calls;    /* without an answer */
    atomic_size_t call_bytes; /* of their lines */
    /* of the thread that passes lines */
    struct backlog waiting; /* lines behind too many calls */
    size_t n_urgent;        /* served in a row while the peer is behind */
    size_t n_over; /* not 0: the line is rejected, because this many wait */
    bool is_line;  /* the protocol of the last valid line */
    bool has_one;  /* sends a single line, which never waits */
};

void peer_init(struct peer *p, const struct peer_ops *ops,
               const struct method_table *methods);
void peer_fini(struct peer *p);

/* Serves a line without its newline, lets it wait, or rejects it. Answers may
 * come before this returns. */
void peer_line(struct peer *p, const char *line, size_t len);
/* Serves one waiting line if that is allowed. False: there is none. */
bool peer_take_waiting(struct peer *p);
/* True if so much is in progress that lines have to wait. A peer that does not
 * read its answers counts as full as well. Otherwise its answers, which no
 * other limit counts, would fill the memory. */
static inline bool
peer_is_full(struct peer *p)
{
    return p->n_calls >= p->ops->calls_max ||
           p->call_bytes >= p->ops->bytes_max || p->ops->is_behind(p);
}
/* True if so much waits, without the peer reading any answer, that nothing more
 * is to be read from it. */
static inline bool
peer_is_stuck(struct peer *p)
{
    return p->waiting.is_full && p->ops->is_behind(p);
}
/* Answers a line that was longer than `limit` bytes and was skipped. */
void peer_too_large(struct peer *p, size_t limit);

/* A run whose line waits. */
struct waiting_run {
    const char *id;    /* as JSON; NULL: the oldest that is wanted */
    const char *scope; /* the name of its sandbox or session */
    bool (*is_wanted)(const void *arg, const struct method *m,
                      const struct json *params);
    const void *arg;
};
/* Marks it as cancelled (backlog_was_cancelled). False: none such waits. */
bool peer_cancel_waiting(struct peer *p, const struct waiting_run *w);

/* --- for front ends with a protocol of their own */

/* Passes a new call, counted as in progress, to the front end, or rejects it.
 * Takes a reference to msg. Without memory, the peer gets an error. */
void peer_call(struct peer *p, struct message *msg, const struct method *m,
               const struct json *params, OWN char *id);
/* Answers an object that is not a call, also in a batch, in the protocol of the
 * last valid line. msg: NULL if there is none. id: as JSON, or NULL. */
void peer_refuse(struct peer *p, struct message *msg, const char *id, int code,
                 const char *text);
/* Like peer_refuse, in the line protocol. */
void peer_refuse_line(struct peer *p, const char *type, const char *id,
                      const char *text);

#endif
