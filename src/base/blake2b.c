/* BLAKE2b, as RFC 7693 describes it.
 *
 * The message is cut into blocks of 128 bytes, and each block is mixed into
 * eight words of state. The last block is marked, so that nobody can continue
 * the hash of a message without knowing the message. Which block is the last
 * one is only known at the end: a full block is kept back until more bytes
 * arrive.
 *
 * The code is portable and needs no alignment: words are put together from
 * bytes. */
#include "base/blake2b.h"

#include <string.h>

static const uint64_t iv[8] = {
    UINT64_C(0x6a09e667f3bcc908), UINT64_C(0xbb67ae8584caa73b),
    UINT64_C(0x3c6ef372fe94f82b), UINT64_C(0xa54ff53a5f1d36f1),
    UINT64_C(0x510e527fade682d1), UINT64_C(0x9b05688c2b3e6c1f),
    UINT64_C(0x1f83d9abfb41bd6b), UINT64_C(0x5be0cd19137e2179),
};

/* The order in which each round uses the words of a block. Rounds 10 and 11 use
 * the first two rows again. */
static const uint8_t order[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

static uint64_t
blake2b_rotr(uint64_t x, unsigned n)
{
    return x >> n | x << (64 - n);
}

/* The function G of the RFC. Additions, rotations and exclusive ors are all
 * that BLAKE2 does, so the time does not depend on the data. */
static inline void
blake2b_mix(uint64_t *a, uint64_t *b, uint64_t *c, uint64_t *d, uint64_t x,
            uint64_t y)
{
    *a += *b + x;
    *d = blake2b_rotr(*d ^ *a, 32);
    *c += *d;
    *b = blake2b_rotr(*b ^ *c, 24);
    *a += *b + y;
    *d = blake2b_rotr(*d ^ *a, 16);
    *c += *d;
    *b = blake2b_rotr(*b ^ *c, 63);
}

/* Mixes the columns of the 4 x 4 words, then their diagonals. */
static inline void
blake2b_round_of(uint64_t v[16], const uint64_t m[16], const uint8_t s[16])
{
    for (size_t i = 0; i < 4; i++)
        blake2b_mix(&v[i], &v[i + 4], &v[i + 8], &v[i + 12], m[s[2 * i]],
                    m[s[2 * i + 1]]);
    for (size_t i = 0; i < 4; i++)
        blake2b_mix(&v[i], &v[(i + 1) % 4 + 4], &v[(i + 2) % 4 + 8],
                    &v[(i + 3) % 4 + 12], m[s[8 + 2 * i]], m[s[9 + 2 * i]]);
}

/* Mixes one block into the state. `last` is all ones for the last block, else
 * 0. b->len counts the bytes up to the end of this block. */
static void
blake2b_compress(struct blake2b *b, const uint8_t block[128], uint64_t last)
{
    uint64_t v[16], m[16];

    for (int i = 0; i < 16; i++) {
        m[i] = 0;
        for (int k = 7; k >= 0; k--)
            m[i] = m[i] << 8 | block[8 * i + k];
    }
    memcpy(v, b->h, sizeof b->h);
    memcpy(v + 8, iv, sizeof iv);
    v[12] ^= b->len;
    v[14] ^= last;
    for (int r = 0; r < 12; r++)
        blake2b_round_of(v, m, order[r % 10]);
    for (int i = 0; i < 8; i++)
        b->h[i] ^= v[i] ^ v[i + 8];
}

void
blake2b_init(struct blake2b *b)
{
    *b = (struct blake2b){0};
    memcpy(b->h, iv, sizeof iv);
    b->h[0] ^= 0x01010000 ^ BLAKE2B_BYTES;
}

void
blake2b_add(struct blake2b *b, const void *p, size_t n)
{
    const uint8_t *at = p;

    while (n) {
        if (b->fill == sizeof b->block) {
            b->len += b->fill;
            blake2b_compress(b, b->block, 0);
            b->fill = 0;
        }
        size_t part = sizeof b->block - b->fill;
        part = part < n ? part : n;
        memcpy(b->block + b->fill, at, part);
        b->fill += part;
        at += part;
        n -= part;
    }
}

void
blake2b_end(struct blake2b *b, uint8_t ret_hash[BLAKE2B_BYTES])
{
    b->len += b->fill;
    memset(b->block + b->fill, 0, sizeof b->block - b->fill);
    blake2b_compress(b, b->block, UINT64_MAX);
    for (size_t i = 0; i < BLAKE2B_BYTES; i++)
        ret_hash[i] = (uint8_t)(b->h[i / 8] >> 8 * (i % 8));
}

void
blake2b_hash(const void *p, size_t n, uint8_t ret_hash[BLAKE2B_BYTES])
{
    struct blake2b b;

    blake2b_init(&b);
    blake2b_add(&b, p, n);
    blake2b_end(&b, ret_hash);
}
