/* inotify files: queues of events, and the watches that fill them.
 *
 * Operations report their effects by inode, and vfs/notify.c finds the watches.
 * Nothing here can fail for the operation that reports: an event without
 * memory, or beyond the limit of the queue, becomes an overflow, which the
 * reader sees. */
#include "kernel/inotify.h"

#include "kernel/kernel.h"
#include "kernel/vfs/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>

/* An inotify file: its watches, and the events that were not read yet. */
struct inotify {
    struct kernel *kernel;
    struct list events, watches;
    size_t n_events, n_bytes; /* as read gives them */
    int last_wd;
    /* Events were lost. The reader gets IN_Q_OVERFLOW after the last event;
     * until then further events are dropped. */
    bool is_overflowed;
    struct waitq arrived;
};

/* One watch, in the list of its file. */
struct inotify_watch {
    struct notify_watch watch;
    struct list in_file;
    struct inotify *owner;
    int wd;
};

/* struct inotify_event, as the guest lays it out. */
struct event_head {
    int32_t wd;
    uint32_t mask, cookie, len;
};

struct event {
    struct list link;
    struct event_head head; /* its len is that of the name, padded */
    char name[];
};

/* --- the queue of a file */

static size_t
event_bytes(const struct event *e)
{
    return sizeof e->head + e->head.len;
}

static struct event *
inotify_first_event(const struct inotify *in)
{
    return CONTAINER_OF(in->events.next, struct event, link);
}

static void
event_drop(struct inotify *in, OWN struct event *e)
{
    list_remove(&e->link);
    in->n_events--;
    in->n_bytes -= event_bytes(e);
    limits_uncharge(&in->kernel->limits, LIMIT_memory, sizeof *e + e->head.len);
    free(e);
}

/* Returns the length of a name in an event: with a NUL, padded to a multiple of
 * the size of the head. */
static uint32_t
inotify_padded(size_t len)
{
    size_t unit = sizeof(struct event_head);

    return len ? (uint32_t)((len + unit) / unit * unit) : 0;
}

/* Linux drops an event that is the same as the one before it. */
static bool
inotify_repeats_last(const struct inotify *in, const struct event_head *head,
                     struct name name)
{
    if (list_is_empty(&in->events))
        return false;
    const struct event *e = CONTAINER_OF(in->events.prev, struct event, link);
    return memcmp(&e->head, head, sizeof *head) == 0 &&
           memcmp(e->name, name.s, name.len) == 0;
}

/* Appends an event. If there is no memory for it, the queue overflows; no call
 * fails for it. */
static void
inotify_queue(struct inotify *in, int wd, uint32_t mask, uint32_t cookie,
              struct name name)
{
    struct limits *l = &in->kernel->limits;
    struct event_head head = {.wd = wd,
                              .mask = mask,
                              .cookie = cookie,
                              .len = inotify_padded(name.len)};
    size_t size = sizeof(struct event) + head.len;
    struct event *e = NULL;

    if (in->is_overflowed || inotify_repeats_last(in, &head, name))
        return;
    if (in->n_events < INOTIFY_EVENTS_MAX && limits_fit(l, LIMIT_memory, size))
        e = calloc(1, size);
    if (e) {
        (void)limits_charge(l, LIMIT_memory, size);
        e->head = head;
        memcpy(e->name, name.s, name.len);
        list_push_back(&in->events, &e->link);
        in->n_events++;
        in->n_bytes += event_bytes(e);
    }
    in->is_overflowed = !e;
    waitq_wake(&in->arrived);
}

/* --- watches */

static struct inotify_watch *
inotify_watch_of(struct notify_watch *w)
{
    return CONTAINER_OF(w, struct inotify_watch, watch);
}

static void
inotify_watch_free(OWN struct inotify_watch *w)
{
    notify_watch_remove(&w->watch);
    list_remove(&w->in_file);
    limits_uncharge(&w->owner->kernel->limits, LIMIT_memory, sizeof *w);
    free(w);
}

/* Every watch that ends by itself is reported with IN_IGNORED. */
static void
inotify_watch_gone(OWN struct notify_watch *w)
{
    struct inotify_watch *iw = inotify_watch_of(w);

    inotify_queue(iw->owner, iw->wd, IN_IGNORED, 0, (struct name){"", 0});
    inotify_watch_free(iw);
}

/* A one-shot watch ends with its first event. */
static void
inotify_watch_event(struct notify_watch *w, uint32_t mask, uint32_t cookie,
                    struct name name)
{
    const struct inotify_watch *iw = inotify_watch_of(w);

    inotify_queue(iw->owner, iw->wd, mask, cookie, name);
    if (w->mask & IN_ONESHOT)
        inotify_watch_gone(w);
}

static const struct notify_watch_ops inotify_watch_ops = {
    .event = inotify_watch_event,
    .gone = inotify_watch_gone,
};

/* --- the file */

/* Reads the event which reports that some are missing; it comes last. */
static int64_t
inotify_read_overflow(struct inotify *in, void *buf, size_t len)
{
    struct event_head head = {.wd = -1, .mask = IN_Q_OVERFLOW};

    if (len < sizeof head)
        return -EINVAL;
    memcpy(buf, &head, sizeof head);
    in->is_overflowed = false;
    return sizeof head;
}

