/* /dev: the character devices of a sandbox, its terminals in pts/, its message
 * queues in mqueue/, and links to open files. */
#ifndef KERNEL_DEVFS_H
#define KERNEL_DEVFS_H

#include "base/own.h"
#include "kernel/vfs/vfs.h"

struct kernel;

/* Creates /dev. pts/ and mqueue/ contain what exists; shm/ is empty, for the
 * file system of shmfs.h. */
int devfs_new(struct kernel *k, OWN struct fs **ret);

#endif
