/* SPDX-License-Identifier: MIT */
/* Every mapped page is resident. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include "pages.h"

int
mincore(void *addr, size_t len, unsigned char *vec)
{
    if (UNALIGNED(addr)) {
        errno = EINVAL;
        return -1;
    }
    if (!__wpages_are_mapped(addr, len)) {
        errno = ENOMEM;
        return -1;
    }
    memset(vec, 1, PAGES(len));
    return 0;
}
