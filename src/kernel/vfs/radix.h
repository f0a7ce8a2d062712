/* A persistent radix tree: uint64 key -> leaf, structurally shared.
 *
 * Leaves begin with a struct shared; the tree owns one reference on each.
 * A clone shares all nodes; the first change to a shared path copies that
 * path. A tree is used by one thread at a time, clones by different ones. */
#ifndef KERNEL_VFS_RADIX_H
#define KERNEL_VFS_RADIX_H

#include "base/own.h"
#include "kernel/vfs/shared.h"

#include <stdbool.h>
#include <stdint.h>

/* All zero: empty. Height 0: root is the leaf of key 0. */
struct radix {
    struct shared *root;
    unsigned height; /* levels of nodes, at most 11 */
};

struct radix_ops {
    void (*free)(struct shared *leaf); /* its last reference is gone */
};

void radix_fini(struct radix *r, const struct radix_ops *ops);
/* O(1), cannot fail. */
void radix_clone(const struct radix *r, struct radix *ret);

/* The leaf, borrowed, or NULL. */
struct shared *radix_find(const struct radix *r, uint64_t key);
/* The leaf with the smallest key >= *key, which is set to it, or NULL. */
struct shared *radix_next(const struct radix *r, uint64_t *key);

/* Calls `lost` for each leaf of a that b does not have under the same key, with
 * b's leaf there, or NULL. What they share is skipped. */
void radix_diff(const struct radix *a, const struct radix *b,
                void (*lost)(void *arg, struct shared *a, struct shared *b),
                void *arg);

/* Where the leaf of `key` is stored, with no other owner on the way to it;
 * the leaf itself may be shared. A NULL slot may be filled, or left: then
 * radix_remove gives its nodes back. Valid until the next change of another
 * key. NULL: no memory, and nothing has changed. */
struct shared **radix_slot(struct radix *r, const struct radix_ops *ops,
                           uint64_t key);
/* Takes leaf over, also on failure; puts the one it replaces. -ENOMEM. */
int radix_set(struct radix *r, const struct radix_ops *ops, uint64_t key,
              OWN struct shared *leaf);
/* Puts the leaf, if there is one. -ENOMEM, which cannot happen when
 * radix_slot was called for the key since the last clone. */
int radix_remove(struct radix *r, const struct radix_ops *ops, uint64_t key);
/* Puts all leaves with keys >= key. -ENOMEM, and nothing has changed. */
int radix_cut(struct radix *r, const struct radix_ops *ops, uint64_t key);

static inline bool
radix_is_empty(const struct radix *r)
{
    return !r->root;
}

#endif
