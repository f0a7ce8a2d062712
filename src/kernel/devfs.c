/* /dev: one row per entry; terminals are found by number in pts/, and message
 * queues by name in mqueue/.
 *
 * Inode numbers: the row plus one (the root is row 0), PTS_INO + N for
 * /dev/pts/N, MQUEUE_INO + N for a queue. The table is constant, so only queues
 * can be created and removed here. */
#include "kernel/devfs.h"

#include "kernel/kernel.h"
#include "kernel/mqueue.h"
#include "kernel/tty.h"
#include "kernel/vfs/file.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

enum { PTS_INO = 1000, TTY_GID = 5, CHUNK_MAX = 1 << 20 };
#define MQUEUE_INO (UINT64_C(1) << 32)

/* --- the devices */

/* /dev/null: reads the end of file, and accepts all bytes. */
static int64_t
devfs_read_null(struct file *f, struct task *t, void *buf, size_t len,
                uint64_t *pos)
{
    (void)f, (void)t, (void)buf, (void)len, (void)pos;
    return 0;
}

static int64_t
devfs_write_null(struct file *f, struct task *t, const void *buf, size_t len,
                 uint64_t *pos)
{
    (void)f, (void)t, (void)buf, (void)pos;
    return (int64_t)len;
}

/* /dev/zero: a long read returns in steps, so that it cannot hold the
 * kernel. */
static int64_t
devfs_read_zero(struct file *f, struct task *t, void *buf, size_t len,
                uint64_t *pos)
{
    size_t n = len < CHUNK_MAX ? len : CHUNK_MAX;

    (void)f, (void)t, (void)pos;
    memset(buf, 0, n);
    return (int64_t)n;
}

/* /dev/full: a disk that is always full. */
static int64_t
devfs_write_full(struct file *f, struct task *t, const void *buf, size_t len,
                 uint64_t *pos)
{
    (void)f, (void)t, (void)buf, (void)len, (void)pos;
    return -ENOSPC;
}

/* /dev/random and /dev/urandom: never waits, as the host's generator is
 * seeded. */
static int64_t
devfs_read_random(struct file *f, struct task *t, void *buf, size_t len,
                  uint64_t *pos)
{
    size_t n = len < CHUNK_MAX ? len : CHUNK_MAX;

    (void)t, (void)pos;
    rng_fill(&kernel_of(f->vfs)->rng, buf, n);
    return (int64_t)n;
}

/* Programs may seek in devices, which have no position. */
static int64_t
devfs_seek_nowhere(struct file *f, int64_t offset, int whence)
{
    (void)f, (void)offset, (void)whence;
    return 0;
}

static const struct file_ops null_ops = {
    .kind = "null",
    .read = devfs_read_null,
    .write = devfs_write_null,
    .seek = devfs_seek_nowhere,
};
static const struct file_ops zero_ops = {
    .kind = "zero",
    .read = devfs_read_zero,
    .write = devfs_write_null,
    .seek = devfs_seek_nowhere,
};
static const struct file_ops full_ops = {
    .kind = "full",
    .read = devfs_read_zero,
    .write = devfs_write_full,
    .seek = devfs_seek_nowhere,
};
static const struct file_ops random_ops = {
    .kind = "random",
    .read = devfs_read_random,
    .write = devfs_write_null,
    .seek = devfs_seek_nowhere,
};

/* --- the table */

typedef int open_fn(struct kernel *k, struct task *t, uint32_t flags,
                    OWN struct file **ret);

/* One entry of /dev. */
struct row {
    const char *name;
    uint32_t mode; /* with the type */
    unsigned major, minor;
    const struct file_ops *ops; /* of a plain device; else `open` */
    open_fn *open;
    const char *target; /* of a symbolic link */
};

enum { ROW_ROOT, ROW_PTS, ROW_FIRST = 1, ROW_MQUEUE = 14 };

