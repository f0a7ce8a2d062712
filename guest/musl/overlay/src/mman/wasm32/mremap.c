/* SPDX-License-Identifier: MIT */
/* A grown file mapping gets zeros, not more of the file. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include "pages.h"
#include "syscall.h"

static void *
fail(int error)
{
    errno = error;
    return MAP_FAILED;
}

/* The kernel maps as much as the new place needs, and unmaps the old one. */
static void *
move_shared(unsigned from, unsigned n, unsigned to, unsigned m)
{
    int r;

    if (!to)
        return fail(ENOMEM);
    r = __syscall(SYS_mremap, PAGE_PTR(from), n * PAGE_BYTES, m * PAGE_BYTES, 0,
                  PAGE_PTR(to));
    if (r < 0 && r > -4096)
        return fail(-r);
    if (from != to)
        __wpages_release(from, n);
    return __wpages_claim_shared(to, m) ? fail(ENOMEM) : PAGE_PTR(to);
}

static void *
move(unsigned from, unsigned n, unsigned to, unsigned m)
{
    unsigned keep = n < m ? n : m, k;

    if (__wpages_is_shared(from))
        return move_shared(from, n, to, m);
    if (!to || __wpages_claim(to, m, NULL))
        return fail(ENOMEM);
    memcpy(PAGE_PTR(to), PAGE_PTR(from), (size_t)keep * PAGE_BYTES);
    for (k = 0; k < keep; k++)
        if (__wpages_is_file(from + k))
            __wpages_set_file(to + k, 1);
    __wpages_release(from, n);
    return PAGE_PTR(to);
}

static int
overlap(unsigned i, unsigned n, unsigned j, unsigned m)
{
    return i < j + m && j < i + n;
}

static void *
move_to(unsigned i, unsigned n, void *to, unsigned m)
{
    if (UNALIGNED(to) || !PAGE_OF(to) ||
        !__wpages_in_space(to, (size_t)m * PAGE_BYTES) ||
        overlap(i, n, PAGE_OF(to), m))
        return fail(EINVAL);
    return move(i, n, PAGE_OF(to), m);
}

/* Grows in place, or moves. */
static void *
resize_shared(unsigned i, unsigned n, unsigned m, int flags)
{
    if (__wpages_in_space(PAGE_PTR(i), (size_t)m * PAGE_BYTES) &&
        __wpages_none_mapped(i + n, m - n))
        return move_shared(i, n, i, m);
    if (!(flags & MREMAP_MAYMOVE))
        return fail(ENOMEM);
    return move_shared(i, n, __wpages_find_shared(m), m);
}

static void *
resize(void *old, unsigned n, unsigned m, int flags, void *to)
{
    unsigned i = PAGE_OF(old);

    if (!__wpages_in_space(old, (size_t)n * PAGE_BYTES) ||
        !__wpages_all_mapped(i, n))
        return fail(EFAULT);
    if (flags & MREMAP_FIXED)
        return move_to(i, n, to, m);
    if (m <= n)
        return __wpages_release(i + m, n - m) ? fail(ENOMEM) : old;
    if (__wpages_is_shared(i))
        return resize_shared(i, n, m, flags);
    if (__wpages_in_space(old, (size_t)m * PAGE_BYTES) &&
        __wpages_none_mapped(i + n, m - n) &&
        !__wpages_claim(i + n, m - n, NULL))
        return old;
    if (!(flags & MREMAP_MAYMOVE))
        return fail(ENOMEM);
    return move(i, n, __wpages_find(m), m);
}

void *
__mremap(void *old, size_t old_len, size_t new_len, int flags, ...)
{
    void *to = NULL;

    if (flags & MREMAP_FIXED) {
        va_list ap;
        va_start(ap, flags);
        to = va_arg(ap, void *);
        va_end(ap);
    }
    if (UNALIGNED(old) || !old_len || !new_len ||
        flags & ~(MREMAP_MAYMOVE | MREMAP_FIXED) ||
        (flags & MREMAP_FIXED && !(flags & MREMAP_MAYMOVE)))
        return fail(EINVAL);
    if (new_len >= PTRDIFF_MAX)
        return fail(ENOMEM);
    __wpages_lock();
    to = resize(old, PAGES(old_len), PAGES(new_len), flags, to);
    __wpages_unlock();
    return to;
}

weak_alias(__mremap, mremap);
