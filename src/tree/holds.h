/* The inodes that are held (open, or a current directory), with counts. A clone
 * of a tree starts without holds. */
#ifndef TREE_HOLDS_H
#define TREE_HOLDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hold {
    uint64_t ino; /* 0: an unused slot */
    uint32_t n;
    bool is_orphan; /* it has no name: removed when n becomes 0 */
};

/* All zero: empty. */
struct holds {
    struct hold *v;
    size_t cap, n; /* cap: a power of two, or 0 */
    size_t n_orphans;
};

/* Frees the table. Holds that are left are forgotten. */
void holds_fini(struct holds *h);
/* Returns the hold, valid until the next add or remove, or NULL. */
struct hold *holds_find(const struct holds *h, uint64_t ino);
/* Adds a hold. NULL: no memory. */
struct hold *holds_add(struct holds *h, uint64_t ino);
/* Removes a hold, whatever its count. Other pointers to holds become
 * invalid. */
void holds_remove(struct holds *h, struct hold *hold);

#endif
