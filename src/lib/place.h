/* Where inodes are in a tree. */
#ifndef LIB_PLACE_H
#define LIB_PLACE_H

#include "tree/tree.h"

/* Does a path from the directory `top` lead to ino? For what is no directory,
 * all directories are looked at. */
bool place_is_below(const struct tree *t, uint64_t ino, uint64_t top);

#endif
