/* SPDX-License-Identifier: MIT */
/* No mapping has anything to write back. */
#include <errno.h>
#include <sys/mman.h>
#include "pages.h"

int
msync(void *start, size_t len, int flags)
{
    int known = MS_ASYNC | MS_SYNC | MS_INVALIDATE;

    if (UNALIGNED(start) || flags & ~known ||
        (flags & (MS_ASYNC | MS_SYNC)) == (MS_ASYNC | MS_SYNC)) {
        errno = EINVAL;
        return -1;
    }
    if (len && (!__wpages_in_space(start, len) ||
                !__wpages_all_mapped(PAGE_OF(start), PAGES(len)))) {
        errno = ENOMEM;
        return -1;
    }
    return 0;
}
