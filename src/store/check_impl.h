/* The check of one session, for the files that find and repair damage. */
#ifndef STORE_CHECK_IMPL_H
#define STORE_CHECK_IMPL_H

#include "base/buf.h"
#include "store/check.h"
#include "store/walk.h"

/* Inodes that have a record, in the order of their keys. */
struct inodes {
    struct inode {
        uint64_t id; /* with its mount, as in keys */
        struct record_inode r;
        bool is_named;
    } * p;
    size_t n;
};

struct session_check {
    struct check *c;
    const char *id;
    struct row found;
    struct chain chain;
    struct inodes inodes;
    struct buf frames; /* the repair */
    struct layer seen; /* amounts and digest of what was read */
    int n_before;      /* findings of others */
    uint64_t emptied;  /* the last inode whose contents were removed */
    bool is_shell_damaged;
    bool has_places; /* so inodes without one are not the image's */
};

/* The number of an inode with its mount. */
uint64_t check_id_of(const struct record_key *k);
int inodes_add(struct inodes *l, uint64_t id, const struct record_inode *r);
/* NULL: it has no record, but the image may have it. */
const struct record_inode *check_inode_of(const struct session_check *t,
                                          uint64_t id);

/* --- check_damage.c */

/* Appends a record to the repair. */
void check_add_frame(struct session_check *t, enum record_op op,
                     const void *key, size_t key_len, const void *value,
                     size_t len);
/* Reports a record and removes it. */
int check_lose_record(struct session_check *t, const struct walk *w,
                      const char *path, const char *what);
/* Reports and removes a record that is malformed. */
int check_lose_formless(struct session_check *t, const struct walk *w);
/* Reports a record whose bytes are not as they were written, and repairs what
 * depends on it. */
int check_damaged(struct session_check *t, const struct walk *w,
                  const struct record_key *k);

#endif
