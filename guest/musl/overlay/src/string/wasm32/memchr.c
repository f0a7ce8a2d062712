/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "simd.h"

/* Four blocks at a time while 64 bytes are left; *pp is moved on. They lie
 * behind what is looked for at times, so they must not reach beyond memory. */
static const void *
scan64(const byte **pp, const byte *end, v128_t v)
{
    const byte *p;

    for (p = *pp; !((uintptr_t)p & 63) && p < end && end - p >= 64; p += 64) {
        v128_t a = EQ(LOAD(p), v), b = EQ(LOAD(p + 16), v);
        v128_t c = EQ(LOAD(p + 32), v), d = EQ(LOAD(p + 48), v);
        uint64_t m;

        if (!wasm_v128_any_true(OR(OR(a, b), OR(c, d))))
            continue;
        m = MASK(a) | MASK(b) << 16 | (uint64_t)(MASK(c) | MASK(d) << 16) << 32;
        return p + __builtin_ctzll(m);
    }
    *pp = p;
    return NULL;
}

void *
memchr(const void *s, int c, size_t n)
{
    const byte *p = BLOCK_OF(s), *end = (const byte *)s + n;
    v128_t v = SPLAT(c);
    const void *found;
    uint32_t m;

    if (!n)
        return NULL;
    if (end < (const byte *)s) /* n may be "no limit" */
        end = (const byte *)UINTPTR_MAX;
    for (m = MASK(EQ(LOAD(p), v)) & FROM(s); !m; m = MASK(EQ(LOAD(p), v))) {
        p += 16;
        found = scan64(&p, end, v);
        if (found)
            return (void *)found;
        if (p >= end)
            return NULL;
    }
    p += __builtin_ctz(m);
    return p < end ? (void *)p : NULL;
}
