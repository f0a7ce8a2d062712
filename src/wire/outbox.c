/* A queue of bytes before a descriptor.
 *
 * Bytes are written at once if nothing waits before them, and the rest is
 * queued. An outbox that fails once stays broken: the reader cannot find the
 * beginning of a line any more. */
#include "wire/outbox.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { KEPT_BYTES = 1 << 20 };

void
outbox_init(struct outbox *o, int hfd)
{
    *o = (struct outbox){.hfd = hfd};
    buf_init(&o->queue, SIZE_MAX);
}

void
outbox_fini(struct outbox *o)
{
    buf_fini(&o->queue);
}

static void
outbox_break(struct outbox *o, int errnum)
{
    o->is_broken = true;
    o->error = errnum;
}

/* After `done` bytes of p were sent. */
static void
outbox_queue_rest(struct outbox *o, const char *p, size_t len, size_t done)
{
    if (o->is_broken || done >= len)
        return;
    buf_add(&o->queue, p + done, len - done);
    /* A partly sent line cannot be undone. */
    if (o->queue.error)
        outbox_break(o, ENOMEM);
}

/* The order of bytes is kept: new bytes are queued behind older ones, even if
 * the descriptor could accept them by now. A function takes all of them. */
void
outbox_put(struct outbox *o, const void *p, size_t len)
{
    if (o->deliver) {
        o->deliver(o->deliver_arg, p, len);
        return;
    }
    ssize_t n = outbox_queued(o) || o->is_broken ? 0 : write(o->hfd, p, len);
    if (n == (ssize_t)len)
        return;
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        outbox_break(o, errno);
    outbox_queue_rest(o, p, len, n > 0 ? (size_t)n : 0);
}

/* In one go, so that whoever reads wakes once. */
void
outbox_put_line(struct outbox *o, const char *line, size_t len)
{
    struct iovec v[] = {{(char *)line, len}, {"\n", 1}};
    ssize_t n = outbox_queued(o) || o->is_broken ? 0 : writev(o->hfd, v, 2);
    size_t done = n > 0 ? (size_t)n : 0;

    if (n < 0 && errno != EAGAIN && errno != EINTR)
        outbox_break(o, errno);
    outbox_queue_rest(o, line, len, done);
    outbox_queue_rest(o, "\n", 1, done > len);
}

/* Drops what was sent. */
static void
outbox_shrink(struct outbox *o)
{
    struct buf *q = &o->queue;

    if (outbox_queued(o) && o->sent < q->len / 2)
        return;
    memmove(q->p, q->p + o->sent, outbox_queued(o));
    q->len -= o->sent;
    o->sent = 0;
    if (!q->len && q->cap > KEPT_BYTES)
        buf_fini(q);
}

/* Sent bytes are not moved each time, but when they are half of the queue, so
 * that a long queue costs linear time. */
void
outbox_flush(struct outbox *o)
{
    if (!outbox_queued(o))
        return;
    while (outbox_queued(o) && !o->is_broken) {
        ssize_t n = write(o->hfd, o->queue.p + o->sent, outbox_queued(o));
        if (n >= 0)
            o->sent += (size_t)n;
        else if (errno == EAGAIN)
            break;
        else if (errno != EINTR)
            outbox_break(o, errno);
    }
    outbox_shrink(o);
}
