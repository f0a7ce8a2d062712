/* The structure that tmpfs.c and tmpfs_file.c share. */
#ifndef KERNEL_VFS_TMPFS_IMPL_H
#define KERNEL_VFS_TMPFS_IMPL_H

#include "kernel/vfs/tmpfs.h"

struct tmpfs {
    struct fs fs;
    struct tree tree;
};

static inline struct tmpfs *
tmpfs_of(struct fs *fs)
{
    return (struct tmpfs *)fs;
}

int64_t tmpfs_now(const struct tmpfs *m);
/* Returns r, and reports that a quota was hit. */
int64_t tmpfs_report_full(struct tmpfs *m, int64_t r);
/* Sets the size of a file, also in its mappings. */
int tmpfs_truncate(struct tmpfs *m, uint64_t ino, uint64_t size);
int tmpfs_open(struct fs *fs, const struct caller *as, uint64_t ino,
               uint32_t flags, OWN struct file **ret);

#endif
