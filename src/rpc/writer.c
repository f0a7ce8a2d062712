/* The queue of output. Whoever has a line writes it at once if nothing waits
 * before it; the loop sends the rest when the client reads. */
#include "rpc/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BEHIND_BYTES = 1 << 20, KEPT_BYTES = 1 << 20 };

/* A description of our own that does not wait, so that others who share the
 * descriptor notice nothing; a file never makes anybody wait. */
static int
open_without_waiting(int hfd)
{
    char path[32];
    struct stat st;

    if (fstat(hfd, &st) < 0 || S_ISREG(st.st_mode))
        return dup(hfd);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", hfd);
    int own = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (own >= 0)
        return own;
    (void)fcntl(hfd, F_SETFL, fcntl(hfd, F_GETFL) | O_NONBLOCK);
    return dup(hfd);
}

void
writer_init(struct writer *w, int hfd, int wake_hfd)
{
    *w =
        (struct writer){.hfd = open_without_waiting(hfd), .wake_hfd = wake_hfd};
    (void)pthread_mutex_init(&w->lock, NULL);
    (void)pthread_cond_init(&w->has_room, NULL);
    buf_init(&w->queue, SIZE_MAX);
}

void
writer_fini(struct writer *w)
{
    buf_fini(&w->queue);
    (void)pthread_cond_destroy(&w->has_room);
    (void)pthread_mutex_destroy(&w->lock);
    (void)close(w->hfd);
}

static size_t
queued(const struct writer *w)
{
    return w->queue.len - w->sent;
}

static bool
is_behind(const struct writer *w)
{
    return queued(w) > BEHIND_BYTES;
}

static void
wake_loop(const struct writer *w)
{
    uint64_t one = 1;
    ssize_t n = write(w->wake_hfd, &one, sizeof one);

    (void)n; /* a full counter wakes too */
}

/* How much was sent; whoever reads may be gone. */
static size_t
send_some(struct writer *w, const char *p, size_t len)
{
    size_t done = 0;

    while (done < len && !w->is_broken) {
        ssize_t n = write(w->hfd, p + done, len - done);
        if (n >= 0)
            done += (size_t)n;
        else if (errno == EAGAIN)
            break;
        else if (errno != EINTR)
            w->is_broken = true;
    }
    return done;
}

static void
put(struct writer *w, const char *p, size_t len)
{
    bool was_empty = !queued(w);
    size_t done = was_empty ? send_some(w, p, len) : 0;

    if (w->is_broken) {
        wake_loop(w);
        return;
    }
    if (done == len)
        return;
    buf_add(&w->queue, p + done, len - done);
    /* A part of a line cannot be taken back. */
    if (w->queue.error)
        w->is_broken = true;
    if (was_empty || w->is_broken)
        wake_loop(w);
}

void
writer_put(struct writer *w, const char *p, size_t len, bool may_wait)
{
    pthread_mutex_lock(&w->lock);
    while (may_wait && is_behind(w) && !w->is_broken && !w->is_closing)
        pthread_cond_wait(&w->has_room, &w->lock);
    if (!w->is_broken)
        put(w, p, len);
    pthread_mutex_unlock(&w->lock);
}

/* Drops what was sent. */
static void
shrink(struct writer *w)
{
    struct buf *q = &w->queue;

    if (queued(w) && w->sent < q->len / 2)
        return;
    memmove(q->p, q->p + w->sent, queued(w));
    q->len -= w->sent;
    w->sent = 0;
    if (!q->len && q->cap > KEPT_BYTES)
        buf_fini(q);
}

void
writer_flush(struct writer *w)
{
    pthread_mutex_lock(&w->lock);
    if (queued(w)) {
        w->sent += send_some(w, w->queue.p + w->sent, queued(w));
        shrink(w);
    }
    if (w->is_broken || !is_behind(w))
        pthread_cond_broadcast(&w->has_room);
    pthread_mutex_unlock(&w->lock);
}

void
writer_close(struct writer *w)
{
    pthread_mutex_lock(&w->lock);
    w->is_closing = true;
    pthread_cond_broadcast(&w->has_room);
    pthread_mutex_unlock(&w->lock);
}

bool
writer_is_behind(struct writer *w)
{
    pthread_mutex_lock(&w->lock);
    bool is = is_behind(w);
    pthread_mutex_unlock(&w->lock);
    return is;
}

bool
writer_has_more(struct writer *w)
{
    pthread_mutex_lock(&w->lock);
    bool has = queued(w) && !w->is_broken;
    pthread_mutex_unlock(&w->lock);
    return has;
}

bool
writer_is_broken(struct writer *w)
{
    pthread_mutex_lock(&w->lock);
    bool is = w->is_broken;
    pthread_mutex_unlock(&w->lock);
    return is;
}
