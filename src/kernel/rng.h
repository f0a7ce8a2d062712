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
};
void rng_init(struct rng *r, const struct host_ops *host, bool is_seeded,
              uint64_t seed);
void rng_fill(struct rng *r, void *buf, size_t len);

#endif
