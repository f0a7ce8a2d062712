/* The queue of output. A thread writes its line at once if nothing waits before
 * it; the loop sends the rest when the client reads. */
#include "wire/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A description of our own that does not wait, so that others who share the
 * descriptor notice nothing; a file never makes anybody wait. */
static int
writer_open_without_waiting(int hfd)
{
    char path[32];
    struct stat st;

    if (fstat(hfd, &st) < 0 || S_ISREG(st.st_mode) ||
        (fcntl(hfd, F_GETFL) & O_ACCMODE) == O_RDONLY)
        return dup(hfd);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", hfd);
    int opened = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (opened >= 0)
        return opened;
    (void)fcntl(hfd, F_SETFL, fcntl(hfd, F_GETFL) | O_NONBLOCK);
    return dup(hfd);
}

/* The descriptor is our own and never blocks: a client that does not read must
 * not stop the loop. */
void
writer_init(struct writer *w, int hfd, int wake_hfd)
{
    *w = (struct writer){.wake_hfd = wake_hfd};
    (void)pthread_mutex_init(&w->lock, NULL);
    (void)pthread_cond_init(&w->has_room, NULL);
    outbox_init(&w->out, writer_open_without_waiting(hfd));
}

void
writer_fini(struct writer *w)
{
    outbox_fini(&w->out);
    (void)pthread_cond_destroy(&w->has_room);
    (void)pthread_mutex_destroy(&w->lock);
    (void)close(w->out.hfd);
}

/* The loop must poll for the output from now on, or notice that nobody reads
 * any more. */
static void
writer_wake_loop(const struct writer *w)
{
    uint64_t one = 1;
    ssize_t n = write(w->wake_hfd, &one, sizeof one);

    (void)n; /* a full counter wakes too */
}

/* A job that produces faster than the client reads waits here. That is the
 * flow control of the server: the job holds its sandbox meanwhile, and further
 * calls queue up behind it, up to their own limits. */
void
writer_put(struct writer *w, const char *p, size_t len, bool may_wait)
{
    pthread_mutex_lock(&w->lock);
    while (may_wait && outbox_is_behind(&w->out) && !w->out.is_broken &&
           !w->is_closing)
        pthread_cond_wait(&w->has_room, &w->lock);
    bool was_empty = !outbox_queued(&w->out), was_broken = w->out.is_broken;
    if (!was_broken)
        outbox_put(&w->out, p, len);
    w->queued = w->out.is_broken ? 0 : outbox_queued(&w->out);
    if (!was_broken &&
        (w->out.is_broken || (was_empty && outbox_queued(&w->out))))
        writer_wake_loop(w);
    pthread_mutex_unlock(&w->lock);
}

void
writer_flush(struct writer *w)
{
    pthread_mutex_lock(&w->lock);
    outbox_flush(&w->out);
    w->queued = w->out.is_broken ? 0 : outbox_queued(&w->out);
    if (w->out.is_broken || !outbox_is_behind(&w->out))
        pthread_cond_broadcast(&w->has_room);
    pthread_mutex_unlock(&w->lock);
}

/* At the end, jobs must not wait for a client that does not read. Their lines
 * are queued without limit for the short rest of the time. */
void
writer_close(struct writer *w)
{
    pthread_mutex_lock(&w->lock);
    w->is_closing = true;
    pthread_cond_broadcast(&w->has_room);
    pthread_mutex_unlock(&w->lock);
}

bool
writer_is_broken(struct writer *w)
{
    pthread_mutex_lock(&w->lock);
    bool is = w->out.is_broken;
    pthread_mutex_unlock(&w->lock);
    return is;
}
