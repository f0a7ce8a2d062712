/* A persistent radix tree with 64-way nodes (copy-on-write by path copying).
 *
 * Invariant: when a shared node is copied, the copy adds a reference to each
 * child, so everything below counts as shared too. Hence a node with count one
 * that is reached only through nodes with count one has a single owner, and may
 * be changed in place. */
#include "tree/radix.h"

#include "tree/radix_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void
radix_leaf_put(struct shared *leaf, const struct radix_ops *ops,
               struct free_list *g)
{
    if (leaf && shared_put(leaf))
        ops->free(leaf, g);
}

/* A node that loses its last reference is only linked into the list: no child
 * is visited. Removing a file of any size therefore takes constant time. */
void
radix_put(struct shared *s, unsigned height, const struct radix_ops *ops,
          struct free_list *g)
{
    if (!s || !shared_put(s))
        return;
    if (!height) {
        g->freed++;
        ops->free(s, g);
        return;
    }
    struct radix_node *n = node_of(s);
    n->height = height;
    n->deferred.ops = ops;
    n->deferred.next = g->top;
    g->top = n;
}

/* Frees nodes from the top of the list. Children that lose their last reference
 * go to the list in turn, so one loop walks a subtree of any shape without
 * recursion. A node goes with all its leaves, so somewhat more than `max`
 * objects may be freed. */
bool
radix_drain_deferred(struct free_list *g, size_t max)
{
    uint64_t before = g->freed;

    while (g->top && g->freed - before < max) {
        struct radix_node *n = g->top;
        const struct radix_ops *ops = n->deferred.ops;
        g->top = n->deferred.next;
        for (unsigned i = 0; i < FANOUT; i++)
            radix_put(n->slot[i], n->height - 1, ops, g);
        g->freed++;
        free(n);
    }
    return !g->top;
}

void
radix_join_deferred(struct free_list *g, struct free_list *from)
{
    while (from->top) {
        struct radix_node *n = from->top;
        from->top = n->deferred.next;
        n->deferred.next = g->top;
        g->top = n;
    }
}

void
radix_defer_free(struct radix *r, const struct radix_ops *ops,
                 struct free_list *g)
{
    radix_put(r->root, r->height, ops, g);
    *r = (struct radix){0};
}

void
radix_fini(struct radix *r, const struct radix_ops *ops)
{
    struct free_list g = {0};

    radix_defer_free(r, ops, &g);
    (void)radix_drain_deferred(&g, SIZE_MAX);
}

void
radix_clone(const struct radix *r, struct radix *ret)
{
    if (r->root)
        shared_get(r->root);
    *ret = *r;
}

struct diff {
    radix_differs *differs;
    void *arg;
};

/* A part of a tree: a node, or a leaf, of that height. */
struct radix_part {
    struct shared *s;
    unsigned height;
};

/* Returns the part in slot i of a node one level above `height`. A lower tree
 * counts as the first slot of a higher one. */
static struct radix_part
part_in(struct radix_part p, unsigned i, unsigned height)
{
    if (p.height <= height)
        return (struct radix_part){i ? NULL : p.s, p.height};
    return (struct radix_part){p.s ? node_of(p.s)->slot[i] : NULL, height};
}

/* Recursion is as deep as the trees are high: 11 at most. */
static void
part_diff(struct radix_part a, struct radix_part b, uint64_t key,
          const struct diff *d)
{
    unsigned height = a.height > b.height ? a.height : b.height;

    if (a.s == b.s)
        return;
    if (!height) {
        d->differs(d->arg, key, a.s, b.s);
        return;
    }
    height--;
    for (unsigned i = 0; i < FANOUT; i++)
        part_diff(part_in(a, i, height), part_in(b, i, height),
                  key | (uint64_t)i << (BITS * height), d);
}

void
radix_diff(const struct radix *a, const struct radix *b, radix_differs *differs,
           void *arg)
{
    const struct diff d = {differs, arg};

    part_diff((struct radix_part){a->root, a->height},
              (struct radix_part){b->root, b->height}, 0, &d);
}

struct shared *
radix_find(const struct radix *r, uint64_t key)
{
    struct shared *s = r->root;

    if (!key_fits(key, r->height))
        return NULL;
    for (unsigned h = r->height; h-- && s;)
        s = node_of(s)->slot[index_at(key, h)];
    return s;
}

/* Sets the digit of `level` to `i` and all lower ones to zero. */
static uint64_t
radix_key_from(uint64_t key, unsigned level, unsigned i)
{
    uint64_t digits = key >> (BITS * level);
    return (digits - (digits & (FANOUT - 1)) + i) << (BITS * level);
}

/* One descent: the leaf, or NULL with *key set behind the empty part that
 * was met; *ret_end when nothing is left. */
static struct shared *
radix_descend(const struct radix *r, uint64_t *key, bool *ret_end)
{
    struct shared *s = r->root;

    for (unsigned h = r->height; h--;) {
        struct radix_node *n = node_of(s);
        unsigned i = index_at(*key, h), first = i;
        while (i < FANOUT && !n->slot[i])
            i++;
        if (i == FANOUT) {
            *ret_end = h + 1 == r->height;
            if (!*ret_end)
                *key = radix_key_from(*key, h + 1, index_at(*key, h + 1) + 1);
            return NULL;
        }
        if (i != first)
            *key = radix_key_from(*key, h, i);
        s = n->slot[i];
    }
    return s;
}

struct shared *
radix_next(const struct radix *r, uint64_t *key)
{
    uint64_t k = *key;
    bool end = !r->root;

    while (!end && key_fits(k, r->height)) {
        struct shared *s = radix_descend(r, &k, &end);
        if (s) {
            *key = k;
            return s;
        }
        end = end || k < *key; /* wrapped around */
    }
    return NULL;
}

