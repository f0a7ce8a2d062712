/* Open directories: a position and the entries from there on.
 *
 * Position 0 is ".", 1 is "..", and p + 2 is the file system's position p. */
#include "kernel/vfs/dirfile.h"

#include "kernel/vfs/file.h"

#include <dirent.h>
#include <errno.h>

enum { DOTS = 2 };

static int64_t
dirfile_read_bytes(struct file *f, struct task *t, void *buf, size_t len,
                   uint64_t *pos)
{
    (void)f, (void)t, (void)buf, (void)len, (void)pos;
    return -EISDIR;
}

static const struct file_ops dirfile_ops = {
    .read = dirfile_read_bytes,
    .seek = file_seek_endless,
};

int
dirfile_new(struct vfs *v, uint32_t flags, OWN struct file **ret)
{
    int r = file_new(v, &dirfile_ops, NULL, flags, ret);

    if (r == 0)
        (*ret)->has_pos = true;
    return r;
}

/* Shifts the file system's positions by DOTS. */
struct shifted {
    struct dir_emit emit, *to;
};

static bool
dirfile_emit(struct dir_emit *e, const char *name, size_t len, uint64_t ino,
             unsigned dtype, uint64_t cookie)
{
    struct dir_emit *to = CONTAINER_OF(e, struct shifted, emit)->to;

    return to->entry(to, name, len, ino, dtype, cookie + DOTS);
}

/* A removed directory is empty, without "." and "..", as on Linux. */
int
dirfile_read(struct file *f, struct dir_emit *emit)
{
    struct shifted s = {.emit.entry = dirfile_emit, .to = emit};
    uint64_t up = f->node.ino;

    if (f->ops != &dirfile_ops)
        return -ENOTDIR;
    struct fs *fs = f->node.mnt->fs;
    struct attr a;
    int r = vnode_getattr(&f->node, &a);
    if (r < 0 || a.nlink == 0)
        return r < 0 ? r : -ENOENT;
    if (f->pos == 0 && !emit->entry(emit, ".", 1, f->node.ino, DT_DIR, 1))
        return 0;
    (void)fs->ops->parent(fs, f->node.ino, &up);
    if (f->pos <= 1 && !emit->entry(emit, "..", 2, up, DT_DIR, DOTS))
        return 0;
    uint64_t from = f->pos > DOTS ? f->pos - DOTS : 0;
    return fs->ops->readdir(fs, f->node.ino, from, &s.emit);
}

/* Notes that an entry was offered, and accepts none. */
static bool
dirfile_refuse(struct dir_emit *e, const char *name, size_t len, uint64_t ino,
               unsigned dtype, uint64_t cookie)
{
    (void)name, (void)len, (void)ino, (void)dtype, (void)cookie;
    e->entry = NULL;
    return false;
}

/* Tells the end of a directory from a buffer that is too small for the next
 * entry. */
bool
dirfile_has_more(struct file *f)
{
    struct dir_emit e = {dirfile_refuse};

    return dirfile_read(f, &e) == 0 && !e.entry;
}
