/* Replaces the tree of a file system in memory that is in use. Mounts inside it
 * stay. */
#ifndef KERNEL_VFS_EXCHANGE_H
#define KERNEL_VFS_EXCHANGE_H

#include "tree/tree.h"

struct mount;

/* A replacement that is prepared and not committed yet. */
struct exchange {
    struct mount *top; /* where the file system is mounted */
    struct tree now;
    struct point *points;
    size_t n;
    const struct mount *culprit; /* after -ENOTDIR */
};

/* Creates a clone of `from`, with the directories that mounts need; missing
 * ones are created. -ENOTDIR: a file is in the way. -ENOMEM. After an error the
 * file system has not changed, and *ret needs no exchange_fini. */
int exchange_prepare(struct mount *top, const struct tree *from,
                     struct exchange *ret);
/* Installs the clone. No process may use the file system. */
void exchange_commit(struct exchange *x);
/* Accepts one that was committed, or is all zero. */
void exchange_fini(struct exchange *x);

#endif
