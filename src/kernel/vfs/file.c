/* Open files: references, and the parts that all kinds share.
 *
 * A file is created with its object, and owns it from then on. When the last
 * reference is gone, watches are notified first, then everything that knows the
 * file forgets it, then the object is released, and the inode last. */
#include "kernel/vfs/file.h"

#include "kernel/vfs/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

/* The object is consumed on failure too: it is released through a file that
 * exists only for that. */
int
file_new(struct vfs *v, const struct file_ops *ops, OWN void *obj,
         uint32_t flags, OWN struct file **ret)
{
    struct file *f = malloc(sizeof *f);

    if (!f || !v->hooks->charge_file(v)) {
        struct file dying = {.ops = ops, .vfs = v, .obj = obj};
        int r = f ? -ENFILE : -ENOMEM;
        free(f);
        if (ops->release)
            ops->release(&dying);
        return r;
    }
    *f = (struct file){
        .ops = ops, .vfs = v, .obj = obj, .refs = 1, .flags = flags};
    list_init(&f->watchers);
    list_init(&f->link);
    f->anon_ino = ++v->next_anon_ino;
    *ret = f;
    return 0;
}

/* Files with an inode are in a list, so that a rename can update their
 * names. */
void
file_set_node(struct file *f, const struct vnode *node)
{
    vnode_hold(node);
    f->node = *node;
    list_push_back(&f->vfs->files, &f->link);
}

struct file *
file_get(struct file *f)
{
    f->refs++;
    return f;
}

/* If only messages refer to the file from now on, a cycle of sockets may be
 * unreachable (inflight.c). */
void
file_put(OWN struct file *f)
{
    if (!f)
        return;
    if (--f->refs) {
        if (f->refs == f->in_flight)
            f->vfs->hooks->on_file_in_flight(f);
        return;
    }
    if (f->node.mnt)
        notify_file(f, file_is_writable(f) ? IN_CLOSE_WRITE : IN_CLOSE_NOWRITE);
    f->vfs->hooks->on_file_end(f);
    list_remove(&f->link);
    if (f->ops->release)
        f->ops->release(f);
    if (f->node.mnt)
        vnode_release(&f->node);
    free(f->name);
    free(f);
}

int64_t
file_read(struct file *f, struct task *t, void *buf, size_t len, uint64_t *pos)
{
    int64_t n = f->ops->read(f, t, buf, len, pos);

    if (n > 0)
        notify_file(f, IN_ACCESS);
    return n;
}

/* The end is asked for before each write: another process may have appended. */
int
file_append_pos(struct file *f, uint64_t *pos)
{
    struct attr a;

    if (!(f->flags & O_APPEND))
        return 0;
    int r = file_getattr(f, &a);
    if (r == 0)
        *pos = a.size;
    return r;
}

int64_t
file_write(struct file *f, struct task *t, const void *buf, size_t len,
           uint64_t *pos)
{
    int64_t n = f->ops->write(f, t, buf, len, pos);

    if (n > 0)
        notify_file(f, IN_MODIFY);
    return n;
}

/* An O_PATH file can be neither read nor written. */
bool
file_is_readable(const struct file *f)
{
    uint32_t mode = f->flags & O_ACCMODE;

    return !(f->flags & O_PATH) && (mode == O_RDONLY || mode == O_RDWR);
}

bool
file_is_writable(const struct file *f)
{
    uint32_t mode = f->flags & O_ACCMODE;

    return !(f->flags & O_PATH) && (mode == O_WRONLY || mode == O_RDWR);
}

short
file_poll(struct file *f, struct poll_table *pt)
{
    if (!f->ops->poll)
        return POLLIN | POLLOUT | POLLRDNORM | POLLWRNORM;
    return f->ops->poll(f, pt);
}

/* Pipes and sockets belong to the user of the sandbox, and are as old as the
 * question. */
int
file_anon_attr(const struct file *f, uint32_t mode, struct attr *ret)
{
    int64_t now = f->vfs->hooks->now_ns(f->vfs);

    *ret = (struct attr){.ino = f->anon_ino,
                         .mode = mode,
                         .nlink = 1,
                         .uid = f->vfs->user->uid,
                         .gid = f->vfs->user->gid,
                         .blksize = 4096,
                         .atime_ns = now,
                         .mtime_ns = now,
                         .ctime_ns = now};
    return 0;
}

int
file_getattr(struct file *f, struct attr *ret)
{
    if (f->ops->getattr)
        return f->ops->getattr(f, ret);
    if (f->node.mnt)
        return vnode_getattr(&f->node, ret);
    return file_anon_attr(f, 0600, ret);
}

int64_t
file_seek_endless(struct file *f, int64_t offset, int whence)
{
    if (whence == SEEK_CUR) {
        if (__builtin_add_overflow(offset, (int64_t)f->pos, &offset))
            return -EOVERFLOW;
    } else if (whence != SEEK_SET) {
        return -EINVAL;
    }
    return offset < 0 ? -EINVAL : offset;
}
