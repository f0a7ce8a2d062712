/* The file system in memory: its inode operations, each a call of the tree with
 * the current time. Quota hits of the tree are passed on to the kernel. */
#include "kernel/vfs/tmpfs.h"

#include "kernel/vfs/shmem.h"
#include "kernel/vfs/tmpfs_impl.h"
#include "kernel/vfs/vfs.h"

#include <errno.h>
#include <stdlib.h>

enum { TMPFS_TYPE = 0x01021994 }; /* f_type of statfs(2) */

int64_t
tmpfs_now(const struct tmpfs *m)
{
    return m->fs.vfs ? m->fs.vfs->hooks->now_ns(m->fs.vfs) : 0;
}

/* The hit is reported once; the tree records the next one anew. */
int64_t
tmpfs_report_full(struct tmpfs *m, int64_t r)
{
    struct tree *t = &m->tree;

    if (!t->hit_bytes && !t->hit_inodes)
        return r;
    if (m->fs.vfs)
        m->fs.vfs->hooks->on_full(m->fs.vfs, t->hit_bytes, t->hit_inodes);
    t->hit_bytes = t->hit_inodes = false;
    return r;
}

static int
tmpfs_lookup(struct fs *fs, uint64_t dir, struct name name, uint64_t *ret_ino)
{
    return tree_lookup(&tmpfs_of(fs)->tree, dir, name, ret_ino);
}

/* A removed directory may have lost its parent too. */
static int
tmpfs_parent(struct fs *fs, uint64_t dir, uint64_t *ret_ino)
{
    const struct inode *i = tree_find(&tmpfs_of(fs)->tree, dir);
    if (!i)
        return -ESTALE;
    if (!inode_is_dir(i))
        return -ENOTDIR;
    if (!tree_find(&tmpfs_of(fs)->tree, i->parent))
        return -ENOENT;
    *ret_ino = i->parent;
    return 0;
}

static uint64_t
tmpfs_position(struct fs *fs, uint64_t dir)
{
    const struct inode *i = tree_find(&tmpfs_of(fs)->tree, dir);

    return i && inode_is_dir(i) ? i->seq : 0;
}

static int
tmpfs_getattr(struct fs *fs, uint64_t ino, struct attr *ret)
{
    const struct inode *i = tree_find(&tmpfs_of(fs)->tree, ino);
    if (!i)
        return -ESTALE;
    inode_getattr(i, ino, ret);
    return 0;
}

/* The memory beyond the end of a mapped file must read as zeros when the file
 * grows over it. */
static void
tmpfs_cut_shmem(struct tmpfs *m, uint64_t ino, uint64_t end)
{
    shmem_write(shmem_find(&m->fs, ino), end, NULL, UINT64_MAX - end);
}

int
tmpfs_truncate(struct tmpfs *m, uint64_t ino, uint64_t size)
{
    const struct inode *i = tree_find(&m->tree, ino);
    uint64_t old = i ? i->size : 0;

    int r = tree_truncate(&m->tree, ino, size, tmpfs_now(m));
    if (r == 0)
        tmpfs_cut_shmem(m, ino, size < old ? size : old);
    return (int)tmpfs_report_full(m, r);
}

/* With ATTR_NOW, all three times of the change are the same instant. */
static int
tmpfs_setattr(struct fs *fs, uint64_t ino, const struct attr *a, unsigned what)
{
    struct tmpfs *m = tmpfs_of(fs);
    int64_t now_ns = what & ATTR_NOW ? a->mtime_ns : tmpfs_now(m);
    const struct inode *i = tree_find(&m->tree, ino);
    uint64_t old = i ? i->size : 0;

    int r = tree_setattr(&m->tree, ino, a, what, now_ns);
    if (r == 0 && what & ATTR_SIZE)
        tmpfs_cut_shmem(m, ino, a->size < old ? a->size : old);
    return (int)tmpfs_report_full(m, r);
}

