/* /dev: the character devices of a sandbox, its terminals in pts/, and links to
 * open files. */
#ifndef KERNEL_DEVFS_H
#define KERNEL_DEVFS_H

#include "base/own.h"
#include "kernel/vfs/vfs.h"

struct kernel;

/* The directories pts/ and shm/ are empty: terminals appear in the first, and a
 * tmpfs can be mounted on the second. */
int devfs_new(struct kernel *k, OWN struct fs **ret);

#endif
