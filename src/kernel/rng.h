#ifndef KERNEL_RNG_H
#define KERNEL_RNG_H

#include "base/host.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Random bytes of one sandbox: the host's, or a generator with a fixed seed. */
struct rng {
    const struct host_ops *host;
    bool is_seeded;
    uint64_t state[4];
    uint8_t pool[32]; /* bytes of the host, unless is_seeded */
    size_t left;      /* how many of them are left */
};
/* Initialises the generator; `seed` is used only if is_seeded. */
void rng_init(struct rng *r, const struct host_ops *host, bool is_seeded,
              uint64_t seed);
/* Fills buf. A seeded generator uses whole words, so its bytes depend on how
 * the requests are cut. */
void rng_fill(struct rng *r, void *buf, size_t len);

#endif
