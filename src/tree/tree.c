/* The inode table of a tree, its quotas and holds.
 *
 * Charges precede a change, and credits follow it. After each operation `used`
 * is exact: tree_recount computes it from the content, and tests compare both.
 * Other threads may read the sums meanwhile, hence the counters. */
#include "tree/tree.h"

#include "base/counter.h"
#include "record/record.h"
#include "tree/tree_impl.h"

#include <errno.h>
#include <stdlib.h>

int
tree_init(struct tree *t, const struct quota *max, int64_t now_ns)
{
    struct inode *root = inode_new(S_IFDIR | 0755, now_ns);
    if (!root)
        return -ENOMEM;
    *t = (struct tree){.next_ino = TREE_ROOT + 1, .max = *max};
    root->parent = TREE_ROOT;
    root->uncharged_units = 1;
    return radix_set(&t->inodes, &inode_ops, TREE_ROOT, &root->ref,
                     &t->deferred);
}

/* A ring of one tree has no peer; a ring of two falls apart when one leaves. */
static void
tree_leave_ring(struct tree *t)
{
    struct tree *p = t->peer;

    while (p && p->peer != t)
        p = p->peer;
    if (p)
        p->peer = t->peer == p ? NULL : t->peer;
    t->peer = NULL;
}

/* Another thread may follow the ring (tree_used) meanwhile: t is complete
 * before it can be reached. */
void
tree_join(struct tree *t, struct tree *peer)
{
    t->peer = peer->peer ? peer->peer : peer;
    __atomic_store_n(&peer->peer, t, __ATOMIC_RELEASE); /* t->peer first */
}

struct quota
tree_used(const struct tree *t)
{
    struct quota q = {COUNTER_GET(t->used.bytes), COUNTER_GET(t->used.inodes)};

    for (const struct tree *p = COUNTER_GET(t->peer); p && p != t;
         p = COUNTER_GET(p->peer)) {
        q.bytes += COUNTER_GET(p->used.bytes);
        q.inodes += COUNTER_GET(p->used.inodes);
    }
    return q;
}

void
tree_set_budget(struct tree *t, const struct tree_budget *b, void *arg)
{
    t->budget = b;
    t->budget_arg = arg;
    b->settle(arg, (int64_t)t->used.bytes);
}

void
tree_fini(struct tree *t)
{
    tree_leave_ring(t);
    tree_settle(t, -(int64_t)t->used.bytes);
    radix_defer_free(&t->inodes, &inode_ops, &t->deferred);
    (void)radix_drain_deferred(&t->deferred, SIZE_MAX);
    holds_fini(&t->holds);
}

void
tree_defer_free(struct tree *t, struct tree *to)
{
    radix_defer_free(&t->inodes, &inode_ops, &to->deferred);
    radix_join_deferred(&to->deferred, &t->deferred);
    holds_fini(&t->holds);
    *t = (struct tree){0};
}

void
tree_replace(struct tree *t, OWN struct tree *now)
{
    radix_defer_free(&t->inodes, &inode_ops, &t->deferred);
    radix_join_deferred(&t->deferred, &now->deferred);
    t->inodes = now->inodes;
    t->next_ino = now->next_ino;
    t->first_ino = now->first_ino;
    t->seed = now->seed;
    tree_settle(t, (int64_t)(now->used.bytes - t->used.bytes));
    COUNTER_SET(t->used.inodes, now->used.inodes);
    t->hit_bytes = t->hit_inodes = false;
}

/* Files without a name belong to the processes that hold them, which are not
 * cloned. */
static int
tree_drop_orphans(struct tree *t, const struct holds *h)
{
    for (size_t i = 0; h->n_orphans && i < h->cap; i++) {
        if (!h->v[i].ino || !h->v[i].is_orphan)
            continue;
        int r = tree_evict(t, h->v[i].ino);
        if (r < 0)
            return r;
    }
    return 0;
}

int
tree_clone(const struct tree *from, struct tree *ret)
{
    struct tree t = *from;

    t.holds = (struct holds){0};
    t.deferred = (struct free_list){0};
    t.peer = NULL;
    t.budget = NULL;
    t.hit_bytes = t.hit_inodes = false;
    radix_clone(&from->inodes, &t.inodes);
    int r = tree_drop_orphans(&t, &from->holds);
    if (r < 0) {
        tree_fini(&t);
        return r;
    }
    *ret = t;
    return 0;
}

