/* rename, with all its cases.
 *
 * Problem: two paths are involved, each may be wrong in several ways, and the
 * error that Linux would return depends on the order of the checks. Moving a
 * directory below itself would cut it off from the tree.
 *
 * Idea: both ends are found completely before anything is checked, then all
 * checks run in Linux's order: names, read-only mounts, rights, kinds. The file
 * system moves the names in one step after that. Nothing else runs in between,
 * so what was checked is still true, and the check for loops is a plain walk
 * upwards from the other directory. */
#include "kernel/vfs/notify.h"
#include "kernel/vfs/vfs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* One side of a rename: where it is, and what is there. */
struct rename_end {
    struct walk w;
    struct attr dir, node;
};

/* Linux checks both directories before it looks up the names. */
static int
rename_find(const struct at *at, struct rename_end *e)
{
    int r = path_walk(at, WALK_NAME | WALK_PARENT, &e->w);

    if (r < 0)
        return r;
    r = vnode_getattr(&e->w.dir, &e->dir);
    if (r < 0 || !e->w.node.mnt)
        return r;
    return vnode_getattr(&e->w.node, &e->node);
}

/* In a sticky directory, only the owner of the entry or of the directory may
 * move it. */
static int
rename_may_change(const struct caller *as, const struct rename_end *e)
{
    if (!as)
        return 0;
    int r = vfs_access(&as->cred, &e->dir, W_OK | X_OK);
    if (r < 0 || !e->w.node.mnt || !(e->dir.mode & S_ISVTX) ||
        as->cred.uid == ROOT_ID)
        return r;
    return as->cred.uid == e->node.uid || as->cred.uid == e->dir.uid ? 0
                                                                     : -EPERM;
}

/* A directory that changes its parent gets another "..": a write to it. */
static int
rename_may_move(const struct caller *as, const struct rename_end *from,
                const struct rename_end *to)
{
    if (!as || !S_ISDIR(from->node.mode) ||
        vnode_is_same(&from->w.dir, &to->w.dir))
        return 0;
    return vfs_access(&as->cred, &from->node, W_OK);
}

/* A directory replaces a directory only, and a file anything else. */
static int
rename_check_kinds(const struct rename_end *from, const struct rename_end *to,
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

/* A mount point cannot be moved or replaced. */
static bool
rename_is_mount(const struct rename_end *e)
{
    return e->w.node.mnt && e->w.node.mnt != e->w.dir.mnt;
}

/* Returns true if `node` is the directory `dir` or above it, in the same
 * mount. */
static bool
rename_is_above(const struct vnode *node, const struct vnode *dir)
{
    struct fs *fs = dir->mnt->fs;
    uint64_t at = dir->ino, up;

    while (at != node->ino && at != fs->root) {
        if (fs->ops->parent(fs, at, &up) < 0)
            return false;
        at = up;
    }
    return at == node->ino;
}

/* A directory cannot be moved into itself, nor replace one that it is in. */
static int
rename_check_names(const struct rename_end *a, const struct rename_end *b,
                   unsigned flags)
{
    bool exchange = flags & RENAME_EXCHANGE;

    if (!a->w.len)
        return -EBUSY;
    if (!b->w.len)
        return flags & RENAME_NOREPLACE ? -EEXIST : -EBUSY;
    if (!a->w.node.mnt || (exchange && !b->w.node.mnt))
        return -ENOENT;
    if (b->w.node.mnt && flags & RENAME_NOREPLACE)
        return -EEXIST;
    if (rename_is_mount(a) || rename_is_mount(b))
        return -EBUSY;
    if (S_ISDIR(a->node.mode) && rename_is_above(&a->w.node, &b->w.dir))
        return -EINVAL;
    if (b->w.node.mnt && S_ISDIR(b->node.mode) &&
        rename_is_above(&b->w.node, &a->w.dir))
        return exchange ? -EINVAL : -ENOTEMPTY;
    return 0;
}

static int
rename_check_rights(const struct caller *as, const struct rename_end *a,
                    const struct rename_end *b)
{
    int r = rename_may_change(as, a);

    if (r == 0)
        r = rename_may_change(as, b);
    return r < 0 ? r : rename_may_move(as, a, b);
}

/* An exchange is reported as two moves. */
static void
rename_report(const struct rename_end *a, const struct rename_end *b,
              unsigned flags)
{
    struct dentry from = walk_dentry(&a->w), to = walk_dentry(&b->w);

    if (vnode_is_same(&from.node, &to.node))
        return; /* two names of one file: nothing was done */
    if (!(flags & RENAME_EXCHANGE)) {
        notify_moved(&from, &to, S_ISDIR(a->node.mode));
        return;
    }
    struct dentry here = {.dir = from.dir, .name = from.name};
    struct dentry there = {.dir = to.dir, .name = to.name};
    notify_moved(&from, &there, S_ISDIR(a->node.mode));
    notify_moved(&to, &here, S_ISDIR(b->node.mode));
}

int
vfs_rename(const struct at *from, const struct at *to, unsigned flags)
{
    struct rename_end a, b;

    if (flags & ~(unsigned)(RENAME_NOREPLACE | RENAME_EXCHANGE) ||
        flags == (RENAME_NOREPLACE | RENAME_EXCHANGE))
        return -EINVAL;
    int r = rename_find(from, &a);
    if (r == 0)
        r = rename_find(to, &b);
    if (r != 0)
        return r;
    if (a.w.dir.mnt != b.w.dir.mnt)
        return -EXDEV;
    struct fs *fs = a.w.dir.mnt->fs;
    r = rename_check_names(&a, &b, flags);
    if (r == 0 && (a.w.dir.mnt->read_only || !fs->change->rename))
        r = -EROFS;
    if (r == 0)
        r = rename_check_rights(from->as, &a, &b);
    if (r == 0)
        r = rename_check_kinds(&a, &b, flags);
    if (r < 0)
        return r;
    r = fs->change->rename(fs, a.w.dir.ino, (struct name){a.w.name, a.w.len},
                           b.w.dir.ino, (struct name){b.w.name, b.w.len},
                           flags);
    if (r == 0)
        rename_report(&a, &b, flags);
    return r;
}
