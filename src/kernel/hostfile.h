/* An open file over a descriptor of the host: stdin, stdout and stderr of
 * `exec`. */
#ifndef KERNEL_HOSTFILE_H
#define KERNEL_HOSTFILE_H

#include "base/own.h"
#include "kernel/file.h"

#include <stdint.h>
#include <sys/stat.h>

struct kernel;

/* hfd stays the caller's: it is duplicated, so that a regular file's offset
 * is shared with it. `flags`: O_RDONLY, O_WRONLY or O_RDWR. Reads and writes
 * never block the OS thread, whatever hfd is and whoever shares it. -EBADF,
 * -EMFILE, -ENOMEM, -ENFILE. */
int hostfile_new(struct kernel *k, int hfd, uint32_t flags,
                 OWN struct file **ret);

/* A host file's attributes as the guest sees them. A file of the user (group)
 * that this process runs as belongs to the user (group) of the sandbox; all
 * others to nobody, 65534. */
void hostfile_attr(const struct kernel *k, const struct stat *st,
                   struct attr *ret);

#endif
