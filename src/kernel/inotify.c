/* inotify files: queues of events, and the watches that fill them.
 *
 * Operations report their effects by inode; a hash table finds the watches.
 * Nothing here can fail for the operation that reports: an event without
 * memory, or beyond the limit of the queue, becomes an overflow, which the
 * reader sees. */
#include "kernel/inotify.h"

#include "kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>

enum { WATCH_BUCKETS = 256 };

/* All watches of a sandbox, by inode. Exists while there are any. */
struct watches {
    size_t n;
    uint32_t last_cookie;
    struct list buckets[WATCH_BUCKETS];
};

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

/* One watch, in the bucket of its inode and in the list of its file. */
struct inotify_watch {
    struct list in_bucket, in_file;
    struct inotify *owner;
    const struct fs *fs;
    uint64_t ino;
    int wd;
    uint32_t mask;
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
first_event(const struct inotify *in)
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
padded(size_t len)
{
    size_t unit = sizeof(struct event_head);

    return len ? (uint32_t)((len + unit) / unit * unit) : 0;
}

/* Linux drops an event that is the same as the one before it. */
static bool
repeats_last(const struct inotify *in, const struct event_head *head,
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
queue(struct inotify *in, int wd, uint32_t mask, uint32_t cookie,
      struct name name)
{
    struct limits *l = &in->kernel->limits;
    struct event_head head = {
        .wd = wd, .mask = mask, .cookie = cookie, .len = padded(name.len)};
    size_t size = sizeof(struct event) + head.len;
    struct event *e = NULL;

    if (in->is_overflowed || repeats_last(in, &head, name))
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

/* Inode numbers are small and dense in every file system, so the device is
 * mixed in. */
static struct list *
inotify_bucket_of(struct watches *ws, const struct fs *fs, uint64_t ino)
{
    uint64_t h = (ino ^ fs->dev << 48) * UINT64_C(0x9E3779B97F4A7C15);

    return &ws->buckets[h >> 56];
}

static int
watches_need(struct kernel *k)
{
    if (k->watches)
        return 0;
    struct watches *ws = calloc(1, sizeof *ws);
    if (!ws)
        return -ENOMEM;
    for (int i = 0; i < WATCH_BUCKETS; i++)
        list_init(&ws->buckets[i]);
    k->watches = ws;
    return 0;
}

static void
inotify_watch_free(OWN struct inotify_watch *w)
{
    struct kernel *k = w->owner->kernel;

    list_remove(&w->in_bucket);
    list_remove(&w->in_file);
    limits_uncharge(&k->limits, LIMIT_memory, sizeof *w);
    free(w);
    if (--k->watches->n)
        return;
    free(k->watches);
    k->watches = NULL;
}

/* Every watch that ends by itself is reported with IN_IGNORED. */
static void
watch_end(OWN struct inotify_watch *w)
{
    queue(w->owner, w->wd, IN_IGNORED, 0, (struct name){"", 0});
    inotify_watch_free(w);
}

/* A one-shot watch ends with its first event. */
static void
fire(struct inotify_watch *w, uint32_t mask, uint32_t cookie, struct name name)
{
    if (!(w->mask & mask & IN_ALL_EVENTS))
        return;
    queue(w->owner, w->wd, mask, cookie, name);
    if (w->mask & IN_ONESHOT)
        watch_end(w);
}

/* --- the file */

/* Reads the event which reports that some are missing; it comes last. */
static int64_t
read_overflow(struct inotify *in, void *buf, size_t len)
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
        struct event *e = first_event(in);
        size_t size = event_bytes(e);
        if (size > len - n)
            return n ? (int64_t)n : -EINVAL;
        memcpy((char *)buf + n, &e->head, sizeof e->head);
        memcpy((char *)buf + n + sizeof e->head, e->name, e->head.len);
        n += size;
        event_drop(in, e);
    }
    if (!n && in->is_overflowed)
        return read_overflow(in, buf, len);
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
        event_drop(in, first_event(in));
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
    return file_new(k, &inotify_ops, in, O_RDONLY | flags, ret);
}

static struct inotify_watch *
find_watch(const struct inotify *in, const struct vnode *node)
{
    const struct fs *fs = node->mnt->fs;

    if (!in->kernel->watches)
        return NULL;
    LIST_FOR_EACH(it, inotify_bucket_of(in->kernel->watches, fs, node->ino)) {
        struct inotify_watch *w =
            CONTAINER_OF(it, struct inotify_watch, in_bucket);
        if (w->owner == in && w->fs == fs && w->ino == node->ino)
            return w;
    }
    return NULL;
}

/* Numbers of watches are never reused: an event in the queue must not be
 * mistaken for one of a later watch. */
static int
new_watch(struct inotify *in, const struct vnode *node, uint32_t mask)
{
    struct kernel *k = in->kernel;
    struct fs *fs = node->mnt->fs;

    if ((k->watches && k->watches->n >= INOTIFY_WATCHES_MAX) ||
        in->last_wd == INT32_MAX)
        return -ENOSPC;
    if (!limits_charge(&k->limits, LIMIT_memory, sizeof(struct inotify_watch)))
        return -ENOMEM;
    struct inotify_watch *w = malloc(sizeof *w);
    if (!w || watches_need(k) < 0) {
        limits_uncharge(&k->limits, LIMIT_memory, sizeof *w);
        free(w);
        return -ENOMEM;
    }
    *w = (struct inotify_watch){.owner = in,
                                .fs = fs,
                                .ino = node->ino,
                                .wd = ++in->last_wd,
                                .mask = mask};
    list_push_back(inotify_bucket_of(k->watches, fs, node->ino), &w->in_bucket);
    list_push_back(&in->watches, &w->in_file);
    k->watches->n++;
    return w->wd;
}

/* A second watch of the same inode changes the first one, as on Linux. */
int
inotify_add(struct file *f, const struct vnode *node, uint32_t mask)
{
    const uint32_t kept = IN_ALL_EVENTS | IN_EXCL_UNLINK | IN_ONESHOT;

    if (f->ops != &inotify_ops)
        return -EINVAL;
    struct inotify_watch *w = find_watch(f->obj, node);
    if (!w)
        return new_watch(f->obj, node, mask & kept);
    if (mask & IN_MASK_CREATE)
        return -EEXIST;
    w->mask = (mask & IN_MASK_ADD ? w->mask : 0) | (mask & kept);
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
        watch_end(w);
        return 0;
    }
    return -EINVAL;
}