static int
tmpfs_create(struct fs *fs, uint64_t dir, struct name name,
             const struct attr *a, uint64_t *ret_ino)
{
    struct tmpfs *m = tmpfs_of(fs);

    return (int)tmpfs_report_full(
        m, tree_create(&m->tree, dir, name, a, tmpfs_now(m), ret_ino));
}

static int
tmpfs_tmpfile(struct fs *fs, const struct attr *a, bool is_linkable,
              uint64_t *ret_ino)
{
    struct tmpfs *m = tmpfs_of(fs);

    return (int)tmpfs_report_full(
        m, tree_tmpfile(&m->tree, a, is_linkable, tmpfs_now(m), ret_ino));
}

static int
tmpfs_symlink(struct fs *fs, uint64_t dir, struct name name, const char *target,
              size_t len, const struct attr *a)
{
    struct tmpfs *m = tmpfs_of(fs);
    uint64_t ino;

    return (int)tmpfs_report_full(m, tree_symlink(&m->tree, dir, name, target,
                                                  len, a, tmpfs_now(m), &ino));
}

static int
tmpfs_link(struct fs *fs, uint64_t dir, struct name name, uint64_t ino)
{
    struct tmpfs *m = tmpfs_of(fs);

    return (int)tmpfs_report_full(
        m, tree_link(&m->tree, dir, name, ino, tmpfs_now(m)));
}

static int
tmpfs_unlink(struct fs *fs, uint64_t dir, struct name name, int flags)
{
    struct tmpfs *m = tmpfs_of(fs);

    return tree_unlink(&m->tree, dir, name, flags, tmpfs_now(m));
}

static int
tmpfs_rename(struct fs *fs, uint64_t dir, struct name name, uint64_t dir2,
             struct name name2, unsigned flags)
{
    struct tmpfs *m = tmpfs_of(fs);

    return tree_rename(&m->tree, dir, name, dir2, name2, flags, tmpfs_now(m));
}

static int64_t
tmpfs_readlink(struct fs *fs, const struct caller *as, uint64_t ino, char *buf,
               size_t size)
{
    (void)as;
    const struct inode *i = tree_find(&tmpfs_of(fs)->tree, ino);
    if (!i)
        return -ESTALE;
    if (!S_ISLNK(i->mode))
        return -EINVAL;
    return inode_read(i, 0, buf, size);
}

/* The cookie is the sequence number after the entry: it stays valid over any
 * change. */
static int
tmpfs_readdir(struct fs *fs, uint64_t ino, uint64_t cookie,
              struct dir_emit *emit)
{
    const struct inode *i = tree_find(&tmpfs_of(fs)->tree, ino);
    const struct dir_entry *e;

    if (!i)
        return -ESTALE;
    if (!inode_is_dir(i))
        return -ENOTDIR;
    for (; (e = dir_next(&i->dir, &cookie)); cookie++)
        if (!emit->entry(emit, e->name, e->len, e->ino, e->type, e->seq + 1))
            break;
    return 0;
}

static void
tmpfs_hold(struct fs *fs, uint64_t ino)
{
    tree_hold(&tmpfs_of(fs)->tree, ino);
}

static void
tmpfs_release(struct fs *fs, uint64_t ino)
{
    tree_release(&tmpfs_of(fs)->tree, ino);
}

static uint64_t
tmpfs_left(uint64_t max, uint64_t used)
{
    return max > used ? max - used : 0;
}

static int
tmpfs_statfs(struct fs *fs, struct fs_stat *ret)
{
    const struct tree *t = &tmpfs_of(fs)->tree;
    struct quota used = tree_used(t);

    *ret = (struct fs_stat){
        .type = TMPFS_TYPE,
        .bsize = CHUNK_BYTES,
        .blocks = t->max.bytes / CHUNK_BYTES,
        .blocks_free = tmpfs_left(t->max.bytes, used.bytes) / CHUNK_BYTES,
        .files = t->max.inodes,
        .files_free = tmpfs_left(t->max.inodes, used.inodes),
    };
    return 0;
}