static const struct row rows[] = {
    [ROW_ROOT] = {"", S_IFDIR | 0755, 0, 0, NULL, NULL, NULL},
    [ROW_PTS] = {"pts", S_IFDIR | 0755, 0, 0, NULL, NULL, NULL},
    {"shm", S_IFDIR | 01777, 0, 0, NULL, NULL, NULL},
    {"null", S_IFCHR | 0666, 1, 3, &null_ops, NULL, NULL},
    {"zero", S_IFCHR | 0666, 1, 5, &zero_ops, NULL, NULL},
    {"full", S_IFCHR | 0666, 1, 7, &full_ops, NULL, NULL},
    {"random", S_IFCHR | 0666, 1, 8, &random_ops, NULL, NULL},
    {"urandom", S_IFCHR | 0666, 1, 9, &random_ops, NULL, NULL},
    {"tty", S_IFCHR | 0666, 5, 0, NULL, tty_open_current, NULL},
    {"ptmx", S_IFCHR | 0666, 5, 2, NULL, pty_open_master, NULL},
    {"fd", S_IFLNK | 0777, 0, 0, NULL, NULL, "/proc/self/fd"},
    {"stdin", S_IFLNK | 0777, 0, 0, NULL, NULL, "/proc/self/fd/0"},
    {"stdout", S_IFLNK | 0777, 0, 0, NULL, NULL, "/proc/self/fd/1"},
    {"stderr", S_IFLNK | 0777, 0, 0, NULL, NULL, "/proc/self/fd/2"},
    [ROW_MQUEUE] = {"mqueue", S_IFDIR | 01777, 0, 0, NULL, NULL, NULL},
};
enum { ROW_COUNT = sizeof rows / sizeof *rows };

struct devfs {
    struct fs fs;
    int64_t born_ns;
};

static uint64_t
devfs_ino(size_t row)
{
    return row + 1;
}

/* NULL: a terminal, or no such inode. */
static const struct row *
devfs_row(uint64_t ino)
{
    return ino >= 1 && ino <= ROW_COUNT ? &rows[ino - 1] : NULL;
}

/* Terminals come and go, so they are looked up for each operation. */
static struct tty *
devfs_tty(struct fs *fs, uint64_t ino)
{
    return ino >= PTS_INO && ino < MQUEUE_INO
               ? tty_find(kernel_of(fs->vfs), (unsigned)(ino - PTS_INO))
               : NULL;
}

static struct mqueue *
devfs_mqueue(struct fs *fs, uint64_t ino)
{
    return ino >= MQUEUE_INO
               ? mqueue_by_id(kernel_of(fs->vfs), ino - MQUEUE_INO)
               : NULL;
}

/* --- operations */

/* Numbers have no leading zeros, so each terminal has one name. */
static int
devfs_lookup_pts(struct fs *fs, struct name name, uint64_t *ret_ino)
{
    unsigned n = 0;

    if (name.len > 3 || (name.s[0] == '0' && name.len > 1))
        return -ENOENT;
    for (size_t i = 0; i < name.len; i++) {
        if (name.s[i] < '0' || name.s[i] > '9')
            return -ENOENT;
        n = n * 10 + (unsigned)(name.s[i] - '0');
    }
    if (!tty_find(kernel_of(fs->vfs), n))
        return -ENOENT;
    *ret_ino = PTS_INO + n;
    return 0;
}

static int
devfs_lookup_mqueue(struct fs *fs, struct name name, uint64_t *ret_ino)
{
    const struct mqueue *q = mqueue_find(kernel_of(fs->vfs), name);

    if (!q)
        return -ENOENT;
    *ret_ino = MQUEUE_INO + mqueue_id(q);
    return 0;
}

static int
devfs_lookup(struct fs *fs, uint64_t dir, struct name name, uint64_t *ret_ino)
{
    if (dir == devfs_ino(ROW_PTS))
        return devfs_lookup_pts(fs, name, ret_ino);
    if (dir == devfs_ino(ROW_MQUEUE))
        return devfs_lookup_mqueue(fs, name, ret_ino);
    if (dir != fs->root)
        return -ENOENT;
    for (size_t i = ROW_FIRST; i < ROW_COUNT; i++) {
        if (strlen(rows[i].name) != name.len ||
            memcmp(rows[i].name, name.s, name.len) != 0)
            continue;
        *ret_ino = devfs_ino(i);
        return 0;
    }
    return -ENOENT;
}