/* --- reports */

/* Returns the kernel of an inode if anything is watched there; otherwise NULL.
 * This is all that a report costs in a sandbox without inotify. */
static struct kernel *
watching(const struct vnode *node)
{
    struct kernel *k = node->mnt ? node->mnt->fs->kernel : NULL;

    return k && k->watches ? k : NULL;
}

/* Returns true if the name still leads to the inode. */
static bool
is_linked(const struct dentry *p)
{
    struct fs *fs = p->dir.mnt->fs;
    struct name name = {p->name, strlen(p->name)};
    uint64_t ino;

    return fs->ops->lookup(fs, p->dir.ino, name, &ino) == 0 &&
           ino == p->node.ino;
}

/* Reports to all watches of one inode. `child` is set if the event may concern
 * a removed name, which IN_EXCL_UNLINK does not want to see. */
static void
tell(const struct vnode *node, uint32_t mask, uint32_t cookie, struct name name,
     const struct dentry *child)
{
    const struct fs *fs = node->mnt->fs;
    struct kernel *k = fs->kernel;

    if (!k->watches)
        return;
    LIST_FOR_EACH_SAFE(it, inotify_bucket_of(k->watches, fs, node->ino)) {
        struct inotify_watch *w =
            CONTAINER_OF(it, struct inotify_watch, in_bucket);
        if (w->fs != fs || w->ino != node->ino)
            continue;
        if (child && w->mask & IN_EXCL_UNLINK && !is_linked(child))
            continue;
        fire(w, mask, cookie, name);
        if (!k->watches)
            return; /* the table is gone with its last watch */
    }
}

static uint32_t
inotify_kind_of(const struct vnode *node)
{
    struct attr a;

    return vnode_getattr(node, &a) == 0 && S_ISDIR(a.mode) ? IN_ISDIR : 0;
}

static void
tell_node(const struct vnode *node, uint32_t mask)
{
    tell(node, mask, 0, (struct name){"", 0}, NULL);
}

/* Reports to the watches of the directory, with the name. The root of a mount
 * has no name in the directory that it covers. */
