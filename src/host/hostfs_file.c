/* Open regular files of a host folder.
 *
 * The kernel keeps the position, so all transfers name theirs (pread,
 * pwritev2). Two open files of the guest for one inode are two descriptors
 * of the host, each with its own rights, checked by the host when it was
 * opened. */
#include "host/hostfile.h"
#include "host/hostfs_impl.h"
#include "kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

/* A transfer is bounded, since a slow disk blocks the OS thread. */
enum { TRANSFER_MAX = 1 << 20 };

static int64_t
hostfs_file_hostopen_read(struct file *f, struct task *t, void *buf, size_t len,
                          uint64_t *pos)
{
    const struct hostopen *o = f->obj;
    size_t max = len < TRANSFER_MAX ? len : TRANSFER_MAX;
    ssize_t n = pread(o->hfd, buf, max, (off_t)*pos);

    (void)t;
    if (n < 0)
        return -errno;
    *pos += (uint64_t)n;
    return n;
}

/* A write is cut to the rest of the quota, like a write to a disk that
 * becomes full. With O_APPEND the host chooses the position, at the end as it
 * is then. */
static int64_t
hostfs_file_hostopen_write(struct file *f, struct task *t, const void *buf,
                           size_t len, uint64_t *pos)
{
    const struct hostopen *o = f->obj;
    struct iovec v = {(void *)buf, len < TRANSFER_MAX ? len : TRANSFER_MAX};
    int how = f->flags & O_APPEND ? RWF_APPEND : 0;
    uint64_t before = 0, most;

    (void)t;
    int r = hostfs_check_size(o->fs, o->hfd, 0, &before);
    if (r < 0)
        return r;
    uint64_t at = how ? before : *pos;
    most = before + hostfs_left(o->fs).bytes;
    if (v.iov_len && at >= most)
        return hostfs_refuse(o->fs, LIMIT_mount_bytes);
    if (v.iov_len > most - at)
        v.iov_len = most - at;
    ssize_t n = pwritev2(o->hfd, &v, 1, (off_t)*pos, how);
    if (n < 0)
        return -errno;
    if (at + (uint64_t)n > before)
        hostfs_count_size(o->fs, before, at + (uint64_t)n);
    *pos += (uint64_t)n;
    return n;
}

/* SEEK_CUR is relative to the kernel's position, which the host does not know.
 * SEEK_DATA, SEEK_HOLE and SEEK_END are the host's. */
static int64_t
hostfs_file_hostopen_seek(struct file *f, int64_t offset, int whence)
{
    const struct hostopen *o = f->obj;

    if (whence == SEEK_CUR) {
        if (__builtin_add_overflow(offset, (int64_t)f->pos, &offset))
            return -EOVERFLOW;
        whence = SEEK_SET;
    }
    off_t at = lseek(o->hfd, offset, whence);
    return at < 0 ? -errno : at;
}

static int
hostfs_file_hostopen_getattr(struct file *f, struct attr *ret)
{
    const struct hostopen *o = f->obj;
    struct stat st;

    if (fstat(o->hfd, &st) < 0)
        return -errno;
    hostfile_attr(f->vfs, &st, ret);
    ret->ino = o->node->ino;
    return 0;
}

static int
hostfs_file_hostopen_truncate(struct file *f, uint64_t size)
{
    const struct hostopen *o = f->obj;

    return hostfs_truncate(o->fs, o->hfd, size);
}

static int64_t
hostfs_file_hostopen_fallocate(struct file *f, int mode, uint64_t off,
                               uint64_t len)
{
    const struct hostopen *o = f->obj;
    uint64_t before = 0;

    /* Blocks behind the end would be outside of what is counted. */
    if (mode & FALLOC_FL_KEEP_SIZE && !(mode & FALLOC_FL_PUNCH_HOLE))
        return -EOPNOTSUPP;
    if (len > TRANSFER_MAX)
        len = TRANSFER_MAX;
    uint64_t end = mode & FALLOC_FL_KEEP_SIZE ? 0 : off + len;
    int r = hostfs_check_size(o->fs, o->hfd, end, &before);
    if (r < 0)
        return r;
    if (fallocate(o->hfd, mode, (off_t)off, (off_t)len) < 0)
        return -errno;
    if (end > before)
        hostfs_count_size(o->fs, before, end);
    return (int64_t)len;
}

