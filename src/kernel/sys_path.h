/* Functions that system calls on paths share. */
#ifndef KERNEL_SYS_PATH_H
#define KERNEL_SYS_PATH_H

#include "kernel/machine.h"
#include "kernel/vfs/vfs.h"

#include <stdint.h>

struct task;

/* The target of a path: a node, or an open file without a node. Borrowed. */
struct found {
    struct vnode node; /* mnt NULL: see `file` */
    struct file *file;
    struct walk w; /* its dir and name are where the node was found */
};
static inline struct dentry
found_dentry(const struct found *f)
{
    struct dentry p = walk_dentry(&f->w);

    p.node = f->node;
    return p;
}

/* With AT_EMPTY_PATH and "", finds the node of dirfd itself. */
int sys_find(struct task *t, int dirfd, gaddr path, uint32_t at_flags,
             struct found *ret);
/* Like sys_find, for a path that was copied. */
int sys_find_path(struct task *t, int dirfd, const char *path,
                  uint32_t at_flags, struct found *ret);
/* Like sys_find; -ENXIO for a file without a node. */
int sys_find_node(struct task *t, int dirfd, gaddr path, uint32_t at_flags,
                  struct vnode *ret);

#endif
