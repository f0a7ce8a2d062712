/* SPDX-License-Identifier: MIT */
/* Only MADV_DONTNEED has an effect that a program can see: anonymous memory
 * reads as zero afterwards. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "pages.h"

static void
forget(unsigned i, unsigned n)
{
    for (; n; i++, n--)
        if (!__wpages_is_file(i) && !__wpages_is_shared(i))
            memset(PAGE_PTR(i), 0, PAGE_BYTES);
}

int
__madvise(void *addr, size_t len, int advice)
{
    if (UNALIGNED(addr) || advice < 0) {
        errno = EINVAL;
        return -1;
    }
    if (!len)
        return 0;
    if (!__wpages_are_mapped(addr, len)) {
        errno = ENOMEM;
        return -1;
    }
    if (advice == MADV_DONTNEED)
        forget(PAGE_OF(addr), PAGES(len));
    return 0;
}

weak_alias(__madvise, madvise);
