/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "simd.h"

size_t
strlen(const char *s)
{
    const byte *p = BLOCK_OF(s);
    v128_t zero = SPLAT(0);
    uint32_t m = MASK(EQ(LOAD(p), zero)) & FROM(s);

    while (!m)
        m = MASK(EQ(LOAD(p += 16), zero));
    return (size_t)(p + __builtin_ctz(m) - (const byte *)s);
}
