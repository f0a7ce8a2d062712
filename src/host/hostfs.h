/* Host folders as file systems.
 *
 * A program can reach only the contents of the folder: symbolic links are
 * resolved in the sandbox, never through the host. Device files cannot be
 * opened. FIFOs and sockets of the host are never opened; a FIFO works among
 * the sandbox's own processes.
 *
 * Files of the user (group) of this process are shown as uid (gid) 1000, all
 * others as 65534. Rights are checked twice: by the sandbox with these ids, and
 * by the host with its own. Owners cannot be changed, and set-user-ID and
 * set-group-ID bits are never set. A link may have any target, also one that
 * means something on the host. Files added to the folder do not count against
 * the sandbox's limits, but against a limit of their own. */
#ifndef HOST_HOSTFS_H
#define HOST_HOSTFS_H

#include "base/own.h"
#include "kernel/vfs/vfs.h"

#include <stdbool.h>

struct kernel;

/* Creates a file system for a directory. dir_hfd was opened in any way, and is
 * closed in any case. -ENOSYS: the host has no openat2 (Linux 5.6). */
int hostfs_new(struct kernel *k, OWN int dir_hfd, bool read_only,
               OWN struct fs **ret);
/* Limits the growth from now on; beyond it, operations fail with -ENOSPC. There
 * is no limit by default. */
struct quota;
void hostfs_limit(struct fs *fs, const struct quota *max);

#endif
