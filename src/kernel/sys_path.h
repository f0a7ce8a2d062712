/* What system calls on paths share. */
#ifndef KERNEL_SYS_PATH_H
#define KERNEL_SYS_PATH_H

#include "kernel/machine.h"

#include <stdint.h>

struct task;
struct vnode;

/* The inode of a path; with AT_EMPTY_PATH and "", that of dirfd itself. */
int sys_find_node(struct task *t, int dirfd, gaddr path, uint32_t at_flags,
                  struct vnode *ret);

#endif