static void
tree_chunk_lost(void *arg, uint64_t key, struct shared *a, struct shared *b)
{
    (void)key;
    (void)b;
    if (a && !((struct chunk *)a)->is_uncharged)
        *(uint64_t *)arg += CHUNK_BYTES;
}

static void
tree_inode_lost(void *arg, uint64_t ino, struct shared *a, struct shared *b)
{
    enum { INODE_BYTES = 512 }; /* with its entries and nodes */
    const struct inode *i = (const struct inode *)a;
    const struct inode *other = (const struct inode *)b;
    const struct radix none = {0};

    (void)ino;
    if (!i)
        return;
    const struct tally sum = inode_blocks(i);
    *(uint64_t *)arg += INODE_BYTES + xattrs_cost(i->xattrs) +
                        inode_nodes_cost(i, sum.leaves, sum.nodes);
    if (!inode_is_dir(i))
        radix_diff(&i->chunks,
                   other && !inode_is_dir(other) ? &other->chunks : &none,
                   tree_chunk_lost, arg);
}

uint64_t
tree_lost(const struct tree *t, const struct tree *other)
{
    uint64_t bytes = 0;

    radix_diff(&t->inodes, &other->inodes, tree_inode_lost, &bytes);
    return bytes;
}

static uint64_t
tree_content_recount(const struct inode *i)
{
    uint64_t blocks = 0, weight = 0, key = 0;
    struct shared *s;

    for (; (s = radix_next(&i->chunks, &key)); key++) {
        blocks++;
        weight += !((struct chunk *)s)->is_uncharged;
    }
    return weight * CHUNK_BYTES - inode_slack(i, i->size) +
           inode_nodes_cost(i, blocks, radix_count_nodes(&i->chunks));
}

void
tree_recount(const struct tree *t, struct quota *ret)
{
    struct quota q = {0};
    uint64_t ino = 0;
    struct shared *s;

    for (; (s = radix_next(&t->inodes, &ino)); ino++) {
        const struct inode *i = (const struct inode *)s;
        q.inodes += inode_cost(i);
        q.bytes += xattrs_cost(i->xattrs);
        if (!inode_is_dir(i))
            q.bytes += tree_content_recount(i);
    }
    *ret = q;
}

static void
tree_content_uncharge(struct inode *i)
{
    uint64_t key = 0;
    struct shared *s;

    for (; (s = radix_next(&i->chunks, &key)); key++) {
        struct chunk *c = (struct chunk *)s;
        radix_count(&i->chunks, key, 0, -!c->is_uncharged);
        c->is_uncharged = true;
    }
    i->uncharged_nodes = (uint32_t)i->chunks.sum.nodes;
}

/* The content was never shared, so chunks and inodes may be marked in place. */
void
tree_uncharge(struct tree *t)
{
    uint64_t ino = 0;
    struct shared *s;

    for (; (s = radix_next(&t->inodes, &ino)); ino++) {
        struct inode *i = (struct inode *)s;
        i->uncharged_units = (uint32_t)inode_units(i);
        if (i->xattrs)
            i->xattrs->is_uncharged = true;
        if (inode_is_dir(i))
            i->dir.first_seq = i->dir.next_seq;
        else
            tree_content_uncharge(i);
    }
    t->first_ino = t->next_ino;
    t->used = (struct quota){0};
}

/* Unshares the path in the table first, then the inode. The content of the copy
 * is still shared and is unshared by whatever changes it. */
int
tree_unshare(struct tree *t, uint64_t ino, struct inode **ret)
{
    if (!radix_find(&t->inodes, ino))
        return -ESTALE;
    struct shared **at = radix_slot(&t->inodes, ino);
    if (!at)
        return -ENOMEM;
    struct inode *i = (struct inode *)*at;
    if (!shared_is_single(&i->ref)) {
        struct inode *copy = inode_copy(i);
        if (!copy)
            return -ENOMEM;
        *at = &copy->ref;
        if (shared_put(&i->ref))
            inode_ops.free(&i->ref, &t->deferred);
        i = copy;
    }
    *ret = i;
    return 0;
}

