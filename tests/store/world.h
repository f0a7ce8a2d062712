/* Tests of the store: a store in a folder of its own, records, and a model of
 * the contents of sessions. */
#ifndef WORLD_H
#define WORLD_H

#include "base/buf.h"
#include "record/record.h"
#include "store/store.h"

struct world {
    char dir[64];
    struct store_options options;
    struct store *s;
};

void world_init(struct world *w, const struct store_options *o);
void world_fini(struct world *w);
void world_reopen(struct world *w);
/* Calls store_tidy until it has nothing left to do. Returns the number of
 * steps. */
int world_tidy(struct world *w);

/* Append frames for a commit. */
void add_put(struct buf *b, const struct record_key *k, const void *value,
             size_t len);
void add_delete(struct buf *b, const struct record_key *k);
struct record_key inode_key(uint64_t inode);
struct record_key name_key(uint64_t dir, const char *name);
struct record_key block_key(uint64_t inode, uint64_t block);
void add_inode(struct buf *b, uint64_t inode, uint32_t mode, uint64_t size);
void add_name(struct buf *b, uint64_t dir, const char *name, uint64_t inode);
void add_block(struct buf *b, uint64_t inode, uint64_t block, unsigned seed,
               size_t len);
/* Appends a file with one block in the directory `dir`. */
void add_file(struct buf *b, uint64_t dir, const char *name, uint64_t inode,
              unsigned seed, size_t len);

int new_session(struct store *s, const char *id);
int end_session(struct store *s, const char *id);
int fork_session(struct store *s, const char *from, const char *to);
/* Commit the frames, all at once or in parts, and empty the buffer. */
int commit_frames(struct store *s, const char *id, struct buf *b);
int commit_part(struct store *s, const char *id, struct buf *b, bool is_first,
                bool is_last);
/* Reads a session with store_read, in pages of `page` bytes, and returns it as
 * frames. */
int read_frames(struct store *s, const char *id, size_t page, struct buf *ret);
/* Returns the number of records of a session; -1 if it cannot be read. */
long count_records(struct store *s, const char *id);
/* Runs a statement of SQL on a store that is closed, to damage it. */
void sql_on(const struct world *w, const char *text);
long sql_count(const struct world *w, const char *query);

/* --- a model: what a session has, over a fixed set of keys */

enum { MODEL_KEYS = 60 };

struct model_session {
    char id[16];                /* "": there is none */
    uint32_t value[MODEL_KEYS]; /* 0: not there */
};

/* Appends the frame that gives key `k` this value, or removes it (0). */
void model_add(struct buf *b, unsigned k, uint32_t value);
/* Returns true if the store has exactly the contents of the model. */
bool model_is(struct store *s, const struct model_session *m);

static inline uint32_t
next_random(uint32_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 17;
    return *state ^= *state << 5;
}

#endif
