/* Trees as records: what differs from a base, the root image or an empty tree,
 * that they were once cloned from. */
#ifndef TREE_TREE_RECORDS_H
#define TREE_TREE_RECORDS_H

#include "record/record.h"
#include "tree/tree.h"

/* Sends what makes the records of `last` those of `now`; the base itself has
 * none. Of one type: RECORD_INODE, RECORD_NAME, RECORD_ATTRS, RECORD_PLACE or
 * RECORD_BLOCK.
 * Places are only added, with those of the directories above, when an inode of
 * the base differs from it for the first time. The cost is that of what
 * differs; for the place of a file, that of the base. What the sink has said,
 * if it was not 0. */
int tree_records(const struct tree *base, const struct tree *last,
                 const struct tree *now, enum record_type type, uint32_t mount,
                 const struct record_sink *to);

/* --- back: in tree_draft.c */

/* A clone of its base, to which records are added: of inodes first, in the
 * order of their numbers. -EINVAL: no tree has such records; -ENOMEM. After an
 * error it can only be freed. */
struct tree_draft {
    const struct tree *base;
    struct tree tree;
    struct quota max;
    uint64_t last; /* inode */
};

/* -ENOMEM */
int tree_draft_init(struct tree_draft *d, const struct tree *base,
                    const struct quota *max);
void tree_draft_fini(struct tree_draft *d);
/* A record of an inode, its attributes, a name or a block, which record_check
 * has passed. */
int tree_draft_put(struct tree_draft *d, const struct record_key *k,
                   const void *value, size_t len);
/* After the last record: removes what has no name, and checks the whole. Then
 * the tree may be taken. -ENOSPC, and hit_* of the tree: the quota. */
int tree_draft_end(struct tree_draft *d);

#endif
