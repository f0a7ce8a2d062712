/* The file system in memory: struct fs over a tree. */
#ifndef KERNEL_VFS_TMPFS_H
#define KERNEL_VFS_TMPFS_H

#include "kernel/vfs/fs.h"
#include "tree/tree.h"

/* Creates a file system with a clone of `from`, or with an empty root directory
 * (0755, owned by root) if it is NULL. v may be NULL: then all times are 0.
 * -ENOMEM. */
int tmpfs_new(struct vfs *v, const struct tree *from, uint64_t max_bytes,
              uint64_t max_inodes, OWN struct fs **ret);
/* Returns its tree, for cloning. */
struct tree *tmpfs_tree(struct fs *fs);
bool tmpfs_is(const struct fs *fs);
/* The functions below accept any file system. On others than this one, no file
 * has an object or content, and nothing is attached.
 *
 * tmpfs_attached returns the object that is attached to a file, borrowed, or
 * NULL; tmpfs_attach attaches one as tree_attach does. Files of the root image
 * share theirs with all sandboxes, on any thread. */
struct counted *tmpfs_attached(struct fs *fs, uint64_t ino);
void tmpfs_attach(struct fs *fs, uint64_t ino, struct counted *c);
/* Returns the whole content of a regular file if it is one piece of memory that
 * outlives the file system (the root image), or NULL. */
const void *tmpfs_content(struct fs *fs, uint64_t ino);
/* Replaces its tree by *now, which is consumed, under the same limits. Holds
 * stay: a held inode must be in both trees, or in neither. */
void tmpfs_set_tree(struct fs *fs, OWN struct tree *now);

#endif
