/* Inodes: holds, and the paths of directories.
 *
 * Problem: an inode does not know its names, and a path that was stored when a
 * directory was entered becomes wrong with the first rename above it.
 *
 * Idea: a directory has exactly one name. Its path is therefore found anew each
 * time, by going up to the root and searching each parent for the inode. The
 * file system knows the position of a directory in its parent, so the search
 * ends at the first entry that it reads. A file may have several names, or none
 * any more: /proc shows the name by which it was opened, if that still leads to
 * it. */
#include "kernel/vfs/notify.h"
#include "kernel/vfs/vfs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void
vnode_hold(const struct vnode *v)
{
    struct fs *fs = v->mnt->fs;

    if (fs->ops->hold)
        fs->ops->hold(fs, v->ino);
}

/* A released inode may be gone: its watches end then. */
void
vnode_release(const struct vnode *v)
{
    struct fs *fs = v->mnt->fs;

    if (fs->ops->release)
        fs->ops->release(fs, v->ino);
    notify_gone(v);
}

/* --- paths */

/* A search for the name of an inode in its directory. */
struct vnode_search {
    struct dir_emit emit;
    uint64_t ino;
    char name[NAME_BYTES_MAX + 1];
    bool found;
};

static bool
vnode_emit_name(struct dir_emit *e, const char *name, size_t len, uint64_t ino,
                unsigned dtype, uint64_t cookie)
{
    struct vnode_search *f = CONTAINER_OF(e, struct vnode_search, emit);

    (void)dtype, (void)cookie;
    if (ino != f->ino)
        return true;
    memcpy(f->name, name, len);
    f->name[len] = 0;
    f->found = true;
    return false;
}

/* Moves *v to its parent, and stores its name there in f->name.
 *
 * Inodes do not know their names. The parent is read instead, from the position
 * that the file system remembers, so that a name is usually found at the first
 * entry. */
static int
vnode_go_up(struct vnode *v, struct vnode_search *f)
{
    while (v->ino == v->mnt->root && v->mnt->parent)
        *v = (struct vnode){v->mnt->parent, v->mnt->at};
    struct fs *fs = v->mnt->fs;
    uint64_t up;
    int r = fs->ops->parent(fs, v->ino, &up);
    if (r < 0)
        return r;
    f->ino = v->ino;
    f->found = false;
    uint64_t from = fs->ops->position ? fs->ops->position(fs, v->ino) : 0;
    r = fs->ops->readdir(fs, up, from, &f->emit);
    if (r < 0)
        return r;
    v->ino = up;
    return f->found ? 0 : -ENOENT;
}

/* The root of the first mount, whatever the root of a task is. */
static bool
vnode_is_top(const struct vnode *v)
{
    return !v->mnt->parent && v->ino == v->mnt->root;
}

/* The path is built from its end: names are put before each other while going
 * up. A loop, because a guest controls the depth. */
int64_t
vnode_path(const struct vnode *dir, char *buf, size_t size)
{
    struct vnode_search f = {.emit.entry = vnode_emit_name};
    struct vnode v = *dir;
    size_t at = size;

    if (size < 2)
        return -ERANGE;
    buf[--at] = 0;
    if (vnode_is_top(&v))
        buf[--at] = '/';
    while (!vnode_is_top(&v)) {
        int r = vnode_go_up(&v, &f);
        if (r < 0)
            return r;
        size_t len = strlen(f.name);
        if (len + 1 > at)
            return -ERANGE;
        at -= len;
        memcpy(buf + at, f.name, len);
        buf[--at] = '/';
    }
    memmove(buf, buf + at, size - at);
    return (int64_t)(size - at - 1);
}

/* Finds the name that leads from dir to node now: `name`, or another one if it
 * was renamed. Returns false if there is none. */
static bool
vnode_find_name(const struct vnode *dir, const char *name,
                const struct vnode *node, struct vnode_search *f)
{
    struct fs *fs = dir->mnt->fs;
    struct name n = {name, strlen(name)};
    struct vnode now = {dir->mnt, dir->ino};

    memcpy(f->name, name, n.len + 1);
    if (n.len && fs->ops->lookup(fs, dir->ino, n, &now.ino) < 0)
        now.ino = 0;
    mount_cross(&now);
    if (vnode_is_same(&now, node))
        return true;
    f->ino = node->ino;
    f->found = false;
    if (node->mnt == dir->mnt)
        (void)fs->ops->readdir(fs, dir->ino, 0, &f->emit);
    return f->found;
}

int64_t
vnode_path_in(const struct vnode *dir, const char *name,
              const struct vnode *node, char *buf, size_t size)
{
    struct vnode_search f = {.emit.entry = vnode_emit_name};
    bool found = vnode_find_name(dir, name, node, &f);

    int64_t len = vnode_path(dir, buf, size);
    if (len < 0)
        return len;
    int n = snprintf(buf + len, size - (size_t)len, "%s%s%s",
                     f.name[0] && len > 1 ? "/" : "", f.name,
                     found ? "" : " (deleted)");
    len += n;
    return (size_t)len < size ? len : -ERANGE;
}
