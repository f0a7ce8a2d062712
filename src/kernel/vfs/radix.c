/* A persistent radix tree with 64-way nodes.
 *
 * Invariants: a node copied because it was shared has taken a reference on
 * each child, so everything below it counts as shared too; hence a node with
 * count one that is reached through nodes with count one has one owner. */
#include "kernel/vfs/radix.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BITS       6u
#define FANOUT     (1u << BITS)
#define HEIGHT_MAX 11u

struct node {
    struct shared ref;
    struct shared *slot[FANOUT];
};

static inline struct node *
node_of(struct shared *s)
{
    return (struct node *)s;
}

static inline unsigned
index_at(uint64_t key, unsigned level)
{
    return (unsigned)(key >> (BITS * level)) & (FANOUT - 1);
}

static inline bool
key_fits(uint64_t key, unsigned height)
{
    return height >= HEIGHT_MAX || !(key >> (BITS * height));
}

static void
leaf_put(struct shared *leaf, const struct radix_ops *ops)
{
    if (leaf && shared_put(leaf))
        ops->free(leaf);
}

/* Recursion is as deep as the tree is high: 11 at most. */
static void
subtree_put(struct shared *s, unsigned height, const struct radix_ops *ops)
{
    if (!height) {
        leaf_put(s, ops);
        return;
    }
    if (!s || !shared_put(s))
        return;
    struct node *n = node_of(s);
    for (unsigned i = 0; i < FANOUT; i++)
        if (n->slot[i])
            subtree_put(n->slot[i], height - 1, ops);
    free(n);
}

void
radix_fini(struct radix *r, const struct radix_ops *ops)
{
    subtree_put(r->root, r->height, ops);
    *r = (struct radix){0};
}

void
radix_clone(const struct radix *r, struct radix *ret)
{
    if (r->root)
        shared_get(r->root);
    *ret = *r;
}

struct diff {
    void (*lost)(void *arg, struct shared *a, struct shared *b);
    void *arg;
};

/* Recursion is as deep as the trees are high: 22 at most. A lower tree is what
 * is in the first slot of a higher one. */
static void
subtree_diff(struct shared *a, unsigned a_height, struct shared *b,
             unsigned b_height, const struct diff *d)
{
    if (!a || a == b)
        return;
    if (a_height < b_height) {
        subtree_diff(a, a_height, b ? node_of(b)->slot[0] : NULL, b_height - 1,
                     d);
        return;
    }
    if (!a_height) {
        d->lost(d->arg, a, b);
        return;
    }
    bool is_higher = a_height > b_height;
    for (unsigned i = 0; i < FANOUT; i++) {
        struct shared *other = is_higher ? (i ? NULL : b)
                               : b       ? node_of(b)->slot[i]
                                         : NULL;
        subtree_diff(node_of(a)->slot[i], a_height - 1, other,
                     is_higher && !i ? b_height : a_height - 1, d);
    }
}

