/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "simd.h"

static uint32_t
ends(const byte *p, v128_t v)
{
    v128_t b = LOAD(p);

    return MASK(OR(EQ(b, SPLAT(0)), EQ(b, v)));
}

char *
__strchrnul(const char *s, int c)
{
    const byte *p = BLOCK_OF(s);
    v128_t v = SPLAT(c);
    uint32_t m = ends(p, v) & FROM(s);

    while (!m)
        m = ends(p += 16, v);
    return (char *)p + __builtin_ctz(m);
}

weak_alias(__strchrnul, strchrnul);
