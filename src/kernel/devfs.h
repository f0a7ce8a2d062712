/* /dev: the character devices of a sandbox, its terminals in pts/, and links to
 * open files. */
#ifndef KERNEL_DEVFS_H
#define KERNEL_DEVFS_H

#include "base/own.h"
#include "kernel/vfs/vfs.h"

struct kernel;

/* Creates /dev. pts/ contains the terminals that exist, and shm is a link to
 * /run/shm. */
int devfs_new(struct kernel *k, OWN struct fs **ret);

#endif
