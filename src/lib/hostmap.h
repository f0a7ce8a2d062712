/* Files of the host, mapped for reading.
 *
 * A mapped file must not be truncated while it is in use: reading beyond its
 * end would be a SIGBUS. Root images and programs are therefore replaced by
 * renaming. */
#ifndef LIB_HOSTMAP_H
#define LIB_HOSTMAP_H

#include "kernel/machine.h"

/* Maps a host file for reading; for an empty file, bytes is NULL. -EISDIR for a
 * folder, -EINVAL for anything else that is not a regular file, or the error of
 * open and mmap. */
int hostmap_open(const char *path, struct host_file *ret);
void hostmap_close(const struct host_file *f);

#endif
