/* Random operations on trees, and what must hold after each. */
#ifndef RANDOM_TREE_H
#define RANDOM_TREE_H

#include "tree/tree.h"

#define FILE_ATTR                                        \
    &(struct attr)                                       \
    {                                                    \
        .mode = S_IFREG | 0644, .uid = 1000, .gid = 1000 \
    }

struct world {
    struct tree t;
    uint64_t held[8]; /* 0: none */
};

unsigned dice(unsigned *seed, unsigned n);
uint64_t any_ino(const struct tree *t, unsigned *seed);
/* Contents of a file; names; what is held. */
void random_xattr(struct tree *t, unsigned *seed);
void random_content(struct tree *t, unsigned *seed);
void random_name(struct tree *t, unsigned *seed);
void random_hold(struct world *w, unsigned *seed);
/* The quota is what a recount finds. */
void check_used(const struct tree *t);
/* Every inode has as many links as there are names for it. */
void check_links(const struct tree *t);
/* The sums in the nodes are those of the leaves below them. */
void check_blocks(const struct tree *t);

#endif
