/* /proc: what ps, top, free and language runtimes ask about the system. */
#ifndef KERNEL_VFS_PROCFS_H
#define KERNEL_VFS_PROCFS_H

#include "base/own.h"
#include "kernel/vfs/vfs.h"

struct kernel;

/* The content of a file is made when it is opened, and stays the same for
 * that open file. With a virtual clock, times of use are constants. */
int procfs_new(struct kernel *k, OWN struct fs **ret);
/* The number of the process whose folder v is; 0: v is none. The process may
 * have ended. */
int procfs_pid(const struct vnode *v);
/* /sys: what programs read there about processors, the loopback interface and
 * limits. */
int sysfs_new(struct kernel *k, OWN struct fs **ret);

#endif
