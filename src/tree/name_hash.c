/* SipHash-1-3, by Aumasson and Bernstein.
 *
 * Problem: guests choose the names in a directory. With a hash that they can
 * compute, they create thousands of names for one bucket, and each use of such
 * a name compares it with all the others.
 *
 * Idea: a hash with a secret key. Mixing a seed into a fast hash is not enough:
 * for most of these, names are known that collide with any seed. SipHash was
 * designed for hash tables whose keys an attacker chooses. It mixes each word
 * of the name into four words of state, which begin with the key: one round per
 * word, and three at the end. */
#include "tree/name_hash.h"

#include <string.h>

enum { ROUNDS_AT_END = 3 };

struct sip {
    uint64_t a, b, c, d;
};

static inline uint64_t
name_hash_sip_rotate(uint64_t x, int n)
{
    return x << n | x >> (64 - n);
}

static inline void
sip_round(struct sip *s)
{
    s->a += s->b;
    s->b = name_hash_sip_rotate(s->b, 13) ^ s->a;
    s->a = name_hash_sip_rotate(s->a, 32);
    s->c += s->d;
    s->d = name_hash_sip_rotate(s->d, 16) ^ s->c;
    s->a += s->d;
    s->d = name_hash_sip_rotate(s->d, 21) ^ s->a;
    s->c += s->b;
    s->b = name_hash_sip_rotate(s->b, 17) ^ s->c;
    s->c = name_hash_sip_rotate(s->c, 32);
}

static inline void
sip_add(struct sip *s, uint64_t word)
{
    s->d ^= word;
    sip_round(s);
    s->a ^= word;
}

/* Reads fewer than 8 bytes. Two reads that overlap, or three bytes of which
 * some may be the same, are faster than a copy of variable length. */
static inline uint64_t
name_hash_sip_tail(const char *p, size_t n)
{
    const uint8_t *byte = (const uint8_t *)p;
    uint32_t first, last;

    if (n >= sizeof first) {
        memcpy(&first, p, sizeof first);
        memcpy(&last, p + n - sizeof last, sizeof last);
        return first | (uint64_t)last << 8 * (n - sizeof last);
    }
    if (!n)
        return 0;
    return byte[0] | (uint64_t)byte[n / 2] << 8 * (n / 2) |
           (uint64_t)byte[n - 1] << 8 * (n - 1);
}

uint32_t
name_hash(uint64_t seed, struct name name)
{
    uint64_t other = name_hash_sip_rotate(seed, 32), word;
    struct sip s = {
        seed ^ UINT64_C(0x736f6d6570736575),
        other ^ UINT64_C(0x646f72616e646f6d),
        seed ^ UINT64_C(0x6c7967656e657261),
        other ^ UINT64_C(0x7465646279746573),
    };
    size_t i = 0;

    for (; i + sizeof word <= name.len; i += sizeof word) {
        memcpy(&word, name.s + i, sizeof word);
        sip_add(&s, word);
    }
    word = name_hash_sip_tail(name.s + i, name.len - i);
    sip_add(&s, word | (uint64_t)name.len << 56);
    s.c ^= 0xff;
    for (int n = 0; n < ROUNDS_AT_END; n++)
        sip_round(&s);
    return (uint32_t)(s.a ^ s.b ^ s.c ^ s.d);
}
