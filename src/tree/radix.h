/* A persistent radix tree: uint64 key -> leaf, structurally shared.
 *
 * Leaves begin with a struct shared; the tree owns one reference on each.
 * A clone shares all nodes; the first change to a shared path copies that
 * path. A tree is used by one thread at a time, clones by different ones. */
#ifndef TREE_RADIX_H
#define TREE_RADIX_H

#include "base/own.h"
#include "tree/shared.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct radix_node;

#define RADIX_NODE_BYTES 576u /* maximum memory of a node */

/* The deferred free list: subtrees without references, to be freed in steps.
 * All zero: empty. Adding a subtree needs no memory, and its cost does not
 * depend on the number of leaves. */
struct free_list {
    struct radix_node *top;
    uint64_t freed; /* number of objects */
};

/* Frees about `max` objects; returns true when the list is empty. */
bool radix_drain_deferred(struct free_list *g, size_t max);
/* Moves the contents of `from`, which should be shorter, to g. */
void radix_join_deferred(struct free_list *g, struct free_list *from);

/* The number of leaves in a part of a tree, of leaves that weigh, and of nodes
 * that lead to them. */
struct tally {
    uint64_t leaves, weight, nodes;
};

/* All zero: empty. With height 0, root is the leaf of key 0. */
struct radix {
    struct shared *root;
    unsigned height;  /* levels of nodes, at most 11 */
    struct tally sum; /* as reported to radix_count */
};

struct radix_ops {
    /* Called when the last reference is gone. May move owned objects to g. */
    void (*free)(struct shared *leaf, struct free_list *g);
    bool (*weighs)(const struct shared *leaf); /* [leaves are not counted] */
};

/* Releases all leaves at once. */
void radix_fini(struct radix *r, const struct radix_ops *ops);
/* Releases all leaves; objects that lose their last owner go to g. */
void radix_defer_free(struct radix *r, const struct radix_ops *ops,
                      struct free_list *g);
/* O(1); cannot fail. */
void radix_clone(const struct radix *r, struct radix *ret);

/* Returns the leaf, borrowed, or NULL. */
struct shared *radix_find(const struct radix *r, uint64_t key);
/* Returns the leaf with the smallest key >= *key and sets *key to it, or
 * returns NULL. */
struct shared *radix_next(const struct radix *r, uint64_t *key);

/* Calls `differs` for each key whose leaves differ, in order; a missing leaf is
 * NULL. Shared parts are skipped. */
typedef void radix_differs(void *arg, uint64_t key, struct shared *a,
                           struct shared *b);
void radix_diff(const struct radix *a, const struct radix *b,
                radix_differs *differs, void *arg);

/* Returns the slot of the leaf of `key`. All nodes on the way have one owner;
 * the leaf itself may be shared. A NULL slot may be filled or left; then
 * radix_remove releases its nodes. Valid until the next change of another key.
 * NULL: no memory, and nothing has changed. */
struct shared **radix_slot(struct radix *r, uint64_t key);
/* Sets a leaf, which is consumed also on failure, and releases the replaced
 * one. -ENOMEM. */
int radix_set(struct radix *r, const struct radix_ops *ops, uint64_t key,
              OWN struct shared *leaf, struct free_list *g);
/* Releases the leaf, if there is one, which must not be counted. -ENOMEM, which
 * cannot happen after radix_slot for the key since the last clone. */
int radix_remove(struct radix *r, const struct radix_ops *ops, uint64_t key,
                 struct free_list *g);

/* --- radix_range.c: trees with counted leaves, for ranges first..last
 *
 * Each change of a leaf is reported by radix_count after radix_slot for its
 * key. The cost of an operation on a range then does not depend on its number
 * of leaves. */

/* Reports a change. A new leaf includes the nodes that radix_slot has created
 * for it. */
void radix_count(struct radix *r, uint64_t key, int leaves, int weight);
/* Returns the number of nodes that a new leaf under `key` would add. */
unsigned radix_missing(const struct radix *r, uint64_t key);
/* Counts r->sum.nodes again, for tests. */
uint64_t radix_count_nodes(const struct radix *r);
/* Returns the sums over all leaves of the range. */
struct tally radix_tally(const struct radix *r, const struct radix_ops *ops,
                         uint64_t first, uint64_t last);
/* Releases all leaves of the range. On -ENOMEM nothing has changed. */
int radix_cut(struct radix *r, const struct radix_ops *ops, uint64_t first,
              uint64_t last, struct free_list *g);

static inline bool
radix_is_empty(const struct radix *r)
{
    return !r->root;
}

#endif
