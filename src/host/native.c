/* The native host: clocks, random bytes, waiting, traces.
 *
 * Everything here can be called from any thread. A bell is an eventfd: writing
 * to it is one system call, which signal handlers may make. */
#include "host/native.h"

#include "base/hfd.h"
#include "base/os_time.h"
#include "host/stream.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

static int64_t
native_thread_ns(void)
{
    return time_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* getrandom returns at most 256 bytes without being interrupted by a signal. */
static void
native_random(void *buf, size_t len)
{
    for (uint8_t *p = buf; len;) {
        ssize_t n = getrandom(p, len < 256 ? len : 256, 0);
        if (n < 0)
            abort(); /* a host without randomness cannot be trusted */
        p += n;
        len -= (size_t)n;
    }
}

/* A negative timeout cannot occur: the kernel computes it from a deadline that
 * is in the future, or passes 0. */
static int
native_poll(struct pollfd *v, size_t n, int64_t timeout_ns)
{
    struct timespec ts = time_spec(timeout_ns);

    int r = ppoll(v, n, timeout_ns == NS_NEVER ? NULL : &ts, NULL);
    return r < 0 ? -errno : r;
}

static int
native_bell_new(void)
{
    int hfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

    return hfd < 0 ? -errno : hfd;
}

/* A full counter cannot be increased, and needs no increase: it is readable. */
static void
native_bell_ring(int hfd)
{
    uint64_t one = 1;

    (void)!write(hfd, &one, sizeof one);
}

static void
native_bell_clear(int hfd)
{
    uint64_t count;

    (void)!read(hfd, &count, sizeof count);
}

static void
native_bell_free(int hfd)
{
    hfd_closep(&hfd);
}

const struct host_ops host_native = {
    .mono_ns = time_mono_ns,
    .real_ns = time_wall_ns,
    .thread_ns = native_thread_ns,
    .random = native_random,
    .poll = native_poll,
    .bell_new = native_bell_new,
    .bell_ring = native_bell_ring,
    .bell_clear = native_bell_clear,
    .bell_free = native_bell_free,
    .stream_send = stream_send,
    .stream_recv = stream_recv,
    .stream_shutdown = stream_shutdown,
    .stream_accept = stream_accept,
    .stream_close = stream_close,
};

/* --- traces */

/* A sink over a stdio stream, which is line-buffered: lines of several
 * sandboxes do not mix within a line. */
struct file_sink {
    struct host_sink sink;
    FILE *file;
};

static void
native_file_sink_put(struct host_sink *s, const char *text, size_t len)
{
    (void)fwrite(text, 1, len, ((struct file_sink *)s)->file);
}

int
host_sink_open(int hfd, OWN struct host_sink **ret)
{
    struct file_sink *s = calloc(1, sizeof *s);

    if (!s)
        return -ENOMEM;
    int copy = dup(hfd);
    FILE *f = copy < 0 ? NULL : fdopen(copy, "w");
    if (!f) {
        int r = -errno;
        hfd_closep(&copy);
        free(s);
        return r;
    }
    setvbuf(f, NULL, _IOLBF, 0);
    *s = (struct file_sink){{native_file_sink_put}, f};
    *ret = &s->sink;
    return 0;
}

void
host_sink_close(OWN struct host_sink *s)
{
    if (!s)
        return;
    (void)fclose(((struct file_sink *)s)->file);
    free(s);
}
