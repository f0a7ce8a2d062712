/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "simd.h"

int
strcmp(const char *x, const char *y)
{
    const byte *a = (const void *)x, *b = (const void *)y;

    if (*a != *b || !*a) /* most comparisons end here */
        return *a - *b;
    for (;;) {
        if (FITS_IN_PAGE(a) && FITS_IN_PAGE(b)) {
            v128_t p = LOAD(a);
            v128_t same = wasm_v128_andnot(EQ(p, LOAD(b)), EQ(p, SPLAT(0)));
            uint32_t m = MASK(same) ^ 0xffff;

            if (m) {
                m = (uint32_t)__builtin_ctz(m);
                return a[m] - b[m];
            }
            a += 16;
            b += 16;
        } else {
            if (*a != *b || !*a)
                return *a - *b;
            a++;
            b++;
        }
    }
}
