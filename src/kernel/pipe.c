/* Pipes.
 *
 * Problem: naive wake-ups alternate between reader and writer for each piece.
 *
 * Idea: a reader sleeps only on an empty ring, and a writer only on one with
 * less than PIPE_ATOMIC_BYTES free. A woken thread does not run before the
 * waker sleeps. One wake-up in each direction therefore transfers a whole ring.
 */
#include "kernel/pipe.h"

#include "kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

static const struct file_ops read_ops, write_ops, both_ops;

static size_t
pipe_min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* --- the ring */

/* Memory is charged by the first write: many pipes are only inherited. */
static int
pipe_ring_need(struct pipe *p)
{
    struct limits *l = &p->kernel->limits;

    if (p->ring)
        return 0;
    if (!limits_charge(l, LIMIT_memory, p->cap))
        return -ENOMEM;
    p->ring = malloc(p->cap);
    if (p->ring)
        return 0;
    limits_uncharge(l, LIMIT_memory, p->cap);
    return -ENOMEM;
}

/* An empty ring starts again at its beginning, so small messages stay in the
 * cache. */
static void
pipe_ring_skip(struct pipe *p, size_t n)
{
    p->used -= n;
    p->head = p->used ? (p->head + n) % p->cap : 0;
}

static void
pipe_ring_take(struct pipe *p, uint8_t *to, size_t n)
{
    size_t first = pipe_min_size(n, p->cap - p->head);

    memcpy(to, p->ring + p->head, first);
    memcpy(to + first, p->ring, n - first);
    pipe_ring_skip(p, n);
}

static void
pipe_ring_add(struct pipe *p, const uint8_t *from, size_t n)
{
    size_t tail = (p->head + p->used) % p->cap;
    size_t first = pipe_min_size(n, p->cap - tail);

    memcpy(p->ring + tail, from, first);
    memcpy(p->ring, from + first, n - first);
    p->used += n;
}

enum { PACKETS_MAX = sizeof((struct pipe_packets *)0)->len / sizeof(uint16_t) };

/* poll reports a pipe as writable only if PIPE_BUF bytes fit, so that an atomic
 * write after it does not wait. */
static bool
pipe_has_room(const struct pipe *p)
{
    if (p->has_packets && p->packets.n == PACKETS_MAX)
        return false;
    return p->cap - p->used >= PIPE_ATOMIC_BYTES;
}

/* --- life */

void
pipe_init(struct pipe *p, struct kernel *k)
{
    *p = (struct pipe){.kernel = k};
    p->cap = k->limits.max[LIMIT_pipe];
    if (p->cap < PIPE_ATOMIC_BYTES)
        p->cap = PIPE_ATOMIC_BYTES;
    waitq_init(&p->readable);
    waitq_init(&p->writable);
}

void
pipe_fini(struct pipe *p)
{
    waitq_fini(&p->readable);
    waitq_fini(&p->writable);
    if (!p->ring)
        return;
    free(p->ring);
    limits_uncharge(&p->kernel->limits, LIMIT_memory, p->cap);
}

static void
pipe_free_anonymous(OWN struct pipe *p)
{
    pipe_fini(p);
    free(p);
}

/* The last file has gone. A FIFO removes itself from the kernel's list in its
 * own free. */
static void
pipe_free_unused(struct pipe *p)
{
    if (!p->readers && !p->writers)
        p->free(p);
}

/* Writers wait for a reader that never comes: they are woken and get EPIPE. */
void
pipe_drop_reader(struct pipe *p)
{
    if (--p->readers == 0)
        waitq_wake(&p->writable);
    pipe_free_unused(p);
}

/* Readers are woken and find the end of file. */
void
pipe_drop_writer(struct pipe *p)
{
    if (--p->writers == 0)
        waitq_wake(&p->readable);
    pipe_free_unused(p);
}

static void
pipe_release_reader(struct file *f)
{
    pipe_drop_reader(f->obj);
}

static void
pipe_release_writer(struct file *f)
{
    pipe_drop_writer(f->obj);
}

/* A FIFO opened with O_RDWR has both ends; the pipe may only be freed once. */
static void
pipe_release_both(struct file *f)
{
    struct pipe *p = f->obj;

    if (--p->readers == 0)
        waitq_wake(&p->writable);
    pipe_drop_writer(p);
}