static struct radix_node *
node_copy(const struct radix_node *from)
{
    struct radix_node *n = malloc(sizeof *n);
    if (!n)
        return NULL;
    shared_init(&n->ref);
    n->sum = from->sum;
    for (unsigned i = 0; i < FANOUT; i++) {
        n->slot[i] = from->slot[i];
        if (n->slot[i])
            shared_get(n->slot[i]);
    }
    return n;
}

static struct radix_node *
radix_node_new(void)
{
    struct radix_node *n = calloc(1, sizeof *n);
    if (n)
        shared_init(&n->ref);
    return n;
}

/* Gives the reference on a node back that was copied: the copy has one on
 * each child, so none of them goes. */
static void
node_put_copied(struct radix_node *n)
{
    if (!shared_put(&n->ref))
        return;
    for (unsigned i = 0; i < FANOUT; i++)
        if (n->slot[i])
            (void)shared_put(n->slot[i]);
    free(n);
}

struct radix_node *
radix_node_own(struct shared **at)
{
    struct shared *old = *at;
    struct radix_node *n = old ? node_copy(node_of(old)) : radix_node_new();
    if (!n)
        return NULL;
    *at = &n->ref;
    if (old)
        node_put_copied(node_of(old));
    return n;
}

/* A higher tree is a new root whose first child is the old one. An empty tree
 * just gets higher; its nodes are made on the way to the first leaf. */
static int
radix_grow(struct radix *r, uint64_t key)
{
    while (!key_fits(key, r->height)) {
        struct radix_node *n = r->root ? radix_node_new() : NULL;
        if (r->root && !n)
            return -ENOMEM;
        if (n) {
            r->sum.nodes++;
            n->sum = r->sum;
            n->slot[0] = r->root;
            r->root = &n->ref;
        }
        r->height++;
    }
    return 0;
}

static bool
node_has_first_child_only(const struct radix_node *n)
{
    for (unsigned i = 1; i < FANOUT; i++)
        if (n->slot[i])
            return false;
    return true;
}

void
radix_shrink(struct radix *r)
{
    while (r->height && r->root &&
           node_has_first_child_only(node_of(r->root))) {
        struct radix_node *n = node_of(r->root);
        r->root = n->slot[0];
        if (r->root)
            shared_get(r->root);
        node_put_copied(n);
        r->height--;
        r->sum.nodes = r->root && r->height ? node_of(r->root)->sum.nodes : 0;
    }
    if (!r->root)
        r->height = 0;
}

/* Frees the nodes of path[0..n) from the lowest up while they are empty. */
static void
radix_prune(struct radix *r, struct shared **path[], unsigned n)
{
    while (n--) {
        struct radix_node *node = node_of(*path[n]);
        for (unsigned i = 0; i < FANOUT; i++)
            if (node->slot[i])
                return;
        *path[n] = NULL;
        free(node);
    }
    r->height = 0;
}

/* Frees the empty nodes that were made on the way to a missing leaf. */
static void
radix_tidy(struct radix *r, uint64_t key)
{
    struct shared **path[HEIGHT_MAX], **at = &r->root;
    unsigned n = 0;

    for (unsigned h = r->height; h-- && *at && shared_is_single(*at);) {
        path[n++] = at;
        at = &node_of(*at)->slot[index_at(key, h)];
    }
    if (!*at)
        radix_prune(r, path, n);
    radix_shrink(r);
}

/* The path to the leaf is made exclusive from the top down. This order keeps
 * the invariant above: a node is copied only after its parent has one owner.
 * A failure frees the empty nodes again, so that nothing is left of the
 * attempt. */
struct shared **
radix_slot(struct radix *r, uint64_t key)
{
    struct shared **at = &r->root;

    if (!key_fits(key, r->height) && radix_grow(r, key) < 0) {
        radix_shrink(r);
        return NULL;
    }
    for (unsigned h = r->height; h--;) {
        struct radix_node *n = node_unshare(at);
        if (!n) {
            radix_tidy(r, key);
            return NULL;
        }
        at = &n->slot[index_at(key, h)];
    }
    return at;
}

int
radix_set(struct radix *r, const struct radix_ops *ops, uint64_t key,
          OWN struct shared *leaf, struct free_list *g)
{
    struct shared **at = radix_slot(r, key);
    if (!at) {
        radix_leaf_put(leaf, ops, g);
        return -ENOMEM;
    }
    struct shared *old = *at;
    *at = leaf;
    if (old)
        radix_leaf_put(old, ops, g);
    return 0;
}

int
radix_path_unshare(struct radix *r, uint64_t key,
                   struct shared **path[HEIGHT_MAX + 1])
{
    struct shared **at = &r->root;
    int n = 0;

    for (unsigned h = r->height; h-- && *at;) {
        struct radix_node *node = node_unshare(at);
        if (!node)
            return -ENOMEM;
        path[n++] = at;
        at = &node->slot[index_at(key, h)];
    }
    path[n] = at;
    return n;
}

int
radix_remove(struct radix *r, const struct radix_ops *ops, uint64_t key,
             struct free_list *g)
{
    struct shared **path[HEIGHT_MAX + 1];

    if (!key_fits(key, r->height))
        return 0;
    int n = radix_path_unshare(r, key, path);
    if (n < 0)
        return n;
    radix_leaf_put(STEAL(*path[n]), ops, g);
    radix_prune(r, path, (unsigned)n);
    radix_shrink(r);
    return 0;
}