/* Whole events only. A buffer that is too small for the first one is an
 * error. */
static int64_t
inotify_read(struct file *f, struct task *t, void *buf, size_t len,
             uint64_t *pos)
{
    struct inotify *in = f->obj;
    size_t n = 0;

    (void)t, (void)pos;
    while (!list_is_empty(&in->events)) {
        struct event *e = inotify_first_event(in);
        size_t size = event_bytes(e);
        if (size > len - n)
            return n ? (int64_t)n : -EINVAL;
        memcpy((char *)buf + n, &e->head, sizeof e->head);
        memcpy((char *)buf + n + sizeof e->head, e->name, e->head.len);
        n += size;
        event_drop(in, e);
    }
    if (!n && in->is_overflowed)
        return inotify_read_overflow(in, buf, len);
    return n ? (int64_t)n : -EAGAIN;
}

/* An overflow is an event to read as well. */
static short
inotify_poll(struct file *f, struct poll_table *pt)
{
    struct inotify *in = f->obj;

    poll_wait(pt, &in->arrived);
    if (list_is_empty(&in->events) && !in->is_overflowed)
        return 0;
    return POLLIN | POLLRDNORM;
}

static int64_t
inotify_ioctl(struct file *f, struct task *t, uint32_t cmd, uint32_t arg)
{
    const struct inotify *in = f->obj;
    size_t more = in->is_overflowed ? sizeof(struct event_head) : 0;
    int32_t n = (int32_t)(in->n_bytes + more);

    if (cmd != FIONREAD)
        return -ENOTTY;
    return copy_to_guest(t, arg, &n, sizeof n);
}

static void
inotify_release(struct file *f)
{
    struct inotify *in = f->obj;

    while (!list_is_empty(&in->watches))
        inotify_watch_free(
            CONTAINER_OF(in->watches.next, struct inotify_watch, in_file));
    while (!list_is_empty(&in->events))
        event_drop(in, inotify_first_event(in));
    waitq_fini(&in->arrived);
    free(in);
}

static const struct file_ops inotify_ops = {
    .kind = "anon_inode:inotify",
    .read = inotify_read,
    .poll = inotify_poll,
    .ioctl = inotify_ioctl,
    .release = inotify_release,
};

int
inotify_new(struct kernel *k, uint32_t flags, OWN struct file **ret)
{
    struct inotify *in = malloc(sizeof *in);

    if (!in)
        return -ENOMEM;
    *in = (struct inotify){.kernel = k};
    list_init(&in->events);
    list_init(&in->watches);
    waitq_init(&in->arrived);
    return file_new(&k->vfs, &inotify_ops, in, O_RDONLY | flags, ret);
}

static struct inotify_watch *
inotify_find(const struct inotify *in, const struct vnode *node)
{
    struct notify_watch *w = NULL;

    while ((w = notify_watch_next(node, w)))
        if (inotify_watch_of(w)->owner == in)
            return inotify_watch_of(w);
    return NULL;
}

/* Numbers of watches are never reused: an event in the queue must not be
 * mistaken for one of a later watch. */
static int
inotify_watch_new(struct inotify *in, const struct vnode *node, uint32_t mask)
{
    struct kernel *k = in->kernel;

    if (notify_watch_count(&k->vfs) >= INOTIFY_WATCHES_MAX ||
        in->last_wd == INT32_MAX)
        return -ENOSPC;
    if (!limits_charge(&k->limits, LIMIT_memory, sizeof(struct inotify_watch)))
        return -ENOMEM;
    struct inotify_watch *w = malloc(sizeof *w);
    if (w)
        *w = (struct inotify_watch){
            .watch = {.ops = &inotify_watch_ops, .mask = mask}, .owner = in};
    if (!w || notify_watch_add(&w->watch, node) < 0) {
        limits_uncharge(&k->limits, LIMIT_memory, sizeof *w);
        free(w);
        return -ENOMEM;
    }
    w->wd = ++in->last_wd;
    list_push_back(&in->watches, &w->in_file);
    return w->wd;
}

/* A second watch of the same inode changes the first one, as on Linux. */
int
inotify_add(struct file *f, const struct vnode *node, uint32_t mask)
{
    const uint32_t kept = IN_ALL_EVENTS | IN_EXCL_UNLINK | IN_ONESHOT;

    if (f->ops != &inotify_ops)
        return -EINVAL;
    struct inotify_watch *w = inotify_find(f->obj, node);
    if (!w)
        return inotify_watch_new(f->obj, node, mask & kept);
    if (mask & IN_MASK_CREATE)
        return -EEXIST;
    uint32_t old = mask & IN_MASK_ADD ? w->watch.mask : 0;
    w->watch.mask = old | (mask & kept);
    return w->wd;
}

int
inotify_remove(struct file *f, int wd)
{
    struct inotify *in = f->obj;

    if (f->ops != &inotify_ops)
        return -EINVAL;
    LIST_FOR_EACH(it, &in->watches) {
        struct inotify_watch *w =
            CONTAINER_OF(it, struct inotify_watch, in_file);
        if (w->wd != wd)
            continue;
        inotify_watch_gone(&w->watch);
        return 0;
    }
    return -EINVAL;
}
