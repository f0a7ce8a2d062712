/* SPDX-License-Identifier: MIT */
/* Only shared mappings have something to write back; the kernel has them. */
#include <errno.h>
#include <sys/mman.h>
#include "pages.h"
#include "syscall.h"

int
msync(void *start, size_t len, int flags)
{
    int known = MS_ASYNC | MS_SYNC | MS_INVALIDATE;

    if (UNALIGNED(start) || flags & ~known ||
        (flags & (MS_ASYNC | MS_SYNC)) == (MS_ASYNC | MS_SYNC)) {
        errno = EINVAL;
        return -1;
    }
    if (len && !__wpages_are_mapped(start, len)) {
        errno = ENOMEM;
        return -1;
    }
    return len ? syscall(SYS_msync, start, len, flags) : 0;
}