void
radix_diff(const struct radix *a, const struct radix *b,
           void (*lost)(void *arg, struct shared *a, struct shared *b),
           void *arg)
{
    const struct diff d = {lost, arg};

    subtree_diff(a->root, a->height, b->root, b->height, &d);
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
key_from(uint64_t key, unsigned level, unsigned i)
{
    uint64_t digits = key >> (BITS * level);
    return (digits - (digits & (FANOUT - 1)) + i) << (BITS * level);
}

/* One descent: the leaf, or NULL with *key set behind the empty part that
 * was met; *ret_end when nothing is left. */
static struct shared *
descend(const struct radix *r, uint64_t *key, bool *ret_end)
{
    struct shared *s = r->root;

    for (unsigned h = r->height; h--;) {
        struct node *n = node_of(s);
        unsigned i = index_at(*key, h), first = i;
        while (i < FANOUT && !n->slot[i])
            i++;
        if (i == FANOUT) {
            *ret_end = h + 1 == r->height;
            if (!*ret_end)
                *key = key_from(*key, h + 1, index_at(*key, h + 1) + 1);
            return NULL;
        }
        if (i != first)
            *key = key_from(*key, h, i);
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
        struct shared *s = descend(r, &k, &end);
        if (s) {
            *key = k;
            return s;
        }
        end = end || k < *key; /* wrapped around */
    }
    return NULL;
}

static struct node *
node_copy(const struct node *from)
{
    struct node *n = malloc(sizeof *n);
    if (!n)
        return NULL;
    shared_init(&n->ref);
    for (unsigned i = 0; i < FANOUT; i++) {
        n->slot[i] = from->slot[i];
        if (n->slot[i])
            shared_get(n->slot[i]);
    }
    return n;
}

static struct node *
node_new(void)
{
    struct node *n = calloc(1, sizeof *n);
    if (n)
        shared_init(&n->ref);
    return n;
}

/* Makes the node at *at exist and have one owner. NULL: no memory. */
static inline struct node *
node_own(struct shared **at, unsigned height, const struct radix_ops *ops)
{
    struct shared *old = *at;
    if (old && shared_is_single(old))
        return node_of(old);

    struct node *n = old ? node_copy(node_of(old)) : node_new();
    if (!n)
        return NULL;
    *at = &n->ref;
    if (old)
        subtree_put(old, height, ops);
    return n;
}

static int
grow(struct radix *r, uint64_t key)
{
    while (!key_fits(key, r->height)) {
        struct node *n = r->root ? node_new() : NULL;
        if (r->root && !n)
            return -ENOMEM;
        if (n) {
            n->slot[0] = r->root;
            r->root = &n->ref;
        }
        r->height++;
    }
    return 0;
}

/* Takes away levels that hold nothing but their first child, as long as
 * they have one owner. */
static void
shrink(struct radix *r)
{
    while (r->height && r->root && shared_is_single(r->root)) {
        struct node *n = node_of(r->root);
        for (unsigned i = 1; i < FANOUT; i++)
            if (n->slot[i])
                return;
        r->root = n->slot[0];
        r->height--;
        free(n);
    }
    if (!r->root)
        r->height = 0;
}

/* Frees the nodes of path[0..n) from the lowest up while they are empty. */
static void
prune(struct radix *r, struct shared **path[], unsigned n)
{
    while (n--) {
        struct node *node = node_of(*path[n]);
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
tidy(struct radix *r, uint64_t key)
{
    struct shared **path[HEIGHT_MAX], **at = &r->root;
    unsigned n = 0;

    for (unsigned h = r->height; h-- && *at && shared_is_single(*at);) {
        path[n++] = at;
        at = &node_of(*at)->slot[index_at(key, h)];
    }
    if (!*at)
        prune(r, path, n);
    shrink(r);
}

struct shared **
radix_slot(struct radix *r, const struct radix_ops *ops, uint64_t key)
{
    struct shared **at = &r->root;

    if (grow(r, key) < 0) {
        shrink(r);
        return NULL;
    }
    for (unsigned h = r->height; h--;) {
        struct node *n = node_own(at, h + 1, ops);
        if (!n) {
            tidy(r, key);
            return NULL;
        }
        at = &n->slot[index_at(key, h)];
    }
    return at;
}

int
radix_set(struct radix *r, const struct radix_ops *ops, uint64_t key,
          OWN struct shared *leaf)
{
    struct shared **at = radix_slot(r, ops, key);
    if (!at) {
        leaf_put(leaf, ops);
        return -ENOMEM;
    }
    struct shared *old = *at;
    *at = leaf;
    leaf_put(old, ops);
    return 0;
}

/* Collects the places of the nodes on the way to `key`, each made to have
 * one owner; after them comes the place of the leaf, or one that is empty.
 * Returns the number of nodes, or -ENOMEM. */
static int
path_own(struct radix *r, const struct radix_ops *ops, uint64_t key,
         struct shared **path[HEIGHT_MAX + 1])
{
    struct shared **at = &r->root;
    int n = 0;

    for (unsigned h = r->height; h-- && *at;) {
        struct node *node = node_own(at, h + 1, ops);
        if (!node)
            return -ENOMEM;
        path[n++] = at;
        at = &node->slot[index_at(key, h)];
    }
    path[n] = at;
    return n;
}

int
radix_remove(struct radix *r, const struct radix_ops *ops, uint64_t key)
{
    struct shared **path[HEIGHT_MAX + 1];

    if (!key_fits(key, r->height))
        return 0;
    int n = path_own(r, ops, key, path);
    if (n < 0)
        return n;
    leaf_put(STEAL(*path[n]), ops);
    prune(r, path, (unsigned)n);
    shrink(r);
    return 0;
}

int
radix_cut(struct radix *r, const struct radix_ops *ops, uint64_t key)
{
    struct shared **path[HEIGHT_MAX + 1];

    if (!key_fits(key, r->height))
        return 0;
    int n = path_own(r, ops, key, path);
    if (n < 0)
        return n;
    leaf_put(STEAL(*path[n]), ops);
    for (unsigned d = 0; d < (unsigned)n; d++) {
        struct node *node = node_of(*path[d]);
        unsigned level = r->height - 1 - d;
        for (unsigned i = index_at(key, level) + 1; i < FANOUT; i++)
            subtree_put(STEAL(node->slot[i]), level, ops);
    }
    prune(r, path, (unsigned)n);
    shrink(r);
    return 0;
}