static void
tell_dir(const struct dentry *p, uint32_t mask, uint32_t cookie,
         bool may_be_gone)
{
    if (!p->name || (p->node.mnt && p->node.mnt != p->dir.mnt))
        return;
    tell(&p->dir, mask, cookie, (struct name){p->name, strlen(p->name)},
         may_be_gone ? p : NULL);
}

/* The directory first, then the inode itself, in the order of Linux. */
void
inotify_report(const struct dentry *p, uint32_t mask)
{
    if (!watching(&p->node))
        return;
    mask |= inotify_kind_of(&p->node);
    tell_dir(p, mask, 0, true);
    tell_node(&p->node, mask);
}

/* Operations through an O_PATH descriptor do not exist, so nothing is reported
 * for one. */
void
inotify_file(const struct file *f, uint32_t mask)
{
    if (!watching(&f->node) || f->flags & O_PATH)
        return;
    struct dentry p = file_dentry(f);
    inotify_report(&p, mask);
}

/* Linux reports a change of only one time as an access or a modification. */
void
inotify_attr(const struct dentry *p, unsigned what)
{
    const unsigned times = what & (ATTR_ATIME | ATTR_MTIME);

    if (what & ATTR_SIZE || (what == times && times == ATTR_MTIME))
        inotify_report(p, IN_MODIFY);
    else if (what == times && times == ATTR_ATIME)
        inotify_report(p, IN_ACCESS);
    else
        inotify_report(p, IN_ATTRIB);
}

/* Only the directory can be watched: the inode is new. */
void
inotify_created(const struct dentry *p)
{
    if (watching(&p->node))
        tell_dir(p, IN_CREATE | inotify_kind_of(&p->node), 0, false);
}

/* The inode no longer exists if its attributes cannot be read. */
void
inotify_gone(const struct vnode *node)
{
    struct attr a;

    if (!watching(node) || vnode_getattr(node, &a) == 0)
        return;
    tell_node(node, IN_DELETE_SELF);
    struct kernel *k = watching(node);
    if (!k)
        return;
    LIST_FOR_EACH_SAFE(
        it, inotify_bucket_of(k->watches, node->mnt->fs, node->ino)) {
        struct inotify_watch *w =
            CONTAINER_OF(it, struct inotify_watch, in_bucket);
        if (w->fs == node->mnt->fs && w->ino == node->ino)
            watch_end(w);
        if (!k->watches)
            return;
    }
}

/* A file that has another name, or is open, still exists: it only lost a
 * link. */
void
inotify_deleted(const struct dentry *p, bool is_dir)
{
    if (!watching(&p->node))
        return;
    if (!is_dir)
        tell_node(&p->node, IN_ATTRIB); /* it has one link less */
    tell_dir(p, IN_DELETE | (is_dir ? IN_ISDIR : 0), 0, false);
    inotify_gone(&p->node);
}

static bool
is_at(const struct file *f, const struct dentry *p)
{
    return f && f->name && f->node.ino == p->node.ino &&
           vnode_is_same(&f->dir, &p->dir) && strcmp(f->name, p->name) == 0;
}

/* Updates the names of open files, so that later events have the new name. A
 * file without memory for its new name keeps the old one. */
static void
rename_files(struct task *t, const struct dentry *from, const struct dentry *to)
{
    for (size_t i = 0; i < t->fds.cap; i++) {
        struct file *f = t->fds.v[i].file;
        char *name = is_at(f, from) ? strdup(to->name) : NULL;
        if (!name)
            continue;
        free(f->name);
        f->name = name;
        f->dir = to->dir;
    }
}

/* The cookie ties the two halves of a move together. */
void
inotify_moved(const struct dentry *from, const struct dentry *to, bool is_dir)
{
    struct kernel *k = watching(&from->node);

    if (!k)
        return;
    uint32_t kind = is_dir ? IN_ISDIR : 0, cookie = ++k->watches->last_cookie;
    tell_dir(from, IN_MOVED_FROM | kind, cookie, false);
    tell_dir(to, IN_MOVED_TO | kind, cookie, false);
    if (to->node.mnt && to->node.ino != from->node.ino)
        tell_node(&to->node, IN_ATTRIB);
    tell_node(&from->node, IN_MOVE_SELF);
    LIST_FOR_EACH(it, &k->tasks)
        rename_files(CONTAINER_OF(it, struct task, link), from, to);
    if (to->node.mnt)
        inotify_gone(&to->node);
}
