/* An open file over a descriptor of the host: stdin, stdout and stderr of
 * `exec`.
 *
 * The kernel treats it like any other file: an operation that would have to
 * wait returns -EAGAIN, and the scheduler polls the descriptor with all
 * others. */
#ifndef HOST_HOSTFILE_H
#define HOST_HOSTFILE_H

#include "base/own.h"
#include "kernel/vfs/file.h"

#include <stdint.h>
#include <sys/stat.h>

struct kernel;

/* Creates an open file over hfd, which stays with the caller: it is duplicated,
 * so that both share the offset of a regular file. `flags` is O_RDONLY,
 * O_WRONLY or O_RDWR. Reads and writes never block the OS thread, whatever hfd
 * is and whoever shares it. -EBADF, -EMFILE, -ENOMEM, -ENFILE. */
int hostfile_new(struct kernel *k, int hfd, uint32_t flags,
                 OWN struct file **ret);

/* Converts a host file's attributes to the view of the guest. A file of the
 * user (group) of this process belongs to the user (group) of the sandbox, and
 * all others to nobody, 65534. */
void hostfile_attr(const struct vfs *v, const struct stat *st,
                   struct attr *ret);

#endif
