/* Charging, and the life of inodes, for the files that implement trees. */
#ifndef TREE_TREE_IMPL_H
#define TREE_TREE_IMPL_H

#include "tree/tree.h"

/* Charges bytes (negative: releases them). -ENOSPC, which is recorded as a hit
 * of the quota. */
int tree_charge(struct tree *t, int64_t bytes);
/* Like tree_charge, without checking the quota. */
void tree_settle(struct tree *t, int64_t bytes);

/* Creates an inode without a name, free of charge. -ENOSPC: no number is left.
 * -ENOMEM. */
int tree_add_free(struct tree *t, const struct attr *a, int64_t now_ns,
                  struct inode **ret, uint64_t *ret_ino);
/* Like tree_add_free, charged. -ENOSPC: also the quota. */
int tree_add(struct tree *t, const struct attr *a, int64_t now_ns,
             struct inode **ret, uint64_t *ret_ino);
/* Changes the number of names, and the charge for it. -ENOSPC if it grows. */
int tree_set_nlink(struct tree *t, struct inode *i, uint32_t nlink);
/* Removes an inode and releases its charge. -ENOMEM, never after tree_unshare
 * for it. */
int tree_evict(struct tree *t, uint64_t ino);
/* Removes an owned inode without names now, or when it is released. */
void tree_forget(struct tree *t, uint64_t ino);
/* Replaces a block, or removes it (NULL). Times and size stay. -ENOSPC,
 * -ENOMEM. */
int tree_set_block(struct tree *t, struct inode *i, uint64_t index,
                   OWN struct chunk *c);
/* Updates the link counts after a name of i in d was removed: those of i and,
 * if i is a directory, of d. */
void tree_unname(struct tree *t, struct inode *d, struct inode *i, uint64_t ino,
                 int64_t now_ns);

#endif
