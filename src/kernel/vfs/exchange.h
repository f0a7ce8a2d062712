/* Another tree for a file system in memory that is in use: where others are
 * mounted in it, they stay. */
#ifndef KERNEL_VFS_EXCHANGE_H
#define KERNEL_VFS_EXCHANGE_H

#include "tree/tree.h"

struct kernel;
struct mount;

struct exchange {
    struct mount *top; /* where the file system is mounted */
    struct tree now;
    struct point *points;
    size_t n;
    const struct mount *culprit; /* after -ENOTDIR */
};

/* A clone of `from`, with the directories that mounts are on, made where they
 * are missing. -ENOTDIR: there is something else; -ENOMEM. Nothing of the
 * file system has changed, and *ret needs no exchange_fini then. */
int exchange_prepare(struct kernel *k, struct mount *top,
                     const struct tree *from, struct exchange *ret);
/* No process may use the file system. */
void exchange_commit(struct exchange *x);
/* Also of one that was committed, or is all zero. */
void exchange_fini(struct exchange *x);

#endif