/* All directories are below the root. */
static int
devfs_parent(struct fs *fs, uint64_t dir, uint64_t *ret_ino)
{
    (void)dir;
    *ret_ino = fs->root;
    return 0;
}

/* A directory has its own entry, its name, and ".." of each directory in it. */
static uint32_t
devfs_link_count(const struct row *row)
{
    if (!S_ISDIR(row->mode))
        return 1;
    return row == &rows[ROW_ROOT] ? 5 : 2;
}

/* Devices have the time at which the sandbox started; nothing changes it. */
static int
devfs_getattr(struct fs *fs, uint64_t ino, struct attr *ret)
{
    const struct row *row = devfs_row(ino);
    const struct tty *tty = devfs_tty(fs, ino);
    const struct mqueue *queue = devfs_mqueue(fs, ino);
    int64_t born = ((const struct devfs *)fs)->born_ns;

    if (!row && !tty && !queue)
        return -ENOENT;
    *ret = (struct attr){.ino = ino, .nlink = 1, .blksize = 4096};
    ret->atime_ns = ret->mtime_ns = ret->ctime_ns = born;
    if (queue)
        mqueue_getattr(queue, ret);
    if (queue)
        ret->ino = ino;
    if (tty)
        tty_getattr(tty, ret);
    if (!row)
        return 0;
    ret->mode = row->mode;
    ret->nlink = devfs_link_count(row);
    ret->size = row->target ? strlen(row->target) : 0;
    ret->rdev = makedev(row->major, row->minor);
    ret->gid = row->open == tty_open_current ? TTY_GID : 0;
    return 0;
}

/* The owner may change a terminal or a queue; times of devices are not kept. */
static int
devfs_setattr(struct fs *fs, uint64_t ino, const struct attr *a, unsigned what)
{
    struct tty *tty = devfs_tty(fs, ino);
    struct mqueue *queue = devfs_mqueue(fs, ino);

    if (queue)
        return mqueue_setattr(queue, a, what);
    if (tty)
        return tty_setattr(tty, a, what);
    if (what & ATTR_SIZE)
        return -EINVAL;
    return what & (ATTR_MODE | ATTR_UID | ATTR_GID) ? -EPERM : 0;
}

/* A queue of the default size, as on Linux, for the process that makes the
 * call; outside of calls, for init. */
static int
devfs_create(struct fs *fs, uint64_t dir, struct name name,
             const struct attr *a, uint64_t *ret_ino)
{
    struct kernel *k = kernel_of(fs->vfs);
    struct task *t = k->running ? k->running->task : k->init;
    struct mqueue *q;

    if (dir != devfs_ino(ROW_MQUEUE))
        return -ENOENT;
    if (!S_ISREG(a->mode))
        return -EPERM;
    int r = mqueue_new(t, name, a->mode,
                       (struct mqueue_size){MQUEUE_MESSAGES, MQUEUE_BYTES}, &q);
    if (r < 0)
        return r;
    *ret_ino = MQUEUE_INO + mqueue_id(q);
    return mqueue_setattr(q, a, ATTR_UID | ATTR_GID);
}

static int
devfs_unlink(struct fs *fs, uint64_t dir, struct name name, int flags)
{
    struct mqueue *q = mqueue_find(kernel_of(fs->vfs), name);

    if (dir != devfs_ino(ROW_MQUEUE))
        return -EPERM;
    if (!q)
        return -ENOENT;
    if (flags & UNLINK_DIR)
        return -ENOTDIR;
    mqueue_unlink(q);
    return 0;
}

/* The target is cut to the buffer, as readlink(2) does. */
static int64_t
devfs_readlink(struct fs *fs, const struct caller *as, uint64_t ino, char *buf,
               size_t size)
{
    const struct row *row = devfs_row(ino);

    (void)fs, (void)as;
    if (!row || !row->target)
        return -EINVAL;
    size_t len = strlen(row->target);
    size_t n = len < size ? len : size;
    memcpy(buf, row->target, n);
    return (int64_t)n;
}

