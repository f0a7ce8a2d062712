/* Bytes that a descriptor did not take yet. Never waits. */
#ifndef WIRE_OUTBOX_H
#define WIRE_OUTBOX_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

enum { OUTBOX_BEHIND_BYTES = 1 << 20 };

struct outbox {
    int hfd; /* non-blocking, or one that takes all; borrowed */
    struct buf queue;
    size_t sent;    /* of the queue */
    bool is_broken; /* nobody reads any more, or no memory */
    int error;      /* errno of that, or 0 */
    /* Takes all bytes instead of the descriptor. NULL: there is one */
    void (*deliver)(void *arg, const char *bytes, size_t len);
    void *deliver_arg;
};

void outbox_init(struct outbox *o, int hfd);
void outbox_fini(struct outbox *o);
/* Sends, and queues the rest. */
void outbox_put(struct outbox *o, const void *p, size_t len);
/* The same for a line, given without its newline. */
void outbox_put_line(struct outbox *o, const char *line, size_t len);
/* Sends queued bytes, as far as the descriptor accepts them. */
void outbox_flush(struct outbox *o);

static inline size_t
outbox_queued(const struct outbox *o)
{
    return o->queue.len - o->sent;
}

/* Returns true if the reader is far behind. Producers of output wait then. */
static inline bool
outbox_is_behind(const struct outbox *o)
{
    return outbox_queued(o) > OUTBOX_BEHIND_BYTES;
}

#endif
