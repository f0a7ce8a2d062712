/* Chunks: the reference-counted 4 KiB blocks that file contents consist of.
 *
 * A missing chunk (NULL) is a hole. A chunk stores its first `cap` bytes and
 * reads as zeros after them, so that small files cost little. It may point
 * into foreign memory (the mapped root image), which must outlive it and is
 * copied before it is written. */
#ifndef TREE_CHUNK_H
#define TREE_CHUNK_H

#include "base/own.h"
#include "tree/shared.h"

#include <stddef.h>

#define CHUNK_BITS  12u
#define CHUNK_BYTES (1u << CHUNK_BITS)

/* A block of content. The tree that holds the only reference may change it. */
struct chunk {
    struct shared ref;
    /* Bytes stored; 0: allocated, but never written, and a hole for
     * SEEK_HOLE. */
    uint16_t cap;
    bool is_uncharged; /* content of the root image: not charged to the quota */
    bool is_foreign;   /* data points into memory that the chunk does not own */
    const uint8_t *data;
    uint8_t bytes[]; /* where data points otherwise */
};

/* Returns a chunk of `cap` zero bytes, or NULL without memory. */
struct chunk *chunk_new(size_t cap);
/* Returns a chunk over `len` bytes of foreign memory, or NULL without memory.
 */
struct chunk *chunk_new_foreign(const void *data, size_t len);
/* Releases a reference; NULL is fine. */
void chunk_put(OWN struct chunk *c);

/* off + len <= CHUNK_BYTES in all these functions. c may be NULL, a hole. */
void chunk_read(const struct chunk *c, size_t off, void *buf, size_t len);
/* Writes to the chunk at *at, which is created or copied as needed. `cap` is
 * the minimum size of a new chunk. The result is not is_uncharged. -ENOMEM. */
int chunk_write(struct chunk **at, size_t off, const void *buf, size_t len,
                size_t cap);
/* Makes a range of an existing chunk read as zeros. If the chunk ends in the
 * range, its memory shrinks. Foreign memory is cut short if that is enough,
 * otherwise copied; then the result is not is_uncharged. -ENOMEM. */
int chunk_zero(struct chunk **at, size_t off, size_t len);
/* True if chunk_zero would turn a chunk that is_uncharged into one that is not.
 */
bool chunk_zero_costs(const struct chunk *c, size_t off, size_t len);

#endif
