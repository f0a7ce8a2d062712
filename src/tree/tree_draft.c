/* Builds a tree from untrusted records.
 *
 * Problem: records may describe a graph that is no tree: loops, directories
 * with two names, or parts that are unreachable.
 *
 * Idea: names are counted as they come; a directory that gets a new name may
 * lose its old one later. At the end each directory must be where it says it
 * is, and all must be reached from the root. A graph in which every directory
 * has exactly one parent and is reachable from the root has no loops. */
#include "tree/tree_records.h"

#include "tree/tree_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int
tree_draft_init(struct tree_draft *d, const struct tree *base,
                const struct quota *max)
{
    *d = (struct tree_draft){.base = base, .max = *max};
    int r = tree_clone(base, &d->tree);
    d->tree.max = (struct quota){UINT64_MAX, UINT64_MAX};
    return r;
}

void
tree_draft_fini(struct tree_draft *d)
{
    tree_fini(&d->tree);
}

/* --- inodes */

static int
tree_draft_make_inode(struct tree_draft *d, const struct inode *below,
                      uint64_t ino, const struct record_inode *r,
                      struct inode **ret)
{
    const struct attr a = {.mode = r->mode};

    if (below) {
        bool is_kind = !((below->mode ^ r->mode) & S_IFMT);
        bool is_link = S_ISLNK(r->mode); /* its target does not change */
        if (!is_kind || (is_link && below->size != r->size))
            return -EINVAL;
        return tree_unshare(&d->tree, ino, ret);
    }
    if (ino < d->tree.next_ino)
        return -EINVAL; /* of the base, but not there */
    d->tree.next_ino = ino;
    int e = tree_add(&d->tree, &a, 0, ret, &ino);
    if (e < 0)
        return e;
    if (!inode_is_dir(*ret))
        (*ret)->nlink = 0;
    return 0;
}

static int
tree_draft_put_inode(struct tree_draft *d, const struct record_key *k,
                     const void *value, size_t len)
{
    const struct inode *below = tree_find(d->base, k->inode);
    struct record_inode r;
    struct inode *i;

    if (record_inode_get(value, len, &r) < 0 || k->inode <= d->last)
        return -EINVAL;
    d->last = k->inode;
    int e = tree_draft_make_inode(d, below, k->inode, &r, &i);
    if (e != 0)
        return e;
    if (i->size != r.size && !inode_is_dir(i))
        inode_detach(i);
    tree_settle(&d->tree,
                (int64_t)(inode_slack(i, i->size) - inode_slack(i, r.size)));
    i->mode = r.mode;
    i->uid = r.uid;
    i->gid = r.gid;
    i->size = r.size;
    i->atime_ns = r.atime_ns;
    i->mtime_ns = r.mtime_ns;
    i->ctime_ns = r.ctime_ns;
    return 0;
}

/* --- names */

/* Removes a name of the base. A directory that loses the name it was found
 * under has no parent until another record names it again. */
static int
tree_draft_remove_name(struct tree_draft *d, struct inode *dir,
                       uint64_t dir_ino, struct name name)
{
    struct dir_entry *e;
    struct inode *i;

    int r = dir_unshare(&dir->dir, name, &e);
    if (r == 0)
        r = tree_unshare(&d->tree, e->ino, &i);
    if (r != 0)
        return r;
    uint64_t seq = e->seq;
    dir_remove(&dir->dir, e);
    if (!inode_is_dir(i))
        return tree_set_nlink(&d->tree, i, i->nlink - 1);
    dir->nlink--;
    if (i->parent == dir_ino && i->seq == seq)
        i->parent = 0;
    return 0;
}

static int
tree_draft_add_name(struct tree_draft *d, struct inode *dir, uint64_t dir_ino,
                    struct name name, const struct record_name *r)
{
    struct inode *i;

    if (r->inode == TREE_ROOT || !tree_find(&d->tree, r->inode))
        return -EINVAL;
    int e = tree_unshare(&d->tree, r->inode, &i);
    if (e == 0 && !inode_is_dir(i))
        e = tree_set_nlink(&d->tree, i, i->nlink + 1);
    if (e != 0)
        return e;
    e = dir_insert_at(&dir->dir, d->tree.seed, name, r->inode,
                      (uint8_t)(i->mode >> 12), r->seq);
    if (e < 0)
        return e == -EEXIST ? -EINVAL : e;
    if (inode_is_dir(i)) {
        i->parent = dir_ino;
        i->seq = r->seq;
        dir->nlink++;
    }
    return 0;
}

/* A name that exists already must be one of the base, unchanged: otherwise two
 * records would set the same name. */
