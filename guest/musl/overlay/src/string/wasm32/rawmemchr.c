/* SPDX-License-Identifier: MIT */
/* Not in musl. In an object of its own, because gnulib brings one along too. */
#include <string.h>
#include "simd.h"

void *rawmemchr(const void *, int);

void *
rawmemchr(const void *s, int c)
{
    const byte *p = BLOCK_OF(s);
    v128_t v = SPLAT(c);
    uint32_t m = MASK(EQ(LOAD(p), v)) & FROM(s);

    while (!m)
        m = MASK(EQ(LOAD(p += 16), v));
    return (void *)(p + __builtin_ctz(m));
}
