/* Eight small programs that only compute. Each gives a number that depends on
 * all it did, the same on every machine. */
#ifndef KERNELS_H
#define KERNELS_H

#include <stdint.h>

/* In the order of kernels.def. */
#define KERNEL(name) uint32_t kernel_##name(void);
#include "kernels.def"
#undef KERNEL

/* A generator of numbers that look random. */
static inline uint32_t
next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

#endif
