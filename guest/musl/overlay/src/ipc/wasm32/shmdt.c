/* SPDX-License-Identifier: MIT */
/* The kernel unmaps the segment, and returns how long it was. */
#include <errno.h>
#include <sys/shm.h>
#include "../../mman/wasm32/pages.h"
#include "syscall.h"

int
shmdt(const void *addr)
{
    int len;

    __wpages_lock();
    len = __syscall(SYS_shmdt, addr);
    if (len > 0)
        __wpages_release(PAGE_OF(addr), PAGES((unsigned)len));
    __wpages_unlock();
    if (len > 0)
        return 0;
    errno = -len;
    return -1;
}
