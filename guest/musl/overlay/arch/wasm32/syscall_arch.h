/* SPDX-License-Identifier: MIT */
/* Every system call goes through __wsys (src/internal/wasm32/wsys.c). fork is
 * apart, because it is the only call that asyncify has to see. 64-bit
 * arguments travel as two words, low word first, without padding. */
#define __SYSCALL_LL_E(x) \
    ((union {             \
        long long ll;     \
        long l[2];        \
    }){.ll = x})          \
        .l[0],            \
        ((union {         \
            long long ll; \
            long l[2];    \
        }){.ll = x})      \
            .l[1]
#define __SYSCALL_LL_O(x) __SYSCALL_LL_E((x))

long __wsys(long, long, long, long, long, long, long);
long __wfork(void);

static inline long
__syscall0(long n)
{
    return n == __NR_fork ? __wfork() : __wsys(n, 0, 0, 0, 0, 0, 0);
}

static inline long
__syscall1(long n, long a)
{
    return __wsys(n, a, 0, 0, 0, 0, 0);
}

static inline long
__syscall2(long n, long a, long b)
{
    return __wsys(n, a, b, 0, 0, 0, 0);
}

static inline long
__syscall3(long n, long a, long b, long c)
{
    return __wsys(n, a, b, c, 0, 0, 0);
}

static inline long
__syscall4(long n, long a, long b, long c, long d)
{
    return __wsys(n, a, b, c, d, 0, 0);
}

static inline long
__syscall5(long n, long a, long b, long c, long d, long e)
{
    return __wsys(n, a, b, c, d, e, 0);
}

static inline long
__syscall6(long n, long a, long b, long c, long d, long e, long f)
{
    return __wsys(n, a, b, c, d, e, f);
}

#define IPC_64 0
