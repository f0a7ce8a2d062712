/* SPDX-License-Identifier: MIT */
/* Nothing is ever paged out, so that locking only has to be allowed. The libc
 * knows which pages are mapped, the kernel how many may be locked. */
#include <errno.h>
#include <sys/mman.h>
#include "pages.h"
#include "syscall.h"

/* The call takes whole pages. */
static int
lock_pages(long call, const void *addr, size_t len)
{
    size_t lead = UNALIGNED(addr);
    const char *from = (const char *)addr - lead;

    if (!len)
        return 0;
    if (!__wpages_are_mapped(from, len + lead))
        return __syscall_ret(-ENOMEM);
    return syscall(call, from, len + lead);
}

int
mlock(const void *addr, size_t len)
{
    return lock_pages(SYS_mlock, addr, len);
}

int
munlock(const void *addr, size_t len)
{
    return lock_pages(SYS_munlock, addr, len);
}

int
mlockall(int flags)
{
    return syscall(SYS_mlockall, flags);
}

int
munlockall(void)
{
    return syscall(SYS_munlockall);
}
