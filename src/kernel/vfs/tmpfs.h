/* The file system in memory: struct fs over a tree. */
#ifndef KERNEL_VFS_TMPFS_H
#define KERNEL_VFS_TMPFS_H

#include "kernel/vfs/vfs.h"
#include "tree/tree.h"

/* A clone of `from`, or an empty root directory (0755, root's) if it is NULL.
 * k may be NULL: then all times are 0. -ENOMEM. */
int tmpfs_new(struct kernel *k, const struct tree *from, uint64_t max_bytes,
              uint64_t max_inodes, OWN struct fs **ret);
/* Its tree, to be cloned. */
struct tree *tmpfs_tree(struct fs *fs);
bool tmpfs_is(const struct fs *fs);
/* Puts *now, of which nothing is left, in place of its tree, under the same
 * limits. What is held stays held: it must be in both, or be gone from both. */
void tmpfs_set_tree(struct fs *fs, OWN struct tree *now);

#endif
