/* rename, with all its cases. */
#include "kernel/kernel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct rename_end {
    struct walk w;
    struct attr dir, node;
};

static int
find_end(const struct at *at, unsigned flags, struct rename_end *e)
{
    int r = path_walk(at->k, at->t, at->base, at->path,
                      WALK_NOFOLLOW | flags | at->walk, &e->w);

    if (r < 0)
        return r;
    if (!e->w.len)
        return -EBUSY;
    r = vnode_getattr(at->t, &e->w.dir, &e->dir);
    if (r < 0 || !e->w.node.mnt)
        return r;
    return vnode_getattr(at->t, &e->w.node, &e->node);
}

static int
may_change(struct task *t, const struct rename_end *e)
{
    if (!t || t->cred.uid == 0)
        return 0;
    int r = vfs_access(&t->cred, &e->dir, W_OK | X_OK);
    if (r < 0 || !e->w.node.mnt || !(e->dir.mode & S_ISVTX))
        return r;
    return t->cred.uid == e->node.uid || t->cred.uid == e->dir.uid ? 0 : -EPERM;
}

/* A directory that changes its parent gets another "..": a write to it. */
static int
may_move(struct task *t, const struct rename_end *from,
         const struct rename_end *to)
{
    if (!t || t->cred.uid == 0 || !S_ISDIR(from->node.mode) ||
        vnode_is_same(&from->w.dir, &to->w.dir))
        return 0;
    return vfs_access(&t->cred, &from->node, W_OK);
}

static int
check_kinds(const struct rename_end *from, const struct rename_end *to,
            unsigned flags)
{
    bool from_dir = S_ISDIR(from->node.mode);
    bool to_dir = to->w.node.mnt && S_ISDIR(to->node.mode);

    if (flags & RENAME_EXCHANGE)
        return 0;
    if ((from->w.slash || to->w.slash) && !from_dir)
        return -ENOTDIR;
    if (!to->w.node.mnt || vnode_is_same(&from->w.node, &to->w.node))
        return 0;
    if (from_dir && !to_dir)
        return -ENOTDIR;
    return !from_dir && to_dir ? -EISDIR : 0;
}

static bool
covers_mount(const struct rename_end *e)
{
    return e->w.node.mnt && e->w.node.mnt != e->w.dir.mnt;
}

int
vfs_rename(const struct at *from, const struct at *to, unsigned flags)
{
    struct rename_end a, b;

    if (flags & ~(unsigned)(RENAME_NOREPLACE | RENAME_EXCHANGE) ||
        flags == (RENAME_NOREPLACE | RENAME_EXCHANGE))
        return -EINVAL;
    int r = find_end(from, 0, &a);
    if (r == 0)
        r = find_end(to, flags & RENAME_EXCHANGE ? 0 : WALK_PARENT, &b);
    if (r < 0)
        return r;
    if (a.w.dir.mnt != b.w.dir.mnt)
        return -EXDEV;
    if (b.w.node.mnt && flags & RENAME_NOREPLACE)
        return -EEXIST;
    if (covers_mount(&a) || covers_mount(&b))
        return -EBUSY;
    struct fs *fs = a.w.dir.mnt->fs;
    if (a.w.dir.mnt->read_only || !fs->ops->rename)
        return -EROFS;
    r = may_change(from->t, &a);
    if (r == 0)
        r = may_change(to->t, &b);
    if (r == 0)
        r = may_move(from->t, &a, &b);
    if (r == 0)
        r = check_kinds(&a, &b, flags);
    if (r < 0)
        return r;
    return fs->ops->rename(fs, a.w.dir.ino, (struct name){a.w.name, a.w.len},
                           b.w.dir.ino, (struct name){b.w.name, b.w.len},
                           flags);
}
