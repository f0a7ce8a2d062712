/* Names: lookup, creation and removal.
 *
 * Everything that can fail (checks, quotas, copies of shared parts) is done
 * before the first visible change. An error therefore leaves the tree as it
 * was. */
#include "tree/tree.h"
#include "tree/tree_impl.h"

#include <errno.h>

/* A directory that still has a name. */
static int
tree_name_find_dir(const struct tree *t, uint64_t ino, const struct inode **ret)
{
    const struct inode *i = tree_find(t, ino);

    if (!i || (inode_is_dir(i) && !i->nlink))
        return -ENOENT;
    if (!inode_is_dir(i))
        return -ENOTDIR;
    *ret = i;
    return 0;
}

int
tree_lookup(const struct tree *t, uint64_t dir, struct name name,
            uint64_t *ret_ino)
{
    const struct inode *d;
    int r = tree_name_find_dir(t, dir, &d);
    if (r < 0)
        return r;
    const struct dir_entry *e = dir_find(&d->dir, name);
    if (!e)
        return -ENOENT;
    *ret_ino = e->ino;
    return 0;
}

/* Returns a directory for a new entry `name`, which must not exist. -EEXIST. */
static int
tree_name_unshare_for_new(struct tree *t, uint64_t dir, struct name name,
                          struct inode **ret)
{
    const struct inode *d;
    int r = tree_name_find_dir(t, dir, &d);
    if (r < 0)
        return r;
    if (dir_find(&d->dir, name))
        return -EEXIST;
    return tree_unshare(t, dir, ret);
}

int
tree_create(struct tree *t, uint64_t dir, struct name name,
            const struct attr *a, int64_t now_ns, uint64_t *ret_ino)
{
    struct inode *d, *i;
    uint64_t ino;

    int r = tree_name_unshare_for_new(t, dir, name, &d);
    if (r < 0)
        return r;
    r = tree_add(t, a, now_ns, &i, &ino);
    if (r < 0)
        return r;
    r = dir_insert(&d->dir, t->seed, name, ino, (uint8_t)(i->mode >> 12));
    if (r < 0) {
        (void)tree_evict(t, ino);
        return r;
    }
    if (inode_is_dir(i)) {
        i->parent = dir;
        i->seq = dir_last_seq(&d->dir);
        d->nlink++;
    }
    inode_touch_dir(d, now_ns);
    *ret_ino = ino;
    return 0;
}

/* Returns a new inode without a name. The creator's hold keeps it alive;
 * tree_forget marks it as an orphan. */
static int
tree_name_hold_new(struct tree *t, struct inode *i, uint64_t ino,
                   uint64_t *ret_ino)
{
    if (!holds_add(&t->holds, ino)) {
        (void)tree_evict(t, ino);
        return -ENOMEM;
    }
    i->nlink = 0;
    tree_forget(t, ino);
    *ret_ino = ino;
    return 0;
}

int
tree_tmpfile(struct tree *t, const struct attr *a, bool is_linkable,
             int64_t now_ns, uint64_t *ret_ino)
{
    struct inode *i;
    uint64_t ino;

    int r = tree_add(t, a, now_ns, &i, &ino);
    if (r < 0)
        return r;
    i->is_linkable = is_linkable;
    return tree_name_hold_new(t, i, ino, ret_ino);
}

int
tree_removed_dir(struct tree *t, uint64_t parent, const struct attr *a,
                 int64_t now_ns, uint64_t *ret_ino)
{
    struct inode *i;
    uint64_t ino;

    int r = tree_add_free(t, a, now_ns, &i, &ino);
    if (r < 0)
        return r;
    i->parent = parent;
    return tree_name_hold_new(t, i, ino, ret_ino);
}

/* The target is stored like the content of a file, and charged in the same
 * way. */
int
tree_symlink(struct tree *t, uint64_t dir, struct name name, const char *target,
             size_t len, const struct attr *a, int64_t now_ns,
             uint64_t *ret_ino)
{
    struct attr link = *a;
    uint64_t ino;

    if (!len)
        return -ENOENT;
    if (len > LINK_TARGET_MAX)
        return -ENAMETOOLONG;
    link.mode = S_IFLNK | 0777;
    int r = tree_create(t, dir, name, &link, now_ns, &ino);
    if (r < 0)
        return r;
    int64_t n = tree_write(t, ino, 0, target, len, now_ns);
    if (n < 0) {
        (void)tree_unlink(t, dir, name, 0, now_ns);
        return (int)n;
    }
    *ret_ino = ino;
    return 0;
}

static int
tree_name_check_linkable(const struct inode *i)
{
    if (!i)
        return -ENOENT;
    if (inode_is_dir(i))
        return -EPERM;
    if (!i->nlink && !i->is_linkable)
        return -ENOENT;
    return i->nlink == UINT32_MAX ? -EMLINK : 0;
}

/* Called when a file that was created without a name gets one: it is an orphan
 * no more, and survives its last hold. */
static void
tree_name_adopt(struct tree *t, struct inode *i, uint64_t ino)
{
    struct hold *h = holds_find(&t->holds, ino);

    i->is_linkable = false;
    if (h && h->is_orphan) {
        h->is_orphan = false;
        t->holds.n_orphans--;
    }
}

int
tree_link(struct tree *t, uint64_t dir, struct name name, uint64_t ino,
          int64_t now_ns)
{
    struct inode *d, *i;

    int r = tree_name_unshare_for_new(t, dir, name, &d);
    if (r < 0)
        return r;
    r = tree_name_check_linkable(tree_find(t, ino));
    if (r < 0)
        return r;
    r = tree_unshare(t, ino, &i);
    if (r < 0)
        return r;
    r = tree_set_nlink(t, i, i->nlink + 1);
    if (r < 0)
        return r;
    r = dir_insert(&d->dir, t->seed, name, ino, (uint8_t)(i->mode >> 12));
    if (r < 0) {
        (void)tree_set_nlink(t, i, i->nlink - 1);
        return r;
    }
    tree_name_adopt(t, i, ino);
    i->ctime_ns = now_ns;
    inode_touch_dir(d, now_ns);
    return 0;
}

static int
tree_name_check_victim(const struct inode *i, int flags)
{
    if (!i)
        return -ESTALE;
    if (!(flags & UNLINK_DIR))
        return inode_is_dir(i) ? -EISDIR : 0;
    if (!inode_is_dir(i))
        return -ENOTDIR;
    return i->dir.n ? -ENOTEMPTY : 0;
}

int
tree_unlink(struct tree *t, uint64_t dir, struct name name, int flags,
            int64_t now_ns)
{
    struct inode *d, *i;
    struct dir_entry *e;
    uint64_t ino;

    int r = tree_lookup(t, dir, name, &ino);
    if (r < 0)
        return r;
    r = tree_name_check_victim(tree_find(t, ino), flags);
    if (r < 0)
        return r;
    r = tree_unshare(t, dir, &d);
    if (!r)
        r = tree_unshare(t, ino, &i);
    if (!r)
        r = dir_unshare(&d->dir, name, &e);
    if (r)
        return r;

    dir_remove(&d->dir, e);
    inode_touch_dir(d, now_ns);
    tree_unname(t, d, i, ino, now_ns);
    return 0;
}

void
tree_unname(struct tree *t, struct inode *d, struct inode *i, uint64_t ino,
            int64_t now_ns)
{
    bool is_dir = inode_is_dir(i);

    d->nlink -= is_dir;
    (void)tree_set_nlink(t, i, is_dir ? 0 : i->nlink - 1);
    i->ctime_ns = now_ns;
    if (!i->nlink)
        tree_forget(t, ino);
}
