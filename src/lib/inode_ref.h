/* References to inodes that are valid in all copies of a sandbox. */
#ifndef LIB_INODE_REF_H
#define LIB_INODE_REF_H

#include "kernel/vfs/vfs.h"

struct kernel;

/* An inode in the n-th mount: a copy has the same mounts in the same order, and
 * its inodes have the same numbers. */
struct inode_ref {
    size_t mount;
    uint64_t ino;
};

/* Returns the reference to an inode of a mount. */
struct inode_ref inode_ref_of(const struct vnode *v);
/* Returns the inode in the sandbox of k. mnt is NULL if there is no such mount;
 * the inode need not exist. */
struct vnode inode_ref_node(const struct kernel *k, const struct inode_ref *r);

#endif
