/* Trees as records: the differences from a base that the tree was once cloned
 * from, which is the root image or an empty tree. */
#ifndef TREE_TREE_RECORDS_H
#define TREE_TREE_RECORDS_H

#include "record/record.h"
#include "tree/tree.h"

/* Sends the changes from the records of `last` to those of `now`, of one type:
 * RECORD_INODE, RECORD_NAME, RECORD_ATTRS, RECORD_PLACE or RECORD_BLOCK. The
 * base itself has no records.
 *
 * Places are only added, with those of the directories above, when an inode of
 * the base differs for the first time. Takes time proportional to the
 * differences; for the place of a file, to the size of the base. Returns the
 * result of the sink if it is not 0. */
int tree_records(const struct tree *base, const struct tree *last,
                 const struct tree *now, enum record_type type, uint32_t mount,
                 const struct record_sink *to);

/* --- tree_draft.c: from records to a tree */

/* A clone of its base, to which records are added: first inodes, in the order
 * of their numbers. -EINVAL: no tree has such records. -ENOMEM. After an error
 * it can only be freed. */
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
/* Adds a record of an inode, its attributes, a name or a block, which must have
 * passed record_check. */
int tree_draft_put(struct tree_draft *d, const struct record_key *k,
                   const void *value, size_t len);
/* After the last record: removes inodes without a name, and checks the result.
 * Then the tree may be used. -ENOSPC: the quota, see hit_* of the tree. */
int tree_draft_end(struct tree_draft *d);

#endif
