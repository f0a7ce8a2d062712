/* Open directories. */
#ifndef KERNEL_VFS_DIRFILE_H
#define KERNEL_VFS_DIRFILE_H

#include "base/own.h"

#include <stdbool.h>
#include <stdint.h>

struct dir_emit;
struct file;
struct vfs;

/* Creates an open directory; the caller sets its node. */
int dirfile_new(struct vfs *v, uint32_t flags, OWN struct file **ret);
/* Emits entries from the file's position, "." and ".." first. */
int dirfile_read(struct file *f, struct dir_emit *emit);
/* True if there is an entry at or after the file's position. */
bool dirfile_has_more(struct file *f);

#endif
