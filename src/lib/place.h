/* Positions of inodes in a tree, for the check of loaded states. */
#ifndef LIB_PLACE_H
#define LIB_PLACE_H

#include "tree/tree.h"

/* True if a path leads from the directory `top` to ino. If ino is not a
 * directory, all directories are searched. */
bool place_is_below(const struct tree *t, uint64_t ino, uint64_t top);

#endif
