/* Event counters. The largest value is UINT64_MAX - 1: UINT64_MAX is an invalid
 * number to add, so that a writer can never be refused for ever. */
#include "kernel/eventfd.h"

#include "kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

struct eventfd {
    uint64_t count;
    bool is_semaphore;
    struct waitq changed;
};

/* A semaphore is decremented by one; a counter is read and reset. */
static int64_t
eventfd_read(struct file *f, struct task *t, void *buf, size_t len,
             uint64_t *pos)
{
    struct eventfd *e = f->obj;
    uint64_t n = e->is_semaphore ? 1 : e->count;

    (void)t;
    (void)pos;
    if (len < sizeof n)
        return -EINVAL;
    if (!e->count)
        return -EAGAIN;
    e->count -= n;
    memcpy(buf, &n, sizeof n);
    waitq_wake(&e->changed);
    return sizeof n;
}

/* A value that would overflow the counter waits until somebody reads. */
static int64_t
eventfd_write(struct file *f, struct task *t, const void *buf, size_t len,
              uint64_t *pos)
{
    struct eventfd *e = f->obj;
    uint64_t n;

    (void)t;
    (void)pos;
    if (len < sizeof n)
        return -EINVAL;
    memcpy(&n, buf, sizeof n);
    if (n == UINT64_MAX)
        return -EINVAL;
    if (n > UINT64_MAX - 1 - e->count)
        return -EAGAIN;
    e->count += n;
    waitq_wake(&e->changed);
    return sizeof n;
}

/* Writable means that at least 1 can be added. */
static short
eventfd_poll(struct file *f, struct poll_table *pt)
{
    struct eventfd *e = f->obj;
    short events = 0;

    poll_wait(pt, &e->changed);
    if (e->count)
        events |= POLLIN | POLLRDNORM;
    if (e->count < UINT64_MAX - 1)
        events |= POLLOUT | POLLWRNORM;
    return events;
}

static void
eventfd_release(struct file *f)
{
    struct eventfd *e = f->obj;

    waitq_fini(&e->changed);
    free(e);
}

static const struct file_ops eventfd_ops = {
    .kind = "anon_inode:[eventfd]",
    .read = eventfd_read,
    .write = eventfd_write,
    .poll = eventfd_poll,
    .release = eventfd_release,
};

bool
eventfd_is(const struct file *f)
{
    return f->ops == &eventfd_ops;
}

int
eventfd_new(struct kernel *k, uint64_t count, bool is_semaphore, uint32_t flags,
            OWN struct file **ret)
{
    struct eventfd *e = malloc(sizeof *e);

    if (!e)
        return -ENOMEM;
    *e = (struct eventfd){.count = count, .is_semaphore = is_semaphore};
    waitq_init(&e->changed);
    return file_new(&k->vfs, &eventfd_ops, e, O_RDWR | flags, ret);
}
