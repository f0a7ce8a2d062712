/* Directories: persistent maps from names to inode numbers.
 *
 * Each entry has a sequence number, larger than those of all earlier entries,
 * which is its readdir position. Names are found by linear hashing. After a
 * clone, a change copies O(log n). "." and ".." are not stored. */
#ifndef TREE_DIR_H
#define TREE_DIR_H

#include "tree/attr.h"
#include "tree/radix.h"

/* All zero: an empty directory. */
struct dir {
    struct radix order;   /* sequence number -> struct dir_entry */
    struct radix buckets; /* bucket number -> struct bucket */
    /* The next sequence number, and the first one that is not of the root
     * image. Numbers below it are never reused, because records refer to
     * them. */
    uint64_t next_seq, first_seq;
    uint64_t seed; /* of the hash that the buckets depend on */
    uint32_t n, n_buckets;
};

/* An entry. `order` owns it; a bucket borrows it. */
struct dir_entry {
    struct shared ref;
    uint64_t seq, ino;
    uint8_t type; /* DT_* */
    uint8_t len;
    char name[]; /* not NUL-terminated */
};

/* Moves everything that is not shared to the deferred free list g. */
void dir_defer_free(struct dir *d, struct free_list *g);
/* Makes *ret a clone, in O(1). Cannot fail. */
void dir_clone(const struct dir *d, struct dir *ret);

/* Returns the entry, valid until the next change, or NULL. */
const struct dir_entry *dir_find(const struct dir *d, struct name name);
/* Returns the first entry with a sequence number >= *seq, and sets *seq to it.
 */
const struct dir_entry *dir_next(const struct dir *d, uint64_t *seq);

/* Adds a name, which must not exist, as the last entry. `seed` is that of the
 * tree: a directory with another seed gets it first, which takes time
 * proportional to its entries. -ENOMEM. -ENOSPC: no sequence number is left
 * that a record could have. */
int dir_insert(struct dir *d, uint64_t seed, struct name name, uint64_t ino,
               uint8_t type);
/* Like dir_insert, with a given sequence number. -EEXIST: it is in use. */
int dir_insert_at(struct dir *d, uint64_t seed, struct name name, uint64_t ino,
                  uint8_t type, uint64_t seq);
static inline uint64_t
dir_last_seq(const struct dir *d)
{
    return d->next_seq - 1;
}

/* Returns an entry for a change: its ino and type may be written, and
 * dir_remove cannot fail on it, until the next clone. -ENOENT, -ENOMEM. */
int dir_unshare(struct dir *d, struct name name, struct dir_entry **ret);
/* Removes an entry that dir_unshare has returned. Cannot fail. */
void dir_remove(struct dir *d, struct dir_entry *owned);

#endif
