/* BLAKE2b (RFC 7693) with a 32-byte result and no key. Names content. */
#ifndef BASE_BLAKE2B_H
#define BASE_BLAKE2B_H

#include <stddef.h>
#include <stdint.h>

#define BLAKE2B_BYTES 32

struct blake2b {
    uint64_t h[8], len;
    uint8_t block[128];
    size_t fill;
};

void blake2b_init(struct blake2b *b);
void blake2b_add(struct blake2b *b, const void *p, size_t n);
void blake2b_end(struct blake2b *b, uint8_t ret_hash[BLAKE2B_BYTES]);

#endif
