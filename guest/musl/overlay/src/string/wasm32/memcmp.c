/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "simd.h"

static uint64_t
big64(const byte *p)
{
    uint64_t x;

    __builtin_memcpy(&x, p, sizeof x);
    return __builtin_bswap64(x);
}

static uint32_t
big32(const byte *p)
{
    uint32_t x;

    __builtin_memcpy(&x, p, sizeof x);
    return __builtin_bswap32(x);
}

static int
compare64(const byte *a, const byte *b)
{
    uint64_t x = big64(a), y = big64(b);

    return (x > y) - (x < y);
}

static int
compare32(const byte *a, const byte *b)
{
    uint32_t x = big32(a), y = big32(b);

    return (x > y) - (x < y);
}

/* n >= 16. The last block overlaps the one before. */
static int
compare_blocks(const byte *a, const byte *b, size_t n)
{
    size_t i = 0;

    for (;;) {
        uint32_t m = MASK(EQ(LOAD(a + i), LOAD(b + i))) ^ 0xffff;

        if (m) {
            i += (size_t)__builtin_ctz(m);
            return a[i] - b[i];
        }
        i += 16;
        if (i == n)
            return 0;
        if (n - i < 16)
            i = n - 16;
    }
}

int
memcmp(const void *va, const void *vb, size_t n)
{
    const byte *a = va, *b = vb;
    int r;

    if (n >= 8) {
        /* Most differences are early: cheaper than mask and index. */
        r = compare64(a, b);
        if (r)
            return r;
        return n >= 16 ? compare_blocks(a, b, n)
                       : compare64(a + n - 8, b + n - 8);
    }
    if (n >= 4) {
        r = compare32(a, b);
        return r ? r : compare32(a + n - 4, b + n - 4);
    }
    for (; n; a++, b++, n--)
        if (*a != *b)
            return *a - *b;
    return 0;
}