/* Frees more than the change that is charged can allocate: a block, or an inode
 * and its name. A guest that allocates thereby empties the list. */
static void
tree_make_up(struct tree *t)
{
    enum { OBJECTS = 64 };

    if (t->deferred.top)
        (void)radix_drain_deferred(&t->deferred, OBJECTS);
}

/* A budget records by itself that it was exceeded. */
static bool
tree_fits(struct tree *t, uint64_t bytes)
{
    if (t->budget)
        return t->budget->fits(t->budget_arg, bytes);
    uint64_t used = tree_used(t).bytes;
    uint64_t left = t->max.bytes > used ? t->max.bytes - used : 0;
    t->hit_bytes |= bytes > left;
    return bytes <= left;
}

int
tree_charge(struct tree *t, int64_t bytes)
{
    if (bytes > 0 && !tree_fits(t, (uint64_t)bytes))
        return -ENOSPC;
    tree_settle(t, bytes);
    tree_make_up(t);
    return 0;
}

void
tree_settle(struct tree *t, int64_t bytes)
{
    COUNTER_ADD(t->used.bytes, (uint64_t)bytes);
    if (t->budget)
        t->budget->settle(t->budget_arg, bytes);
}

static int
tree_charge_inode(struct tree *t)
{
    if (tree_used(t).inodes >= t->max.inodes) {
        t->hit_inodes = true;
        return -ENOSPC;
    }
    COUNTER_ADD(t->used.inodes, 1);
    tree_make_up(t);
    return 0;
}

int
tree_add_free(struct tree *t, const struct attr *a, int64_t now_ns,
              struct inode **ret, uint64_t *ret_ino)
{
    if (t->next_ino >= RECORD_INODE_MAX)
        return -ENOSPC;
    struct inode *i = inode_new(a->mode, now_ns);
    if (!i || radix_set(&t->inodes, &inode_ops, t->next_ino, &i->ref,
                        &t->deferred) < 0)
        return -ENOMEM;
    i->uid = a->uid;
    i->gid = a->gid;
    i->uncharged_units = 1;
    *ret_ino = t->next_ino++;
    *ret = i;
    return 0;
}

int
tree_add(struct tree *t, const struct attr *a, int64_t now_ns,
         struct inode **ret, uint64_t *ret_ino)
{
    int r = tree_charge_inode(t);
    if (r < 0)
        return r;
    r = tree_add_free(t, a, now_ns, ret, ret_ino);
    if (r < 0)
        COUNTER_SUB(t->used.inodes, 1);
    else
        (*ret)->uncharged_units = 0;
    return r;
}

/* Names count towards the inode quota, but the first ones of an image's file
 * are free; only the difference of the two costs is charged. */
int
tree_set_nlink(struct tree *t, struct inode *i, uint32_t nlink)
{
    uint64_t before = inode_cost(i);
    uint32_t old = i->nlink;

    i->nlink = nlink;
    uint64_t after = inode_cost(i);
    if (after > before && tree_charge_inode(t) < 0) {
        i->nlink = old;
        return -ENOSPC;
    }
    if (after < before)
        COUNTER_SUB(t->used.inodes, before - after);
    return 0;
}

int
tree_evict(struct tree *t, uint64_t ino)
{
    const struct inode *i = tree_find(t, ino);
    if (!i)
        return 0;
    uint64_t cost = inode_cost(i), bytes = inode_bytes(i);
    int r = radix_remove(&t->inodes, &inode_ops, ino, &t->deferred);
    if (r < 0)
        return r;
    COUNTER_SUB(t->used.inodes, cost);
    tree_settle(t, -(int64_t)bytes);
    return 0;
}

/* Removes an inode, or leaves it as an orphan while somebody holds it.
 *
 * The highest number is reused if nobody can know it. Files that come and go
 * quickly then do not spread over ever new nodes. Numbers of the root image are
 * known to records and never reused. */
void
tree_forget(struct tree *t, uint64_t ino)
{
    struct hold *h = holds_find(&t->holds, ino);

    if (!h) {
        (void)tree_evict(t, ino);
        t->next_ino -= ino >= t->first_ino && ino + 1 == t->next_ino;
        return;
    }
    t->holds.n_orphans += !h->is_orphan;
    h->is_orphan = true;
}

