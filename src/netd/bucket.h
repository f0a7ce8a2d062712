/* A rate limit: a bucket of tokens that fills up with time. */
#ifndef NETD_BUCKET_H
#define NETD_BUCKET_H

#include "base/time.h"

#include <stdbool.h>
#include <stdint.h>

/* Holds twice the tokens of one second. */
struct bucket {
    uint32_t per_s;
    int64_t tokens_ns; /* a token is NS_PER_S / per_s */
    int64_t last_ns;
};

static inline void
bucket_init(struct bucket *b, uint32_t per_s, int64_t now_ns)
{
    *b = (struct bucket){per_s, 2 * NS_PER_S, now_ns};
}

/* Takes one token; false: there is none. */
static inline bool
bucket_take(struct bucket *b, int64_t now_ns)
{
    int64_t cost_ns = NS_PER_S / b->per_s;

    b->tokens_ns += now_ns - b->last_ns;
    b->last_ns = now_ns;
    if (b->tokens_ns > 2 * NS_PER_S)
        b->tokens_ns = 2 * NS_PER_S;
    if (b->tokens_ns < cost_ns)
        return false;
    b->tokens_ns -= cost_ns;
    return true;
}

#endif