int
pipe_file_new(struct pipe *p, uint32_t flags, OWN struct file **ret)
{
    uint32_t mode = flags & O_ACCMODE;
    uint32_t opens = p->writer_opens;
    const struct file_ops *ops = mode == O_RDONLY   ? &read_ops
                                 : mode == O_WRONLY ? &write_ops
                                                    : &both_ops;
    int r = file_new(&p->kernel->vfs, ops, p, flags, ret);

    /* A reader that was let in without a writer is not hung up before one
     * has come and gone: see pipe_poll_read. */
    if (r == 0)
        (*ret)->pos = flags & O_NONBLOCK && !p->writers ? opens : UINT64_MAX;
    return r;
}

/* Both ends count before the first file exists: each file that is freed drops
 * its own end, on every path of failure. */
int
pipe_new(struct kernel *k, uint32_t flags, OWN struct file **ret_rd,
         OWN struct file **ret_wr)
{
    struct pipe *p = malloc(sizeof *p);
    struct file *rd, *wr;

    if (!p)
        return -ENOMEM;
    pipe_init(p, k);
    p->has_packets = flags & O_DIRECT;
    p->free = pipe_free_anonymous;
    p->readers = p->writers = 1;
    p->reader_opens = p->writer_opens = 1;
    int r = pipe_file_new(p, O_RDONLY | flags, &rd);
    if (r < 0) {
        pipe_drop_writer(p);
        return r;
    }
    r = pipe_file_new(p, O_WRONLY | flags, &wr);
    if (r < 0) {
        file_put(rd);
        return r;
    }
    wr->anon_ino = rd->anon_ino;
    rd->is_message = p->has_packets;
    *ret_rd = rd;
    *ret_wr = wr;
    return 0;
}

/* --- operations */

/* Reads the next packet, as much of it as fits; the rest is lost. */
static size_t
pipe_take_packet(struct pipe *p, uint8_t *to, size_t max)
{
    struct pipe_packets *q = &p->packets;
    size_t len = q->len[q->first], n = pipe_min_size(len, max);

    q->first = (q->first + 1) % PACKETS_MAX;
    q->n--;
    pipe_ring_take(p, to, n);
    pipe_ring_skip(p, len - n);
    return n;
}

/* Adds packets until all bytes are in, or until no further packet fits. */
static size_t
pipe_add_packets(struct pipe *p, const uint8_t *from, size_t len)
{
    struct pipe_packets *q = &p->packets;
    size_t done = 0;

    while (done < len && q->n < PACKETS_MAX) {
        size_t n = pipe_min_size(len - done, PIPE_ATOMIC_BYTES);
        if (n > p->cap - p->used)
            break;
        pipe_ring_add(p, from + done, n);
        q->len[(q->first + q->n++) % PACKETS_MAX] = (uint16_t)n;
        done += n;
    }
    return done;
}

/* Writers are woken when the pipe passes from full to writable, not for each
 * read. */
static int64_t
pipe_read(struct file *f, struct task *t, void *buf, size_t len, uint64_t *pos)
{
    struct pipe *p = f->obj;
    size_t n = pipe_min_size(len, p->used);

    (void)t;
    (void)pos;
    if (!n)
        return p->writers ? -EAGAIN : 0;
    bool had_room = pipe_has_room(p);
    if (p->has_packets)
        n = pipe_take_packet(p, buf, len);
    else
        pipe_ring_take(p, buf, n);
    if (!had_room && pipe_has_room(p))
        waitq_wake(&p->writable);
    return (int64_t)n;
}

/* A write of at most PIPE_BUF bytes is written as a whole or not at all. */
static int64_t
pipe_write(struct file *f, struct task *t, const void *buf, size_t len,
           uint64_t *pos)
{
    struct pipe *p = f->obj;
    size_t room = p->cap - p->used;

    (void)t;
    (void)pos;
    if (!p->readers)
        return -EPIPE;
    if (!room || (len <= PIPE_ATOMIC_BYTES && room < len))
        return -EAGAIN;
    int r = pipe_ring_need(p);
    if (r < 0)
        return r;
    size_t n = pipe_min_size(len, room);
    if (p->has_packets)
        n = pipe_add_packets(p, buf, len);
    else
        pipe_ring_add(p, buf, n);
    if (!n)
        return -EAGAIN;
    waitq_wake(&p->readable);
    return (int64_t)n;
}

