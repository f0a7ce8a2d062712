/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "simd.h"

void *
__memrchr(const void *s, int c, size_t n)
{
    const byte *begin = s, *last = begin + n - 1, *p = BLOCK_OF(last);
    v128_t v = SPLAT(c);
    uint32_t m;

    if (!n)
        return NULL;
    m = MASK(EQ(LOAD(p), v)) & 0xffffu >> (15 - ((uintptr_t)last & 15));
    while (!m) {
        if (p <= begin)
            return NULL;
        p -= 16;
        m = MASK(EQ(LOAD(p), v));
    }
    p += 31 - __builtin_clz(m);
    return p >= begin ? (void *)p : NULL;
}

weak_alias(__memrchr, memrchr);
