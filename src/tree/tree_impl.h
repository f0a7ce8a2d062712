/* What the files of a tree share: charging and the life of inodes. */
#ifndef TREE_TREE_IMPL_H
#define TREE_TREE_IMPL_H

#include "tree/tree.h"

/* Bytes more than before, or less. -ENOSPC, and the quota counts as hit. */
int tree_charge(struct tree *t, int64_t bytes);
/* The same without a look at the quota. */
void tree_settle(struct tree *t, int64_t bytes);

/* A new inode without a name, charged. -ENOSPC, -ENOMEM. */
int tree_add(struct tree *t, const struct attr *a, int64_t now_ns,
             struct inode **ret, uint64_t *ret_ino);
/* Changes the number of names, and what that costs. -ENOSPC for more. */
int tree_set_nlink(struct tree *t, struct inode *i, uint32_t nlink);
/* Removes an inode with all it was charged. -ENOMEM, never after tree_own
 * for it. */
int tree_evict(struct tree *t, uint64_t ino);
/* An owned inode without names goes now, or when it is released. */
void tree_forget(struct tree *t, uint64_t ino);
/* Puts a block in the place of what is there, or (NULL) removes it. Times and
 * size stay. -ENOSPC, -ENOMEM. */
int tree_set_block(struct tree *t, struct inode *i, uint64_t index,
                   OWN struct chunk *c);
/* A name of i in d is gone: one link less, of d too if i is a directory. */
void tree_unname(struct tree *t, struct inode *d, struct inode *i, uint64_t ino,
                 int64_t now_ns);

#endif
