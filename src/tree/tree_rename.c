/* rename(2) with all its cases.
 *
 * A directory must not be moved into itself, which would cut a cycle off the
 * tree. The check follows the parents of the target up to the root. Everything
 * that can fail (checks, quotas, copies of shared nodes) is done before the
 * first visible change. */
#include "tree/tree.h"
#include "tree/tree_impl.h"

#include <errno.h>
#include <stdio.h>

/* One side of a rename. */
struct side {
    uint64_t dir;
    struct name name;
    uint64_t ino; /* 0: the name is not there */
    uint8_t type;
    bool is_dir;
    struct inode *parent; /* owned */
    struct inode *inode;  /* owned, if there */
};

static int
side_find(const struct tree *t, struct side *s)
{
    const struct inode *d = tree_find(t, s->dir);

    if (!d || (inode_is_dir(d) && !d->nlink))
        return -ENOENT;
    if (!inode_is_dir(d))
        return -ENOTDIR;
    const struct dir_entry *e = dir_find(&d->dir, s->name);
    if (e) {
        s->ino = e->ino;
        s->type = e->type;
        s->is_dir = e->type == S_IFDIR >> 12;
    }
    return 0;
}

static int
side_unshare(struct tree *t, struct side *s)
{
    int r = tree_unshare(t, s->dir, &s->parent);
    if (r || !s->ino)
        return r;
    return tree_unshare(t, s->ino, &s->inode);
}

/* True if the directory `dir` is `ancestor` or below it. */
static bool
tree_rename_is_inside(const struct tree *t, uint64_t dir, uint64_t ancestor)
{
    while (dir != ancestor) {
        const struct inode *i = tree_find(t, dir);
        if (!i || dir == TREE_ROOT)
            return false;
        dir = i->parent;
    }
    return true;
}

static int
tree_rename_check_replaced(const struct tree *t, const struct side *from,
                           const struct side *to)
{
    if (!to->ino)
        return 0;
    if (to->is_dir && tree_rename_is_inside(t, from->dir, to->ino))
        return -ENOTEMPTY;
    if (from->is_dir && !to->is_dir)
        return -ENOTDIR;
    if (!from->is_dir && to->is_dir)
        return -EISDIR;
    const struct inode *i = tree_find(t, to->ino);
    return i && to->is_dir && i->dir.n ? -ENOTEMPTY : 0;
}

static int
tree_rename_check(const struct tree *t, const struct side *from,
                  const struct side *to, unsigned flags)
{
    if (!from->ino)
        return -ENOENT;
    if ((flags & RENAME_NOREPLACE) && to->ino)
        return -EEXIST;
    if ((flags & RENAME_EXCHANGE) && !to->ino)
        return -ENOENT;
    if (from->is_dir && from->dir != to->dir &&
        tree_rename_is_inside(t, to->dir, from->ino))
        return -EINVAL;
    if (!(flags & RENAME_EXCHANGE))
        return from->ino == to->ino ? 0
                                    : tree_rename_check_replaced(t, from, to);
    return to->is_dir && tree_rename_is_inside(t, from->dir, to->ino) ? -EINVAL
                                                                      : 0;
}

/* Records that `s` has its name in the directory of `to` now, in the entry
 * `seq`. A directory knows its parent, and counts as a link of it. */
static void
tree_rename_settle(struct side *s, struct side *to, uint64_t seq,
                   int64_t now_ns)
{
    s->inode->ctime_ns = now_ns;
    if (!s->is_dir)
        return;
    s->inode->parent = to->dir;
    s->inode->seq = seq;
    s->parent->nlink--;
    to->parent->nlink++;
}

/* Both entries are owned before either is changed. */
static int
tree_rename_exchange(struct side *from, struct side *to, int64_t now_ns)
{
    struct dir_entry *a, *b;

    int r = dir_unshare(&from->parent->dir, from->name, &a);
    if (!r)
        r = dir_unshare(&to->parent->dir, to->name, &b);
    if (r)
        return r;
    a->ino = to->ino;
    a->type = to->type;
    b->ino = from->ino;
    b->type = from->type;
    tree_rename_settle(from, to, b->seq, now_ns);
    tree_rename_settle(to, from, a->seq, now_ns);
    return 0;
}

/* The new name is made before the old one is removed. An existing target keeps
 * its entry, and with it its position in readdir; only the inode number
 * changes. */
static int
tree_rename_move(struct tree *t, struct side *from, struct side *to,
                 int64_t now_ns)
{
    struct dir_entry *a, *b;

    int r = dir_unshare(&from->parent->dir, from->name, &a);
    if (r < 0)
        return r;
    if (to->ino)
        r = dir_unshare(&to->parent->dir, to->name, &b);
    else
        r = dir_insert(&to->parent->dir, t->seed, to->name, from->ino,
                       from->type);
    if (r < 0)
        return r;
    if (to->ino) {
        b->ino = from->ino;
        b->type = from->type;
    }
    tree_rename_settle(
        from, to, to->ino ? b->seq : dir_last_seq(&to->parent->dir), now_ns);
    dir_remove(&from->parent->dir, a);
    if (to->ino)
        tree_unname(t, to->parent, to->inode, to->ino, now_ns);
    return 0;
}

int
tree_rename(struct tree *t, uint64_t dir, struct name name, uint64_t dir2,
            struct name name2, unsigned flags, int64_t now_ns)
{
    struct side from = {.dir = dir, .name = name};
    struct side to = {.dir = dir2, .name = name2};

    if (flags != 0 && flags != RENAME_NOREPLACE && flags != RENAME_EXCHANGE)
        return -EINVAL;
    int r = side_find(t, &from);
    if (!r)
        r = side_find(t, &to);
    if (!r)
        r = tree_rename_check(t, &from, &to, flags);
    if (r || from.ino == to.ino)
        return r;
    r = side_unshare(t, &from);
    if (!r)
        r = side_unshare(t, &to);
    if (r)
        return r;

    r = flags & RENAME_EXCHANGE ? tree_rename_exchange(&from, &to, now_ns)
                                : tree_rename_move(t, &from, &to, now_ns);
    if (r < 0)
        return r;
    inode_touch_dir(from.parent, now_ns);
    inode_touch_dir(to.parent, now_ns);
    return 0;
}
