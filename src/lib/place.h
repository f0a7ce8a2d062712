/* Places in trees by path, for what must outlive inode numbers. */
#ifndef LIB_PLACE_H
#define LIB_PLACE_H

#include "base/own.h"
#include "kernel/vfs/tree.h"

/* A path from the root to ino, which has one, to be freed. -ENOENT: there is
 * none; -ENOMEM. */
int place_path(const struct tree *t, uint64_t ino, OWN char **ret);
/* Symbolic links are not followed. 0: there is nothing. */
uint64_t place_find(const struct tree *t, const char *path);

#endif
