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

#define RADIX_NODE_BYTES 576u /* of memory for each node, at most */

/* Subtrees nobody refers to any more, to be freed in steps. All zero: none.
 * To bury takes no memory and no longer for more leaves. */
struct grave {
    struct radix_node *top;
    uint64_t freed; /* objects so far */
};

/* Frees about `max` objects; true when nothing is left. */
bool grave_drain(struct grave *g, size_t max);
/* Moves what is in `from`, which should be less, to g. */
void grave_join(struct grave *g, struct grave *from);

/* Leaves of a part of a tree, those of them that weigh, and the nodes that
 * lead to them. */
struct tally {
    uint64_t leaves, weight, nodes;
};

/* All zero: empty. Height 0: root is the leaf of key 0. */
struct radix {
    struct shared *root;
    unsigned height;  /* levels of nodes, at most 11 */
    struct tally sum; /* as told to radix_count */
};

struct radix_ops {
    /* Its last reference is gone. What it owns may go to g. */
    void (*free)(struct shared *leaf, struct grave *g);
    bool (*weighs)(const struct shared *leaf); /* [leaves are not counted] */
};

/* Puts all, at once. */
void radix_fini(struct radix *r, const struct radix_ops *ops);
/* Puts all; what that leaves without an owner is in g. */
void radix_bury(struct radix *r, const struct radix_ops *ops, struct grave *g);
/* O(1), cannot fail. */
void radix_clone(const struct radix *r, struct radix *ret);

/* The leaf, borrowed, or NULL. */
struct shared *radix_find(const struct radix *r, uint64_t key);
/* The leaf with the smallest key >= *key, which is set to it, or NULL. */
struct shared *radix_next(const struct radix *r, uint64_t *key);

/* Calls `differs` for each key under which they do not have the same leaf, in
 * order; a leaf is NULL where there is none. What they share is skipped. */
typedef void radix_differs(void *arg, uint64_t key, struct shared *a,
                           struct shared *b);
void radix_diff(const struct radix *a, const struct radix *b,
                radix_differs *differs, void *arg);

/* Where the leaf of `key` is stored, with no other owner on the way to it;
 * the leaf itself may be shared. A NULL slot may be filled, or left: then
 * radix_remove gives its nodes back. Valid until the next change of another
 * key. NULL: no memory, and nothing has changed. */
struct shared **radix_slot(struct radix *r, uint64_t key);
/* Takes leaf over, also on failure; puts the one it replaces. -ENOMEM. */
int radix_set(struct radix *r, const struct radix_ops *ops, uint64_t key,
              OWN struct shared *leaf, struct grave *g);
/* Puts the leaf, if there is one, which was not counted. -ENOMEM, which
 * cannot happen when radix_slot was called for the key since the last
 * clone. */
int radix_remove(struct radix *r, const struct radix_ops *ops, uint64_t key,
                 struct grave *g);

/* --- radix_range.c. Where leaves are counted, each change of a leaf is told
 * after radix_slot for its key; then ranges take no longer for more leaves.
 * Keys first..last. */

/* A new leaf brings the nodes that radix_slot has made for it. */
void radix_count(struct radix *r, uint64_t key, int leaves, int weight);
/* Nodes that a leaf under `key`, where there is none, would add. */
unsigned radix_missing(const struct radix *r, uint64_t key);
/* What r->sum.nodes should be, counted anew: for tests. */
uint64_t radix_count_nodes(const struct radix *r);
struct tally radix_tally(const struct radix *r, const struct radix_ops *ops,
                         uint64_t first, uint64_t last);
/* Puts all leaves of the range. -ENOMEM, and nothing has changed. */
int radix_cut(struct radix *r, const struct radix_ops *ops, uint64_t first,
              uint64_t last, struct grave *g);

static inline bool
radix_is_empty(const struct radix *r)
{
    return !r->root;
}

#endif
