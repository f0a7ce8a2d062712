/* Open regular files of the file system in memory.
 *
 * The inode is looked up by number for each operation: the tree may have
 * replaced it by a copy. The hold of the open file keeps it from going. */
#include "kernel/vfs/file.h"
#include "kernel/vfs/shmem.h"
#include "kernel/vfs/tmpfs_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct tmpfs_file {
    struct tmpfs *fs;
    uint64_t ino;
};

static const struct inode *
tmpfs_file_inode(const struct file *f)
{
    const struct tmpfs_file *o = f->obj;

    return tree_find(&o->fs->tree, o->ino);
}

/* Returns the memory of a file that is mapped, or NULL. */
static struct shmem *
tmpfs_file_shmem(const struct file *f)
{
    const struct tmpfs_file *o = f->obj;

    return shmem_find(&o->fs->fs, o->ino);
}

static int64_t
tmpfs_file_read(struct file *f, struct task *t, void *buf, size_t len,
                uint64_t *pos)
{
    (void)t;
    const struct inode *i = tmpfs_file_inode(f);
    if (!i)
        return -ESTALE;
    int64_t n = inode_read(i, *pos, buf, len);
    shmem_read(tmpfs_file_shmem(f), *pos, buf, (uint64_t)n);
    *pos += (uint64_t)n;
    return n;
}

/* The position moves by the bytes that were written, also in a short write. */
static int64_t
tmpfs_file_write(struct file *f, struct task *t, const void *buf, size_t len,
                 uint64_t *pos)
{
    struct tmpfs_file *o = f->obj;

    (void)t;
    int64_t n =
        tree_write(&o->fs->tree, o->ino, *pos, buf, len, tmpfs_now(o->fs));
    if (n > 0) {
        shmem_write(tmpfs_file_shmem(f), *pos, buf, (uint64_t)n);
        *pos += (uint64_t)n;
    }
    return tmpfs_report_full(o->fs, n);
}

/* Positions beyond the end are allowed; a write there leaves a hole. */
static int64_t
tmpfs_file_seek(struct file *f, int64_t offset, int whence)
{
    const struct inode *i = tmpfs_file_inode(f);
    int64_t base = 0, pos;

    if (!i)
        return -ESTALE;
    if (whence == SEEK_DATA || whence == SEEK_HOLE)
        return offset < 0 ? -ENXIO : inode_seek(i, (uint64_t)offset, whence);
    if (whence == SEEK_CUR)
        base = (int64_t)f->pos;
    else if (whence == SEEK_END)
        base = (int64_t)i->size;
    else if (whence != SEEK_SET)
        return -EINVAL;
    if (__builtin_add_overflow(base, offset, &pos))
        return -EOVERFLOW;
    return pos < 0 ? -EINVAL : pos;
}

static int
tmpfs_file_getattr(struct file *f, struct attr *ret)
{
    const struct tmpfs_file *o = f->obj;
    const struct inode *i = tmpfs_file_inode(f);
    if (!i)
        return -ESTALE;
    inode_getattr(i, o->ino, ret);
    return 0;
}

static int
tmpfs_file_truncate(struct file *f, uint64_t size)
{
    struct tmpfs_file *o = f->obj;

    return tmpfs_truncate(o->fs, o->ino, size);
}

static int64_t
tmpfs_file_fallocate(struct file *f, int mode, uint64_t off, uint64_t len)
{
    struct tmpfs_file *o = f->obj;
    struct tree *tree = &o->fs->tree;
    int64_t now = tmpfs_now(o->fs);
    int64_t r;

    if (!len)
        return -EINVAL;
    if (mode == (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE)) {
        r = tree_punch(tree, o->ino, off, len, now) ?: (int64_t)len;
        if (r > 0)
            shmem_write(tmpfs_file_shmem(f), off, NULL, len);
    } else if (mode == 0 || mode == FALLOC_FL_KEEP_SIZE)
        r = tree_allocate(tree, o->ino, off, len, mode != 0, now);
    else
        return -EOPNOTSUPP;
    return tmpfs_report_full(o->fs, r);
}

static void
tmpfs_file_release(struct file *f)
{
    free(f->obj);
}

static const struct file_ops tmpfs_file_ops = {
    .kind = "tmpfs",
    .read = tmpfs_file_read,
    .write = tmpfs_file_write,
    .seek = tmpfs_file_seek,
    .getattr = tmpfs_file_getattr,
    .truncate = tmpfs_file_truncate,
    .fallocate = tmpfs_file_fallocate,
    .release = tmpfs_file_release,
};

/* Other kinds of files are opened by the vfs, or not at all. */
int
tmpfs_open(struct fs *fs, const struct caller *as, uint64_t ino, uint32_t flags,
           OWN struct file **ret)
{
    (void)as;
    const struct inode *i = tree_find(&tmpfs_of(fs)->tree, ino);
    if (!i)
        return -ESTALE;
    if (!S_ISREG(i->mode))
        return -ENXIO;
    struct tmpfs_file *o = malloc(sizeof *o);
    if (!o)
        return -ENOMEM;
    *o = (struct tmpfs_file){tmpfs_of(fs), ino};
    struct file *f;
    int r = file_new(fs->vfs, &tmpfs_file_ops, o, flags, &f);
    if (r < 0)
        return r;
    f->has_pos = true;
    *ret = f;
    return 0;
}
