/* BLAKE2b (RFC 7693) with a 32-byte result and no key.
 *
 * The hash names content: root images, programs and large values of the store
 * are found by it. A change of the result would orphan what is stored under old
 * names. */
#ifndef BASE_BLAKE2B_H
#define BASE_BLAKE2B_H

#include <stddef.h>
#include <stdint.h>

#define BLAKE2B_BYTES 32

/* A hash in progress. Objects of this type may be copied; they own no
 * memory. */
struct blake2b {
    uint64_t h[8], len;
    uint8_t block[128];
    /* Bytes in `block`. A full block stays here until more bytes arrive. */
    size_t fill;
};

/* Begins a hash. blake2b_add may be called any number of times before
 * blake2b_end; the cuts between the pieces do not matter. */
void blake2b_init(struct blake2b *b);
void blake2b_add(struct blake2b *b, const void *p, size_t n);
/* Writes the hash. The object must be initialised again before its next use. */
void blake2b_end(struct blake2b *b, uint8_t ret_hash[BLAKE2B_BYTES]);
/* Writes the hash of `n` bytes. */
void blake2b_hash(const void *p, size_t n, uint8_t ret_hash[BLAKE2B_BYTES]);

#endif
