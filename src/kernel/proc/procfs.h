/* /proc and /sys: information about the system for ps, top, free and language
 * runtimes.
 *
 * Both are views of the kernel's objects without state of their own. Their
 * files cannot be written. */
#ifndef KERNEL_PROC_PROCFS_H
#define KERNEL_PROC_PROCFS_H

#include "base/own.h"
#include "kernel/vfs/vfs.h"

struct kernel;

/* The content of a file is generated when it is opened, and stays the same for
 * that open file. With a virtual clock, usage times are constants. */
int procfs_new(struct kernel *k, OWN struct fs **ret);
/* /sys: information about processors, the loopback interface and limits. */
int sysfs_new(struct kernel *k, OWN struct fs **ret);

#endif
