/* The state of the check of one session, shared by check.c (finds damage) and
 * check_damage.c (decides about its consequences).
 *
 * Records are visited in the order of their keys. Inodes sort before names and
 * blocks, so all inodes are known when the first record that refers to one is
 * visited. */
#ifndef STORE_CHECK_IMPL_H
#define STORE_CHECK_IMPL_H

#include "base/buf.h"
#include "store/check.h"
#include "store/walk.h"

/* Inodes that have a record, in the order of their keys. */
struct inodes {
    struct check_inode {
        uint64_t id; /* with its mount, as in keys */
        struct record_inode r;
        bool is_named;
    } * p;
    size_t n;
};

/* Lives for one call of check_session, which frees its members. */
struct session_check {
    struct check *c;
    const char *id;
    struct session_row found;
    struct chain chain;
    struct inodes inodes;
    /* Frames that repair the session, committed at the end of the check. */
    struct buf frames; /* the repair */
    /* Amounts and digest of all records that were read, to compare with those
     * that the layer claims. */
    struct layer seen; /* amounts and digest of what was read */
    /* Findings of sessions that were checked before this one. */
    int n_before;     /* findings of others */
    uint64_t emptied; /* the last inode whose contents were removed */
    /* Set once, because many damaged pages are one finding. */
    bool is_shell_damaged;
    bool has_places; /* so inodes without one are not the image's */
};

/* Returns the number of an inode, with its mount in the upper 16 bits. */
uint64_t check_id_of(const struct record_key *k);
/* Appends an inode; callers add them in the order of their ids. -ENOMEM. */
int check_inodes_add(struct inodes *l, uint64_t id,
                     const struct record_inode *r);
/* Returns the record of an inode, or NULL if the session has none. The image
 * may still contain the inode. */
const struct record_inode *check_inode_of(const struct session_check *t,
                                          uint64_t id);

/* --- check_damage.c */

/* Appends a record to the repair. */
void check_add_frame(struct session_check *t, enum record_op op,
                     const void *key, size_t key_len, const void *value,
                     size_t len);
/* Reports a record and removes it. */
int check_lose_record(struct session_check *t, const struct record_walk *w,
                      const char *path, const char *what);
/* Reports a record whose key is malformed, and removes it. */
int check_lose_formless(struct session_check *t, const struct record_walk *w);
/* Reports a record whose bytes are not as they were written, and repairs what
 * depends on it. */
int check_damaged(struct session_check *t, const struct record_walk *w,
                  const struct record_key *k);

#endif
