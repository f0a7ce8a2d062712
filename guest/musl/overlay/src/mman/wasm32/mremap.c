/* SPDX-License-Identifier: MIT */
/* A grown file mapping gets zeros, not more of the file. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include "pages.h"

static void *
fail(int error)
{
    errno = error;
    return MAP_FAILED;
}

static void *
move(unsigned from, unsigned n, unsigned to, unsigned m)
{
    unsigned keep = n < m ? n : m, k;

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

void *
__mremap(void *old, size_t old_len, size_t new_len, int flags, ...)
{
    unsigned i = PAGE_OF(old), n, m;
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
    n = PAGES(old_len);
    m = PAGES(new_len);
    if (!__wpages_in_space(old, old_len) || !__wpages_all_mapped(i, n))
        return fail(EFAULT);

    if (flags & MREMAP_FIXED)
        return move_to(i, n, to, m);
    if (m <= n) {
        __wpages_release(i + m, n - m);
        return old;
    }
    if (__wpages_in_space(old, new_len) && __wpages_none_mapped(i + n, m - n) &&
        !__wpages_claim(i + n, m - n, NULL))
        return old;
    if (!(flags & MREMAP_MAYMOVE))
        return fail(ENOMEM);
    return move(i, n, __wpages_find(m), m);
}

weak_alias(__mremap, mremap);
