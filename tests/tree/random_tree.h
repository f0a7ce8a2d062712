/* Random operations on trees, and the properties that must hold after each. A
 * seed repeats a run. */
#ifndef RANDOM_TREE_H
#define RANDOM_TREE_H

#include "tree/tree.h"

#define FILE_ATTR                                        \
    &(struct attr)                                       \
    {                                                    \
        .mode = S_IFREG | 0644, .uid = 1000, .gid = 1000 \
    }

/* A tree with files that are held, as open files would hold them. */
struct world {
    struct tree t;
    uint64_t held[8]; /* 0: none */
};

/* Return a number below n, and the number of an inode of the tree. */
unsigned dice(unsigned *seed, unsigned n);
uint64_t any_ino(const struct tree *t, unsigned *seed);
/* Make one random change: attributes, contents, names, holds. Errors are
 * ignored. */
void random_xattr(struct tree *t, unsigned *seed);
void random_content(struct tree *t, unsigned *seed);
void random_name(struct tree *t, unsigned *seed);
void random_hold(struct world *w, unsigned *seed);
/* Checks that the quota is the sum that a recount finds. */
void check_used(const struct tree *t);
/* Checks that every inode has as many links as there are names for it. */
void check_links(const struct tree *t);
/* Checks that the sums in the nodes are those of the leaves below them. */
void check_blocks(const struct tree *t);

#endif