/* A cookie is the number of the terminal that was emitted last, plus one. */
static int
devfs_readdir_pts(struct fs *fs, uint64_t cookie, struct dir_emit *emit)
{
    char name[16];
    int n = (int)cookie;

    while (n >= 0 &&
           (n = tty_next_index(kernel_of(fs->vfs), (unsigned)n)) >= 0) {
        int len = snprintf(name, sizeof name, "%d", n);
        if (!emit->entry(emit, name, (size_t)len, PTS_INO + (uint64_t)n, DT_CHR,
                         (uint64_t)n + 1))
            return 0;
        n++;
    }
    return 0;
}

/* A cookie is the number of the queue that was emitted last. */
static int
devfs_readdir_mqueue(struct fs *fs, uint64_t cookie, struct dir_emit *emit)
{
    struct kernel *k = kernel_of(fs->vfs);
    const struct mqueue *q = mqueue_from(k, cookie + 1);

    for (; q; q = mqueue_from(k, mqueue_id(q) + 1)) {
        const char *name = mqueue_name(q);
        if (!emit->entry(emit, name, strlen(name), MQUEUE_INO + mqueue_id(q),
                         DT_REG, mqueue_id(q)))
            return 0;
    }
    return 0;
}

/* A cookie is the number of the row that was given last. */
static int
devfs_readdir(struct fs *fs, uint64_t ino, uint64_t cookie,
              struct dir_emit *emit)
{
    if (ino == devfs_ino(ROW_PTS))
        return cookie < PTS_INO ? devfs_readdir_pts(fs, cookie, emit) : 0;
    if (ino == devfs_ino(ROW_MQUEUE))
        return devfs_readdir_mqueue(fs, cookie, emit);
    if (ino != fs->root)
        return 0;
    for (size_t i = cookie + ROW_FIRST; i < ROW_COUNT; i++)
        if (!emit->entry(emit, rows[i].name, strlen(rows[i].name), devfs_ino(i),
                         IFTODT(rows[i].mode), i))
            return 0;
    return 0;
}

/* A device keeps a position that nothing uses, so that pread and pwrite are
 * allowed. */
static int
devfs_open(struct fs *fs, const struct caller *as, uint64_t ino, uint32_t flags,
           OWN struct file **ret)
{
    const struct row *row = devfs_row(ino);
    struct tty *tty = devfs_tty(fs, ino);
    struct mqueue *queue = devfs_mqueue(fs, ino);

    if (queue)
        return mqueue_open(queue, flags, ret);
    if (tty)
        return tty_open(tty, task_of(as), flags, ret);
    if (row && row->open)
        return row->open(kernel_of(fs->vfs), task_of(as), flags, ret);
    if (!row || !row->ops)
        return -ENXIO;
    int r = file_new(fs->vfs, row->ops, NULL, flags, ret);
    if (r == 0)
        (*ret)->has_pos = true;
    return r;
}

static int
devfs_statfs(struct fs *fs, struct fs_stat *ret)
{
    (void)fs;
    *ret = (struct fs_stat){.type = 0x01021994, .bsize = 4096};
    return 0;
}

static void
devfs_free(OWN struct fs *fs)
{
    free(fs);
}

static const struct fs_ops devfs_ops = {
    .name = "devtmpfs",
    .lookup = devfs_lookup,
    .parent = devfs_parent,
    .getattr = devfs_getattr,
    .readlink = devfs_readlink,
    .readdir = devfs_readdir,
    .open = devfs_open,
    .statfs = devfs_statfs,
    .free = devfs_free,
};

static const struct fs_change_ops devfs_change_ops = {
    .setattr = devfs_setattr,
    .create = devfs_create,
    .unlink = devfs_unlink,
};

int
devfs_new(struct kernel *k, OWN struct fs **ret)
{
    struct devfs *d = calloc(1, sizeof *d);

    if (!d)
        return -ENOMEM;
    d->fs = (struct fs){.ops = &devfs_ops,
                        .change = &devfs_change_ops,
                        .vfs = &k->vfs,
                        .dev = ++k->vfs.next_dev,
                        .root = devfs_ino(ROW_ROOT)};
    d->born_ns = clock_real_ns(&k->clock);
    *ret = (struct fs *)d;
    return 0;
}
