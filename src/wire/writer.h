/* The output to the client: whole lines, in order, from any thread. */
#ifndef WIRE_WRITER_H
#define WIRE_WRITER_H

#include "wire/outbox.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

struct writer {
    int wake_hfd; /* eventfd of the loop */
    pthread_mutex_t lock;
    pthread_cond_t has_room;
    /* guarded by lock */
    struct outbox out;
    bool is_closing; /* writers no longer wait for space */
    /* Bytes that wait for a client that still reads. Changed with the lock
     * held, and read by any thread. */
    atomic_size_t queued;
};

/* Writes to hfd without waiting. */
void writer_init(struct writer *w, int hfd, int wake_hfd);
void writer_fini(struct writer *w);
/* Sends a line. With may_wait, waits while the client is far behind; the loop
 * must not. */
void writer_put(struct writer *w, const char *p, size_t len, bool may_wait);
/* Sends what it can. */
void writer_flush(struct writer *w);
/* Nobody waits from now on. */
void writer_close(struct writer *w);
bool writer_is_broken(struct writer *w);

static inline bool
writer_has_more(const struct writer *w)
{
    return w->queued > 0;
}

/* Returns true if the client is far behind. */
static inline bool
writer_is_behind(const struct writer *w)
{
    return w->queued > OUTBOX_BEHIND_BYTES;
}

#endif
