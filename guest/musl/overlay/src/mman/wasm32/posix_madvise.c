/* SPDX-License-Identifier: MIT */
/* Pure advice, unlike madvise: it never changes what memory holds. */
#include <errno.h>
#include <sys/mman.h>
#include "pages.h"

int
posix_madvise(void *addr, size_t len, int advice)
{
    if (UNALIGNED(addr) || advice < 0 || advice > POSIX_MADV_DONTNEED)
        return EINVAL;
    if (len && !__wpages_are_mapped(addr, len))
        return ENOMEM;
    return 0;
}
