/* Files of the host, mapped for reading. */
#ifndef LIB_HOSTMAP_H
#define LIB_HOSTMAP_H

#include "kernel/machine.h"

/* Maps a host file for reading; of an empty one, bytes is NULL.
 * -EISDIR, -EINVAL for what is no regular file, or what open and mmap give. */
int host_map(const char *path, struct host_file *ret);
void host_unmap(const struct host_file *f);

#endif