/* A file without a name releases its space with its last descriptor. Only now
 * is it credited to the quota. */
static void
hostfs_file_hostopen_release(struct file *f)
{
    struct hostopen *o = f->obj;

    list_remove(&o->link);
    if (list_is_empty(&o->node->files))
        hostfs_count_gone(o->fs, hostfs_cost_of_nameless(o->hfd));
    (void)close(o->hfd);
    hostnode_release(o->fs, o->node);
    free(o);
}

static const struct file_ops hostopen_ops = {
    .read = hostfs_file_hostopen_read,
    .write = hostfs_file_hostopen_write,
    .seek = hostfs_file_hostopen_seek,
    .getattr = hostfs_file_hostopen_getattr,
    .truncate = hostfs_file_hostopen_truncate,
    .fallocate = hostfs_file_hostopen_fallocate,
    .release = hostfs_file_hostopen_release,
};

/* --- opening */

/* Returns the descriptor of a file that was just created, once, or -1. Its mode
 * may forbid what its creator is allowed this once. */
static int
hostfs_file_take_fresh(struct hostfs *h, const struct hostnode *n)
{
    if (h->fresh_hfd < 0 || h->fresh_ino != n->ino)
        return -1;
    int hfd = h->fresh_hfd;
    h->fresh_hfd = -1;
    return hfd;
}

/* Opens a file without a name, through an open file of it with enough
 * rights. */
static int
hostfs_file_open_nameless(const struct hostnode *n, uint32_t access)
{
    LIST_FOR_EACH(it, &n->files) {
        const struct hostopen *o = CONTAINER_OF(it, struct hostopen, link);
        if (o->access != access && o->access != O_RDWR)
            continue;
        int hfd = fcntl(o->hfd, F_DUPFD_CLOEXEC, 0);
        return hfd < 0 ? -errno : hfd;
    }
    return list_is_empty(&n->files) ? -ENOENT : -EACCES;
}

static int
hostfs_file_open_data(struct hostfs *h, struct hostnode *n, uint32_t access)
{
    int hfd = hostfs_file_take_fresh(h, n);

    if (hfd >= 0)
        return hfd;
    if (!n->name)
        return hostfs_file_open_nameless(n, access);
    return hostnode_open(h, n, access | O_NONBLOCK);
}

/* The kind is checked before the file is opened, because opening a device can
 * have effects. It is checked again after it, because the name may lead
 * elsewhere by then. */
static int
hostfs_file_open_regular(struct hostfs *h, struct hostnode *n, uint32_t access)
{
    struct stat st;
    int r = hostnode_stat(h, n, &st);

    if (r < 0)
        return r;
    if (!S_ISREG(st.st_mode))
        return -EACCES;
    int hfd = hostfs_file_open_data(h, n, access);
    if (hfd < 0)
        return hfd;
    if (fstat(hfd, &st) < 0 || !S_ISREG(st.st_mode)) {
        (void)close(hfd);
        return -EACCES;
    }
    return hfd;
}

int
hostopen_new(struct hostfs *h, struct hostnode *n, uint32_t flags,
             OWN struct file **ret)
{
    uint32_t access = flags & O_ACCMODE;

    if (h->read_only && (access != O_RDONLY || flags & O_TRUNC))
        return -EROFS;
    struct hostopen *o = calloc(1, sizeof *o);
    if (!o)
        return -ENOMEM;
    o->fs = h;
    o->access = access;
    o->hfd = hostfs_file_open_regular(h, n, access);
    if (o->hfd < 0) {
        int r = o->hfd;
        free(o);
        return r;
    }
    o->node = n;
    hostnode_hold(h, n);
    list_push_back(&n->files, &o->link);
    int r = file_new(h->fs.vfs, &hostopen_ops, o, flags, ret);
    if (r == 0)
        (*ret)->has_pos = true;
    return r;
}
