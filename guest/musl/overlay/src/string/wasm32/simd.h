/* SPDX-License-Identifier: MIT */
/* Helpers for string functions on 16 bytes at a time. An aligned 16-byte load
 * never leaves the page of its first byte, so reading past the end of a string
 * inside its last block is safe. */
#ifndef SIMD_H
#define SIMD_H

#include <stddef.h>
#include <stdint.h>
#include <wasm_simd128.h>

typedef unsigned char byte;

/* The aligned block that p is in, and the mask of its bytes from p on. */
#define BLOCK_OF(p) ((const byte *)((uintptr_t)(p) & ~(uintptr_t)15))
#define FROM(p)     (~0u << ((uintptr_t)(p)&15))
#define LOAD(p)     wasm_v128_load(p)
#define EQ(a, b)    wasm_i8x16_eq(a, b)
#define OR(a, b)    wasm_v128_or(a, b)
#define MASK(v)     ((uint32_t)wasm_i8x16_bitmask(v))
#define SPLAT(c)    wasm_i8x16_splat((int8_t)(c))

/* May 16 bytes be read from p without reaching the next page? */
#define FITS_IN_PAGE(p) (((uintptr_t)(p)&4095) <= 4080)

#endif
