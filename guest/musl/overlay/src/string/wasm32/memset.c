/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "copy.h"

static void
fill_to_16(byte *d, uint64_t pattern, size_t n)
{
    if (n >= 8) {
        *(any64 *)d = pattern;
        *(any64 *)(d + n - 8) = pattern;
    } else if (n >= 4) {
        *(any32 *)d = (uint32_t)pattern;
        *(any32 *)(d + n - 4) = (uint32_t)pattern;
    } else if (n) {
        d[0] = d[n >> 1] = d[n - 1] = (byte)pattern;
    }
}

void *
memset(void *to, int c, size_t n)
{
    byte *d = to;
    v128_t v = SPLAT(c);

    if (n <= 16) {
        fill_to_16(d, 0x0101010101010101ull * (byte)c, n);
        return to;
    }
    if (n > BULK)
        return __builtin_memset(to, c, n); /* memory.fill */
    STORE(d, v);
    STORE(d + n - 16, v);
    if (n <= 32)
        return to;
    STORE(d + 16, v);
    STORE(d + n - 32, v);
    if (n <= 64)
        return to;
    STORE(d + 32, v);
    STORE(d + 48, v);
    STORE(d + n - 64, v);
    STORE(d + n - 48, v);
    return to;
}
