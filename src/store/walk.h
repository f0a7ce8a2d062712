/* Walks the records that can be seen from a layer, in the order of keys. */
#ifndef STORE_WALK_H
#define STORE_WALK_H

#include "record/record.h"
#include "store/store_impl.h"

enum { ROOT_INODE = 1 };

struct walk_layer;

struct walk {
    struct store *s;
    struct walk_layer *layers; /* the first one wins */
    size_t n;
    /* the record: valid until the next step */
    bool is_damaged; /* it is not what was stored */
    const uint8_t *key;
    size_t key_len;
    uint64_t len;      /* of the value, */
    const void *value; /* which is here, */
    int64_t chunk;     /* or in a chunk */
    int64_t sum;       /* as stored */
};

/* Keys above this one. */
int walk_init(struct walk *w, struct store *s, const struct chain *c,
              const void *after, size_t after_len);
/* Fine for one that is all zero. */
void walk_fini(struct walk *w);
/* 1 and a record, or 0. */
int walk_next(struct walk *w);

/* Says where an inode of a session is: its path, or as much as the records
 * know of it. The result is "" if they know nothing. */
int walk_path(struct store *s, const struct chain *c, uint32_t mount,
              uint64_t inode, char *ret, size_t size);
/* Where the image has an inode: 1, the directory in *inode, and (`path` not
 * NULL) the name put before `path`; 2: it has it, nobody knows where; 0: it is
 * not the image's. */
int walk_place(struct store *s, const struct chain *c, uint32_t mount,
               uint64_t *inode, char *path, size_t size);
/* -EBADMSG again, with a text that names what `key` belongs to. */
int walk_blame(struct store *s, const struct chain *c, const char *session,
               const void *key, size_t key_len);

#endif
