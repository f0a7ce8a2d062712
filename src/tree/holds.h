/* Which inodes are held (open, or somebody's directory), and how often. Not
 * shared between clones of a tree: a clone begins without holds. */
#ifndef TREE_HOLDS_H
#define TREE_HOLDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hold {
    uint64_t ino; /* 0: an empty place */
    uint32_t n;
    bool is_orphan; /* it has no name: goes when n becomes 0 */
};

/* All zero: empty. */
struct holds {
    struct hold *v;
    size_t cap, n; /* cap: a power of two, or 0 */
    size_t n_orphans;
};

void holds_fini(struct holds *h);
/* Valid until the next add or remove, or NULL. */
struct hold *holds_find(const struct holds *h, uint64_t ino);
/* One more hold; NULL: no memory. */
struct hold *holds_add(struct holds *h, uint64_t ino);
void holds_remove(struct holds *h, struct hold *hold);

#endif
