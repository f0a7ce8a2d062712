/* Random bytes: those of the host, or xoshiro256** with a fixed seed.
 *
 * The seeded generator makes runs repeatable. It is not secret: a guest can
 * compute its future from its past. */
#include "kernel/rng.h"

#include <string.h>

/* Spreads the seed over the four words of state, as its authors recommend: a
 * state of few bits would take long to become random. */
static uint64_t
rng_splitmix(uint64_t *x)
{
    uint64_t z = (*x += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static uint64_t
rng_rotl(uint64_t x, int k)
{
    return (x << k) | (x >> (64 - k));
}

static uint64_t
rng_next(struct rng *r)
{
    uint64_t *s = r->state, result = rng_rotl(s[1] * 5, 7) * 9, t = s[1] << 17;

    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = rng_rotl(s[3], 45);
    return result;
}

void
rng_init(struct rng *r, const struct host_ops *host, bool is_seeded,
         uint64_t seed)
{
    r->host = host;
    r->is_seeded = is_seeded;
    r->left = 0;
    for (int i = 0; i < 4; i++)
        r->state[i] = rng_splitmix(&seed);
}

/* Most requests are for a few bytes: they share a call of the host. Bytes that
 * were given out are erased. */
static void
rng_fill_by_host(struct rng *r, uint8_t *p, size_t len)
{
    if (len > sizeof r->pool) {
        r->host->random(p, len);
        return;
    }
    if (len > r->left) {
        r->host->random(r->pool, sizeof r->pool);
        r->left = sizeof r->pool;
    }
    r->left -= len;
    memcpy(p, r->pool + r->left, len);
    memset(r->pool + r->left, 0, len);
}

void
rng_fill(struct rng *r, void *buf, size_t len)
{
    uint8_t *p = buf;

    if (!r->is_seeded) {
        rng_fill_by_host(r, p, len);
        return;
    }
    while (len) {
        uint64_t x = rng_next(r);
        size_t n = len < sizeof x ? len : sizeof x;
        memcpy(p, &x, n);
        p += n;
        len -= n;
    }
}
