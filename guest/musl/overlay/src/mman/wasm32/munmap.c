/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <sys/mman.h>
#include "pages.h"

int
__munmap(void *start, size_t len)
{
    int r;

    if (!len || UNALIGNED(start) || !__wpages_in_space(start, len)) {
        errno = EINVAL;
        return -1;
    }
    __wpages_lock();
    r = __wpages_release(PAGE_OF(start), PAGES(len));
    __wpages_unlock();
    if (r)
        errno = ENOMEM;
    return r;
}

weak_alias(__munmap, munmap);