/* A FIFO opened without a writer is not hung up before one has come and gone:
 * `pos` is the number of writers that had opened it by then. */
static short
pipe_poll_read(struct file *f, struct poll_table *pt)
{
    struct pipe *p = f->obj;
    short events = 0;

    poll_wait(pt, &p->readable);
    if (p->used)
        events |= POLLIN | POLLRDNORM;
    if (!p->writers && f->pos != p->writer_opens)
        events |= POLLHUP;
    return events;
}

/* A pipe without readers reports an error, as every write will. */
static short
pipe_poll_write(struct file *f, struct poll_table *pt)
{
    struct pipe *p = f->obj;
    short events = 0;

    poll_wait(pt, &p->writable);
    if (pipe_has_room(p))
        events |= POLLOUT | POLLWRNORM;
    if (!p->readers)
        events |= POLLERR;
    return events;
}

static short
pipe_poll_both(struct file *f, struct poll_table *pt)
{
    return (short)(pipe_poll_read(f, pt) | pipe_poll_write(f, pt));
}

static int64_t
pipe_ioctl(struct file *f, struct task *t, uint32_t cmd, uint32_t arg)
{
    struct pipe *p = f->obj;
    int32_t n = (int32_t)p->used;

    return cmd == FIONREAD ? copy_to_guest(t, arg, &n, sizeof n) : -ENOTTY;
}

static int
pipe_getattr(struct file *f, struct attr *ret)
{
    if (f->node.mnt)
        return vnode_getattr(&f->node, ret);
    return file_anon_attr(f, S_IFIFO | 0600, ret);
}

static const struct file_ops read_ops = {
    .kind = "pipe",
    .read = pipe_read,
    .poll = pipe_poll_read,
    .getattr = pipe_getattr,
    .ioctl = pipe_ioctl,
    .release = pipe_release_reader,
};

static const struct file_ops write_ops = {
    .kind = "pipe",
    .write = pipe_write,
    .poll = pipe_poll_write,
    .getattr = pipe_getattr,
    .ioctl = pipe_ioctl,
    .release = pipe_release_writer,
};

static const struct file_ops both_ops = {
    .kind = "pipe",
    .read = pipe_read,
    .write = pipe_write,
    .poll = pipe_poll_both,
    .getattr = pipe_getattr,
    .ioctl = pipe_ioctl,
    .release = pipe_release_both,
};

/* --- size */

static struct pipe *
pipe_of(struct file *f)
{
    const struct file_ops *ops = f->ops;

    return ops == &read_ops || ops == &write_ops || ops == &both_ops ? f->obj
                                                                     : NULL;
}

int64_t
pipe_get_size(struct file *f)
{
    struct pipe *p = pipe_of(f);

    return p ? (int64_t)p->cap : -EBADF;
}

/* Moves the contents of the pipe to a new ring of `cap` bytes. */
static int
pipe_ring_resize(struct pipe *p, size_t cap)
{
    struct limits *l = &p->kernel->limits;
    size_t used = p->used;

    if (!p->ring) {
        p->cap = cap;
        return 0;
    }
    if (!limits_charge(l, LIMIT_memory, cap))
        return -ENOMEM;
    uint8_t *ring = malloc(cap);
    if (!ring) {
        limits_uncharge(l, LIMIT_memory, cap);
        return -ENOMEM;
    }
    pipe_ring_take(p, ring, used);
    free(p->ring);
    limits_uncharge(l, LIMIT_memory, p->cap);
    p->ring = ring;
    p->cap = cap;
    p->head = 0;
    p->used = used;
    return 0;
}

/* The size is rounded up to a power of two pages, as Linux does. It may not be
 * less than what the pipe contains. */
int64_t
pipe_set_size(struct file *f, uint32_t bytes)
{
    struct pipe *p = pipe_of(f);
    size_t cap = PIPE_ATOMIC_BYTES;

    if (!p)
        return -EBADF;
    if (bytes > PIPE_BYTES_MAX)
        return bytes > INT32_MAX ? -EINVAL : -EPERM;
    while (cap < bytes)
        cap *= 2;
    if (cap < p->used)
        return -EBUSY;
    int r = pipe_ring_resize(p, cap);
    if (r < 0)
        return r;
    if (pipe_has_room(p))
        waitq_wake(&p->writable);
    return (int64_t)cap;
}
