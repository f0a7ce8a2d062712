/* SPDX-License-Identifier: MIT */
/* One thread: plain reads and writes are atomic enough. Signal handlers run
 * only inside system calls, never between two of these instructions. */
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

static inline int
a_cas(volatile int *p, int expected, int value)
{
    int old = *p;
    if (old == expected)
        *p = value;
    return old;
}

static inline int
a_swap(volatile int *p, int value)
{
    int old = *p;
    *p = value;
    return old;
}

static inline int
a_fetch_add(volatile int *p, int value)
{
    int old = *p;
    *p = (int)((unsigned)old + (unsigned)value);
    return old;
}

static inline int
a_fetch_and(volatile int *p, int value)
{
    int old = *p;
    *p = old & value;
    return old;
}

static inline int
a_fetch_or(volatile int *p, int value)
{
    int old = *p;
    *p = old | value;
    return old;
}

static inline void
a_store(volatile int *p, int value)
{
    *p = value;
}

static inline void
a_barrier(void)
{
    __asm__ __volatile__("" : : : "memory");
}

static inline void
a_crash(void)
{
    __builtin_trap();
}

static inline int
a_ctz_32(uint32_t x)
{
    return __builtin_ctz(x);
}

static inline int
a_ctz_64(uint64_t x)
{
    return __builtin_ctzll(x);
}

static inline int
a_clz_32(uint32_t x)
{
    return __builtin_clz(x);
}

static inline int
a_clz_64(uint64_t x)
{
    return __builtin_clzll(x);
}