static int
tree_draft_put_name(struct tree_draft *d, const struct record_key *k,
                    const void *value, size_t len)
{
    const struct inode *below = tree_find(d->base, k->inode);
    const struct inode *dir = tree_find(&d->tree, k->inode);
    const struct name name = {k->name, k->name_len};
    struct record_name r;
    struct inode *inode;

    if (record_name_get(value, len, &r) < 0 || !dir || !inode_is_dir(dir))
        return -EINVAL;
    const struct dir_entry *is = dir_find(&dir->dir, name);
    if (is ? !below || dir_find(&below->dir, name) != is : !r.inode)
        return -EINVAL;
    int e = tree_unshare(&d->tree, k->inode, &inode);
    if (e == 0 && is)
        e = tree_draft_remove_name(d, inode, k->inode, name);
    if (e == 0 && r.inode)
        e = tree_draft_add_name(d, inode, k->inode, name, &r);
    return e;
}

/* --- blocks */

/* Returns true if the file can have such a block. Content must end with the
 * file; a block that is only allocated may be beyond its end. */
static bool
tree_draft_is_block_of(const struct inode *i, uint64_t index, const char *bytes,
                       size_t len)
{
    uint64_t at = index * CHUNK_BYTES, left = i->size > at ? i->size - at : 0;

    if (S_ISLNK(i->mode))
        return index == 0 && len == i->size && !memchr(bytes, 0, len);
    return S_ISREG(i->mode) && (len <= left || (len == 1 && !*bytes));
}

/* A block that was only cut from a block of the base still costs nothing. */
static struct chunk *
tree_draft_chunk_for(const struct chunk *below, const void *bytes, size_t len)
{
    bool is_cut = below && below->is_foreign && below->is_uncharged &&
                  len <= below->cap && !memcmp(below->data, bytes, len);
    struct chunk *c = is_cut ? chunk_new_foreign(below->data, len) : NULL;

    if (c)
        c->is_uncharged = true;
    else if (!is_cut && !len)
        c = chunk_new(0);
    else if (!is_cut && chunk_write(&c, 0, bytes, len, 0) < 0)
        return NULL;
    return c;
}

static int
tree_draft_put_block(struct tree_draft *d, const struct record_key *k,
                     const void *value, size_t len)
{
    const struct inode *below = tree_find(d->base, k->inode);
    const struct inode *found = tree_find(&d->tree, k->inode);
    struct inode *i;

    if (!found || inode_is_dir(found) || (below && S_ISLNK(found->mode)))
        return -EINVAL;
    const struct chunk *old =
        below ? (const struct chunk *)radix_find(&below->chunks, k->index)
              : NULL;
    bool is_hole = below && !len;
    if (is_hole ? !old : !tree_draft_is_block_of(found, k->index, value, len))
        return -EINVAL;
    int r = tree_unshare(&d->tree, k->inode, &i);
    if (r != 0)
        return r;
    inode_detach(i);
    if (is_hole)
        return tree_set_block(&d->tree, i, k->index, NULL);
    struct chunk *c = tree_draft_chunk_for(old, value, len);
    return c ? tree_set_block(&d->tree, i, k->index, c) : -ENOMEM;
}

/* --- extended attributes */

static int
tree_draft_put_attrs(struct tree_draft *d, const struct record_key *k,
                     const void *value, size_t len)
{
    const struct inode *below = tree_find(d->base, k->inode);
    struct xattrs *x = NULL;

    if (!tree_find(&d->tree, k->inode) || (!len && (!below || !below->xattrs)))
        return -EINVAL;
    if (len && !(x = xattrs_new(value, len)))
        return -ENOMEM;
    return tree_put_xattrs(&d->tree, k->inode, x);
}

int
tree_draft_put(struct tree_draft *d, const struct record_key *k,
               const void *value, size_t len)
{
    if (k->type == RECORD_INODE)
        return tree_draft_put_inode(d, k, value, len);
    if (k->type == RECORD_ATTRS)
        return tree_draft_put_attrs(d, k, value, len);
    return k->type == RECORD_NAME ? tree_draft_put_name(d, k, value, len)
                                  : tree_draft_put_block(d, k, value, len);
}

/* --- the whole */

/* Numbers of inodes without a name. */
struct unnamed {
    uint64_t *v;
    size_t n, cap;
    int error;
};

