/* SPDX-License-Identifier: MIT */
/* Copying and filling without the bulk instructions, which cost a call into the
 * engine (6 ns whatever the size): up to 128 bytes, overlapping loads and
 * stores are faster. All loads come before the first store, so one function
 * serves memcpy and memmove. */
#ifndef COPY_H
#define COPY_H

#include "simd.h"

/* Sizes above this take the bulk instruction. */
#define BULK 128

typedef uint64_t __attribute__((may_alias, aligned(1))) any64;
typedef uint32_t __attribute__((may_alias, aligned(1))) any32;

#define STORE(p, v) wasm_v128_store(p, v)
#define INLINE      static inline __attribute__((always_inline))

INLINE void
copy_to_16(byte *d, const byte *s, size_t n)
{
    if (n >= 8) {
        uint64_t a = *(const any64 *)s, b = *(const any64 *)(s + n - 8);
        *(any64 *)d = a;
        *(any64 *)(d + n - 8) = b;
    } else if (n >= 4) {
        uint32_t a = *(const any32 *)s, b = *(const any32 *)(s + n - 4);
        *(any32 *)d = a;
        *(any32 *)(d + n - 4) = b;
    } else if (n) {
        byte a = s[0], b = s[n >> 1], c = s[n - 1];
        d[0] = a;
        d[n >> 1] = b;
        d[n - 1] = c;
    }
}

INLINE void
copy_to_32(byte *d, const byte *s, size_t n)
{
    v128_t a = LOAD(s), b = LOAD(s + n - 16);
    STORE(d, a);
    STORE(d + n - 16, b);
}

INLINE void
copy_to_64(byte *d, const byte *s, size_t n)
{
    v128_t a = LOAD(s), b = LOAD(s + 16);
    v128_t c = LOAD(s + n - 32), e = LOAD(s + n - 16);
    STORE(d, a);
    STORE(d + 16, b);
    STORE(d + n - 32, c);
    STORE(d + n - 16, e);
}

INLINE void
copy_to_128(byte *d, const byte *s, size_t n)
{
    v128_t a = LOAD(s), b = LOAD(s + 16), c = LOAD(s + 32), e = LOAD(s + 48);
    v128_t f = LOAD(s + n - 64), g = LOAD(s + n - 48);
    v128_t h = LOAD(s + n - 32), i = LOAD(s + n - 16);
    STORE(d, a);
    STORE(d + 16, b);
    STORE(d + 32, c);
    STORE(d + 48, e);
    STORE(d + n - 64, f);
    STORE(d + n - 48, g);
    STORE(d + n - 32, h);
    STORE(d + n - 16, i);
}

INLINE void
copy(byte *d, const byte *s, size_t n)
{
    if (n <= 16)
        copy_to_16(d, s, n);
    else if (n <= 32)
        copy_to_32(d, s, n);
    else if (n <= 64)
        copy_to_64(d, s, n);
    else if (n <= BULK)
        copy_to_128(d, s, n);
    else
        __builtin_memmove(d, s, n); /* memory.copy, see CFLAGS_MEMOPS */
}

#endif
