/* SPDX-License-Identifier: MIT */
/* Nothing is ever paged out: locking succeeds for what is mapped. */
#include <errno.h>
#include <sys/mman.h>
#include "pages.h"

int
mlock(const void *addr, size_t len)
{
    size_t lead = UNALIGNED(addr);

    if (len && (!__wpages_in_space(addr, len) ||
                !__wpages_all_mapped(PAGE_OF(addr), PAGES(len + lead)))) {
        errno = ENOMEM;
        return -1;
    }
    return 0;
}

int
munlock(const void *addr, size_t len)
{
    return mlock(addr, len);
}

int
mlockall(int flags)
{
    if (!flags || flags & ~(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT)) {
        errno = EINVAL;
        return -1;
    }
    return 0;
}

int
munlockall(void)
{
    return 0;
}