static void
tree_draft_note_unnamed(struct unnamed *u, uint64_t ino)
{
    if (u->n == u->cap) {
        size_t cap = u->cap ? 2 * u->cap : 64;
        uint64_t *v = realloc(u->v, cap * sizeof *v);
        if (!v) {
            u->error = -ENOMEM;
            return;
        }
        u->v = v;
        u->cap = cap;
    }
    u->v[u->n++] = ino;
}

/* Checks one inode that differs from the base. An inode without a name must be
 * of the base, and a directory must be empty: the records removed it. A
 * symbolic link without its target is damaged. */
static void
tree_draft_on_changed(void *arg, uint64_t ino, struct shared *below,
                      struct shared *now)
{
    const struct inode *i = (const struct inode *)now;
    struct unnamed *u = arg;

    if (S_ISLNK(i->mode) && !radix_find(&i->chunks, 0))
        u->error = -EINVAL;
    if (ino == TREE_ROOT || (inode_is_dir(i) ? i->parent : i->nlink))
        return;
    if (!below || (inode_is_dir(i) && i->dir.n))
        u->error = -EINVAL;
    if (!u->error)
        tree_draft_note_unnamed(u, ino);
}

static int
tree_draft_remove_unnamed(struct tree_draft *d)
{
    struct unnamed u = {0};

    radix_diff(&d->base->inodes, &d->tree.inodes, tree_draft_on_changed, &u);
    for (size_t i = 0; !u.error && i < u.n; i++)
        u.error = tree_evict(&d->tree, u.v[i]);
    free(u.v);
    return u.error;
}

/* Finds the next subdirectory of `dir` from *seq on, and checks that it agrees
 * with where it was found. *ret is 0 if there is none. */
static int
tree_draft_next_dir(const struct tree *t, uint64_t dir, uint64_t *seq,
                    uint64_t *ret)
{
    const struct inode *d = tree_find(t, dir);
    const struct dir_entry *e;

    *ret = 0;
    for (; (e = dir_next(&d->dir, seq)); ++*seq) {
        const struct inode *i = tree_find(t, e->ino);
        if (!i)
            return -EINVAL;
        if (!inode_is_dir(i))
            continue;
        *ret = e->ino;
        return i->parent == dir && i->seq == e->seq ? 0 : -EINVAL;
    }
    return 0;
}

/* Returns the number of directories that are reached from the root. Each has
 * one parent, so none is met twice. Directories without subdirectories are not
 * entered. */
static int
tree_draft_count_reached(const struct tree *t, uint64_t *ret)
{
    uint64_t at = TREE_ROOT, seq = 0, child, n = 1;

    for (;;) {
        int r = tree_draft_next_dir(t, at, &seq, &child);
        if (r < 0)
            return r;
        if (!child && at == TREE_ROOT)
            break;
        if (!child) {
            const struct inode *d = tree_find(t, at);
            at = d->parent;
            seq = d->seq + 1;
            continue;
        }
        n++;
        seq++;
        if (tree_find(t, child)->nlink > 2) {
            at = child;
            seq = 0;
        }
    }
    *ret = n;
    return 0;
}

static uint64_t
tree_draft_count_dirs(const struct tree *t)
{
    const struct inode *i;
    uint64_t ino = 0, n = 0;

    for (; (i = (const struct inode *)radix_next(&t->inodes, &ino)); ino++)
        n += inode_is_dir(i);
    return n;
}

/* Bytes of the quota without those for nodes of sparse files. Saved states of
 * earlier versions did not pay for nodes: they may be above their limit by as
 * much, and then cannot grow. */
static uint64_t
tree_draft_block_bytes_used(const struct tree *t)
{
    uint64_t bytes = t->used.bytes, ino = 0;
    struct shared *s;

    for (; (s = radix_next(&t->inodes, &ino)); ino++) {
        const struct inode *i = (const struct inode *)s;
        struct tally sum = inode_blocks(i);
        bytes -= inode_nodes_cost(i, sum.leaves, sum.nodes);
    }
    return bytes;
}

int
tree_draft_end(struct tree_draft *d)
{
    uint64_t reached = 0;

    int r = tree_draft_remove_unnamed(d);
    if (r == 0)
        r = tree_draft_count_reached(&d->tree, &reached);
    if (r != 0)
        return r;
    if (reached != tree_draft_count_dirs(&d->tree))
        return -EINVAL;
    d->tree.max = d->max;
    d->tree.hit_bytes = d->tree.used.bytes > d->max.bytes &&
                        tree_draft_block_bytes_used(&d->tree) > d->max.bytes;
    d->tree.hit_inodes = d->tree.used.inodes > d->max.inodes;
    return d->tree.hit_bytes || d->tree.hit_inodes ? -ENOSPC : 0;
}
