/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sys/mman.h>
#include "pages.h"

int
__munmap(void *start, size_t len)
{
    if (!len || UNALIGNED(start) || !__wpages_in_space(start, len)) {
        errno = EINVAL;
        return -1;
    }
    __wpages_release(PAGE_OF(start), PAGES(len));
    return 0;
}

weak_alias(__munmap, munmap);
