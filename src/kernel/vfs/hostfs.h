/* Host folders as file systems.
 *
 * What a program can reach is what lies in the folder: symbolic links lead
 * where they would lead in the sandbox, never through the host. Device files
 * cannot be opened; FIFOs and sockets of the host are never opened, a FIFO
 * works among the sandbox's own processes.
 *
 * What belongs to the user (group) this process runs as is shown as uid (gid)
 * 1000, all else as 65534. Rights are checked twice: by the sandbox with
 * these, and by the host with its own. Owners cannot be changed, set-user-ID
 * and set-group-ID bits are never set. A link may be given any target, also
 * one that means something on the host. What is added to the folder does not
 * count against the sandbox's limits, but has one of its own. */
#ifndef KERNEL_VFS_HOSTFS_H
#define KERNEL_VFS_HOSTFS_H

#include "base/own.h"
#include "kernel/vfs/vfs.h"

#include <stdbool.h>

struct kernel;

/* dir_hfd: a directory, opened in any way; closed with the file system, also
 * on failure. -ENOSYS: the host has no openat2 (Linux 5.6). */
int hostfs_new(struct kernel *k, OWN int dir_hfd, bool read_only,
               OWN struct fs **ret);
/* Limits the growth from now on: -ENOSPC beyond. Without it there is none. */
struct quota;
void hostfs_limit(struct fs *fs, const struct quota *max);

#endif
