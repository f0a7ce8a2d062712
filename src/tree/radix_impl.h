/* The nodes of the radix tree, for the files that implement it. */
#ifndef TREE_RADIX_IMPL_H
#define TREE_RADIX_IMPL_H

#include "tree/radix.h"

#include <assert.h>

#define BITS       6u
#define FANOUT     (1u << BITS)
#define HEIGHT_MAX 11u

struct radix_node {
    struct shared ref;
    uint32_t height; /* in a deferred free list */
    union {
        struct tally sum; /* of this node and everything below */
        struct {
            struct radix_node *next;
            const struct radix_ops *ops;
        } deferred; /* in a deferred free list */
    };
    struct shared *slot[FANOUT];
};

static_assert(sizeof(struct radix_node) + 2 * sizeof(size_t) <=
                  RADIX_NODE_BYTES,
              "a node with malloc's header");

static inline struct radix_node *
node_of(struct shared *s)
{
    return (struct radix_node *)s;
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

/* Puts a new node, or a copy of the shared one, at *at. NULL: no memory. */
struct radix_node *radix_node_own(struct shared **at);
/* Makes the node at *at exist and have one owner. NULL: no memory. */
static inline struct radix_node *
node_unshare(struct shared **at)
{
    return *at && shared_is_single(*at) ? node_of(*at) : radix_node_own(at);
}

/* Releases the reference on a node or leaf (height 0). Accepts NULL. */
void radix_put(struct shared *s, unsigned height, const struct radix_ops *ops,
               struct free_list *g);
/* Collects the slots of the nodes on the way to `key`, and makes each node have
 * one owner. After them comes the slot of the leaf, which may be empty. Returns
 * the number of nodes, or -ENOMEM. */
int radix_path_unshare(struct radix *r, uint64_t key,
                       struct shared **path[HEIGHT_MAX + 1]);
/* Removes levels that have only their first child. The shape of a tree then
 * depends on its keys alone. */
void radix_shrink(struct radix *r);

#endif
