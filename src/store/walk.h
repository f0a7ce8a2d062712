/* Walks the records that are visible from a layer, in the order of keys. */
#ifndef STORE_WALK_H
#define STORE_WALK_H

#include "record/record.h"
#include "store/store_impl.h"

enum { ROOT_INODE = 1 };

struct walk_layer;

struct record_walk {
    struct store *s;
    struct walk_layer *layers; /* the first one wins */
    size_t n;
    /* the record: valid until the next step */
    bool is_damaged; /* not as it was stored */
    const uint8_t *key;
    size_t key_len;
    uint64_t len;      /* of the value, */
    const void *value; /* which is here, */
    int64_t chunk;     /* or in a chunk */
    int64_t sum;       /* as stored */
};

/* Starts after this key. */
int walk_init(struct record_walk *w, struct store *s, const struct chain *c,
              const void *after, size_t after_len);
/* Accepts a walk that is all zero. */
void walk_fini(struct record_walk *w);
/* Returns 1 and a record, or 0. */
int walk_next(struct record_walk *w);

/* Returns the path of an inode of a session, as far as the records contain it,
 * or "". */
int walk_path(struct store *s, const struct chain *c, uint32_t mount,
              uint64_t inode, char *ret, size_t size);
/* Finds an inode in the image. Returns 1 with its directory in *inode, and
 * prepends the name to `path` (unless NULL). Returns 2 if its position is
 * unknown, and 0 if it is not an inode of the image. */
int walk_place(struct store *s, const struct chain *c, uint32_t mount,
               uint64_t *inode, char *path, size_t size);
/* Returns -EBADMSG with a text that names the object of `key`. */
int walk_blame(struct store *s, const struct chain *c, const char *session,
               const void *key, size_t key_len);

#endif
