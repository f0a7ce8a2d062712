/* SHA-256 of 128 KiB. */
#include "kernels.h"

enum { BYTES = 128 << 10 };

static uint8_t data[BYTES];
static uint32_t k[64];

/* The first 32 bits of the fractions of the cube roots of the first primes. */
static uint32_t
root_bits(uint32_t prime)
{
    /* By halving, in units of 1/2^32. */
    unsigned __int128 low = 0, high = (unsigned __int128)7 << 32;
    const unsigned __int128 wanted = (unsigned __int128)prime << 96;

    while (high - low > 1) {
        unsigned __int128 mid = (low + high) / 2;
        if (mid * mid * mid <= wanted)
            low = mid;
        else
            high = mid;
    }
    return (uint32_t)low;
}

static void
fill(void)
{
    uint32_t seed = 1, n = 0;

    for (uint32_t p = 2; n < 64; p++) {
        uint32_t d = 2;
        while (d * d <= p && p % d)
            d++;
        if (d * d > p)
            k[n++] = root_bits(p);
    }
    for (int i = 0; i < BYTES; i++)
        data[i] = (uint8_t)next_random(&seed);
}

static uint32_t
ror(uint32_t x, int n)
{
    return x >> n | x << (32 - n);
}

static void
rounds(uint32_t state[8], const uint32_t w[64])
{
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4], f = state[5], g = state[6], h = state[7];

    for (int i = 0; i < 64; i++) {
        uint32_t t = h + (ror(e, 6) ^ ror(e, 11) ^ ror(e, 25)) +
                     ((e & f) ^ (~e & g)) + w[i];
        uint32_t u = (ror(a, 2) ^ ror(a, 13) ^ ror(a, 22)) +
                     ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t;
        d = c, c = b, b = a, a = t + u;
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
    state[4] += e, state[5] += f, state[6] += g, state[7] += h;
}

static void
block(uint32_t h[8], const uint8_t *p)
{
    uint32_t w[64];

    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 |
               (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (ror(a, 7) ^ ror(a, 18) ^ a >> 3) +
               (ror(b, 17) ^ ror(b, 19) ^ b >> 10);
    }
    for (int i = 0; i < 64; i++)
        w[i] += k[i];
    rounds(h, w);
}

uint32_t
kernel_sha256(void)
{
    uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

    if (!k[0])
        fill();
    for (int i = 0; i < BYTES; i += 64)
        block(h, data + i);
    return h[0] ^ h[7];
}