static int
tmpfs_xattrs(struct fs *fs, uint64_t ino, const struct xattrs **ret)
{
    const struct inode *i = tree_find(&tmpfs_of(fs)->tree, ino);

    if (!i)
        return -ESTALE;
    *ret = i->xattrs;
    return 0;
}

static int
tmpfs_set_xattr(struct fs *fs, uint64_t ino, struct xattr_name name,
                const void *value, size_t len)
{
    struct tmpfs *m = tmpfs_of(fs);

    return (int)tmpfs_report_full(
        m, tree_set_xattr(&m->tree, ino, name, value, len, tmpfs_now(m)));
}

static bool
tmpfs_tidy(struct fs *fs, size_t max)
{
    return radix_drain_deferred(&tmpfs_of(fs)->tree.deferred, max);
}

static void
tmpfs_free(OWN struct fs *fs)
{
    tree_fini(&tmpfs_of(fs)->tree);
    free(fs);
}

static const struct fs_ops tmpfs_ops = {
    .name = "tmpfs",
    .lookup = tmpfs_lookup,
    .parent = tmpfs_parent,
    .position = tmpfs_position,
    .getattr = tmpfs_getattr,
    .readlink = tmpfs_readlink,
    .readdir = tmpfs_readdir,
    .open = tmpfs_open,
    .hold = tmpfs_hold,
    .release = tmpfs_release,
    .statfs = tmpfs_statfs,
    .xattrs = tmpfs_xattrs,
    .tidy = tmpfs_tidy,
    .free = tmpfs_free,
};

static const struct fs_change_ops tmpfs_change_ops = {
    .setattr = tmpfs_setattr,
    .create = tmpfs_create,
    .tmpfile = tmpfs_tmpfile,
    .symlink = tmpfs_symlink,
    .link = tmpfs_link,
    .unlink = tmpfs_unlink,
    .rename = tmpfs_rename,
    .set_xattr = tmpfs_set_xattr,
};

int
tmpfs_new(struct vfs *v, const struct tree *from, uint64_t max_bytes,
          uint64_t max_inodes, OWN struct fs **ret)
{
    const struct quota max = {max_bytes, max_inodes};
    struct tmpfs *m = calloc(1, sizeof *m);
    if (!m)
        return -ENOMEM;
    m->fs = (struct fs){.ops = &tmpfs_ops,
                        .change = &tmpfs_change_ops,
                        .vfs = v,
                        .root = TREE_ROOT};
    int r = from ? tree_clone(from, &m->tree)
                 : tree_init(&m->tree, &max, tmpfs_now(m));
    if (r < 0) {
        free(m);
        return r;
    }
    m->tree.max = max;
    *ret = &m->fs;
    return 0;
}

struct tree *
tmpfs_tree(struct fs *fs)
{
    return &tmpfs_of(fs)->tree;
}

bool
tmpfs_is(const struct fs *fs)
{
    return fs->ops == &tmpfs_ops;
}

/* Another thread may attach an object at the same time, hence the atomic
 * load. */
struct counted *
tmpfs_attached(struct fs *fs, uint64_t ino)
{
    const struct inode *i =
        tmpfs_is(fs) ? tree_find(&tmpfs_of(fs)->tree, ino) : NULL;

    return i ? atomic_load_explicit(&i->attached, memory_order_acquire) : NULL;
}

void
tmpfs_attach(struct fs *fs, uint64_t ino, struct counted *c)
{
    if (tmpfs_is(fs))
        tree_attach(&tmpfs_of(fs)->tree, ino, c);
}

const void *
tmpfs_content(struct fs *fs, uint64_t ino)
{
    const struct inode *i =
        tmpfs_is(fs) ? tree_find(&tmpfs_of(fs)->tree, ino) : NULL;

    return i && S_ISREG(i->mode) ? inode_content(i) : NULL;
}

void
tmpfs_set_tree(struct fs *fs, OWN struct tree *now)
{
    tree_replace(&tmpfs_of(fs)->tree, now);
    *now = (struct tree){0};
}
