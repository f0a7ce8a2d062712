/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "simd.h"

int
strncmp(const char *x, const char *y, size_t n)
{
    const byte *a = (const void *)x, *b = (const void *)y;

    while (n) {
        if (n >= 16 && FITS_IN_PAGE(a) && FITS_IN_PAGE(b)) {
            v128_t p = LOAD(a);
            v128_t same = wasm_v128_andnot(EQ(p, LOAD(b)), EQ(p, SPLAT(0)));
            uint32_t m = MASK(same) ^ 0xffff;

            if (m) {
                m = (uint32_t)__builtin_ctz(m);
                return a[m] - b[m];
            }
            a += 16;
            b += 16;
            n -= 16;
        } else {
            if (*a != *b || !*a)
                return *a - *b;
            a++;
            b++;
            n--;
        }
    }
    return 0;
}
