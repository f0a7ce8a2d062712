/* SPDX-License-Identifier: MIT */
/* One thread of a process runs at a time. It loses the processor only in system
 * calls, at the beginning of a function, and at that of a loop. Each of these
 * functions is inlined, and has neither a call nor a loop: it is atomic. Signal
 * handlers run only inside system calls. */
#define a_cas       a_cas
#define a_swap      a_swap
#define a_fetch_add a_fetch_add
#define a_fetch_and a_fetch_and
#define a_fetch_or  a_fetch_or
#define a_store     a_store
#define a_barrier   a_barrier
#define a_crash     a_crash
#define a_ctz_32    a_ctz_32
#define a_ctz_64    a_ctz_64
#define a_clz_32    a_clz_32
#define a_clz_64    a_clz_64

static inline __attribute__((always_inline)) int
a_cas(volatile int *p, int expected, int value)
{
    int old = *p;
    if (old == expected)
        *p = value;
    return old;
}

static inline __attribute__((always_inline)) int
a_swap(volatile int *p, int value)
{
    int old = *p;
    *p = value;
    return old;
}

static inline __attribute__((always_inline)) int
a_fetch_add(volatile int *p, int value)
{
    int old = *p;
    *p = (int)((unsigned)old + (unsigned)value);
    return old;
}

static inline __attribute__((always_inline)) int
a_fetch_and(volatile int *p, int value)
{
    int old = *p;
    *p = old & value;
    return old;
}

static inline __attribute__((always_inline)) int
a_fetch_or(volatile int *p, int value)
{
    int old = *p;
    *p = old | value;
    return old;
}

static inline __attribute__((always_inline)) void
a_store(volatile int *p, int value)
{
    *p = value;
}

static inline __attribute__((always_inline)) void
a_barrier(void)
{
    __asm__ __volatile__("" : : : "memory");
}

static inline __attribute__((always_inline)) void
a_crash(void)
{
    __builtin_trap();
}

static inline __attribute__((always_inline)) int
a_ctz_32(uint32_t x)
{
    return __builtin_ctz(x);
}

static inline __attribute__((always_inline)) int
a_ctz_64(uint64_t x)
{
    return __builtin_ctzll(x);
}

static inline __attribute__((always_inline)) int
a_clz_32(uint32_t x)
{
    return __builtin_clz(x);
}

static inline __attribute__((always_inline)) int
a_clz_64(uint64_t x)
{
    return __builtin_clzll(x);
}
