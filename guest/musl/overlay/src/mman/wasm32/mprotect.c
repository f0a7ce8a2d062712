/* SPDX-License-Identifier: MIT */
/* Arguments are checked; protection is not enforced. */
#include <errno.h>
#include <sys/mman.h>
#include "pages.h"

int
__mprotect(void *addr, size_t len, int prot)
{
    int known =
        PROT_READ | PROT_WRITE | PROT_EXEC | PROT_GROWSDOWN | PROT_GROWSUP;

    if (UNALIGNED(addr) || prot & ~known) {
        errno = EINVAL;
        return -1;
    }
    if (len && !__wpages_are_mapped(addr, len)) {
        errno = ENOMEM;
        return -1;
    }
    return 0;
}

weak_alias(__mprotect, mprotect);