/* The inode may be shared with other threads, which may attach an object at the
 * same time: the first one wins. */
void
tree_attach(const struct tree *t, uint64_t ino, struct counted *c)
{
    struct inode *i = (struct inode *)radix_find(&t->inodes, ino);
    struct counted *none = NULL;

    if (!i || !S_ISREG(i->mode))
        return;
    if (!atomic_compare_exchange_strong(&i->attached, &none, counted_get(c)))
        counted_put(c);
}

void
tree_hold(struct tree *t, uint64_t ino)
{
    (void)holds_add(&t->holds, ino);
}

/* If an orphan cannot be removed for lack of memory, its hold stays as an
 * orphan, so that clones still leave it out. */
void
tree_release(struct tree *t, uint64_t ino)
{
    struct hold *h = holds_find(&t->holds, ino);

    if (!h || !h->n || --h->n)
        return;
    if (!h->is_orphan || !tree_evict(t, ino))
        holds_remove(&t->holds, h);
}

/* A change of owner clears the set-id bits, as on Linux: otherwise chown would
 * create a program that runs as the new owner. */
static void
tree_set_owner(struct inode *i, const struct attr *a, unsigned what)
{
    if (what & ATTR_UID)
        i->uid = a->uid;
    if (what & ATTR_GID)
        i->gid = a->gid;
    if (!(what & (ATTR_UID | ATTR_GID)) || !S_ISREG(i->mode))
        return;
    i->mode &= ~(uint32_t)S_ISUID;
    if (i->mode & S_IXGRP)
        i->mode &= ~(uint32_t)S_ISGID;
}

int
tree_setattr(struct tree *t, uint64_t ino, const struct attr *a, unsigned what,
             int64_t now_ns)
{
    struct inode *i;
    int r = tree_unshare(t, ino, &i);
    if (r < 0)
        return r;
    if (what & ATTR_SIZE) {
        r = tree_truncate(t, ino, a->size, now_ns);
        if (r < 0)
            return r;
    }
    tree_set_owner(i, a, what);
    if (what & ATTR_MODE)
        i->mode = (i->mode & S_IFMT) | (a->mode & 07777);
    if (what & ATTR_ATIME)
        i->atime_ns = a->atime_ns;
    if (what & ATTR_MTIME)
        i->mtime_ns = a->mtime_ns;
    i->ctime_ns = now_ns;
    return 0;
}

int
tree_put_xattrs(struct tree *t, uint64_t ino, OWN struct xattrs *x)
{
    struct inode *i;

    int r = tree_unshare(t, ino, &i);
    if (r == 0)
        r = tree_charge(t, (int64_t)(xattrs_cost(x) - xattrs_cost(i->xattrs)));
    if (r < 0) {
        xattrs_put(x);
        return r;
    }
    xattrs_put(i->xattrs);
    i->xattrs = x;
    return 0;
}

int
tree_set_xattr(struct tree *t, uint64_t ino, struct xattr_name name,
               const void *value, size_t len, int64_t now_ns)
{
    const struct inode *i = tree_find(t, ino);
    struct xattrs *x = NULL;
    const void *old;
    size_t old_len;

    if (!i)
        return -ESTALE;
    int r = value ? 0 : xattrs_find(i->xattrs, name, &old, &old_len);
    if (r == 0)
        r = xattrs_with(i->xattrs, name, value, len, &x);
    if (r == 0)
        r = tree_put_xattrs(t, ino, x);
    struct inode *inode;
    if (r == 0 && tree_unshare(t, ino, &inode) == 0)
        inode->ctime_ns = now_ns;
    return r;
}

void
inode_getattr(const struct inode *i, uint64_t ino, struct attr *ret)
{
    *ret = (struct attr){
        .ino = ino,
        .size = inode_is_dir(i) ? (i->dir.n + 2) * UINT64_C(20) : i->size,
        .blocks = inode_blocks(i).leaves * (CHUNK_BYTES / 512),
        .mode = i->mode,
        .nlink = i->nlink,
        .uid = i->uid,
        .gid = i->gid,
        .blksize = CHUNK_BYTES,
        .atime_ns = i->atime_ns,
        .mtime_ns = i->mtime_ns,
        .ctime_ns = i->ctime_ns,
    };
}
