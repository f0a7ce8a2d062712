/* Directories: persistent maps from names to inode numbers.
 *
 * Each entry has a sequence number, larger than those of the entries that
 * were there before it, which is its readdir position. Names are found by
 * linear hashing. After a clone, a change copies O(log n). "." and ".." are not
 * stored. */
#ifndef TREE_DIR_H
#define TREE_DIR_H

#include "tree/attr.h"
#include "tree/radix.h"

/* All zero: an empty directory. */
struct dir {
    struct radix order;           /* sequence number -> struct dir_entry */
    struct radix buckets;         /* bucket number -> struct bucket */
    uint64_t next_seq, first_seq; /* before first_seq, none is used again */
    uint32_t n, n_buckets;
};

struct dir_entry {
    struct shared ref;
    uint32_t hash;
    uint64_t seq, ino;
    uint8_t type; /* DT_* */
    uint8_t len;
    char name[]; /* not NUL-terminated */
};

/* What nobody else shares goes to g. */
void dir_bury(struct dir *d, struct grave *g);
void dir_clone(const struct dir *d, struct dir *ret);

/* Borrowed until the next change, or NULL. */
const struct dir_entry *dir_find(const struct dir *d, struct name name);
/* The first entry with a sequence number >= *seq, which is set to it. */
const struct dir_entry *dir_next(const struct dir *d, uint64_t *seq);

/* The name must not be there; it becomes the last. -ENOMEM; -ENOSPC: there is
 * no number left that a record could have. */
int dir_insert(struct dir *d, struct name name, uint64_t ino, uint8_t type);
/* The same with a given sequence number. -EEXIST: it is taken. */
int dir_insert_at(struct dir *d, struct name name, uint64_t ino, uint8_t type,
                  uint64_t seq);
static inline uint64_t
dir_last_seq(const struct dir *d)
{
    return d->next_seq - 1;
}

/* An entry to be changed or removed: its ino and type may be written, and
 * dir_remove cannot fail on it, until the next clone. -ENOENT, -ENOMEM. */
int dir_own(struct dir *d, struct name name, struct dir_entry **ret);
void dir_remove(struct dir *d, struct dir_entry *owned);

#endif
