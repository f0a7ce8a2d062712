/* /dev/shm: a file system whose files count as memory and are not durable.
 * Forks and snapshots of a sandbox copy it. A mapped page is charged once: the
 * file has a hole where the mapping has the page (vfs/shmem.h). */
#ifndef KERNEL_SHMFS_H
#define KERNEL_SHMFS_H

struct kernel;
struct tree;

/* Creates the tree of an empty /dev/shm. -ENOMEM. */
int shmfs_tree_init(struct kernel *k, struct tree *ret);
/* Mounts /dev/shm with a clone of `from`, or empty if it is NULL. -ENOMEM. */
int shmfs_mount(struct kernel *k, const struct tree *from);

#endif
