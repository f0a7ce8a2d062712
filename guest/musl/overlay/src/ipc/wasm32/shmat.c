/* SPDX-License-Identifier: MIT */
/* Shared memory of System V. The kernel has the segments; the place for one is
 * chosen here. */
#include <errno.h>
#include <sys/shm.h>
#include "../../mman/wasm32/pages.h"
#include "syscall.h"

/* Chooses the page for n pages. Returns 0, or an error number. */
static int
place(const void *addr, unsigned n, int flag, unsigned *ret)
{
    if (!addr) {
        *ret = __wpages_find_shared(n);
        return *ret ? 0 : ENOMEM;
    }
    if (UNALIGNED(addr) && !(flag & SHM_RND))
        return EINVAL;
    *ret = PAGE_OF(addr);
    if (!*ret || !__wpages_in_space(PAGE_PTR(*ret), (size_t)n * PAGE_BYTES))
        return EINVAL;
    return flag & SHM_REMAP || __wpages_none_mapped(*ret, n) ? 0 : EINVAL;
}

static int
attach(int id, unsigned i, unsigned n, int flag)
{
    int r = __syscall(SYS_shmat, id, PAGE_PTR(i), flag);

    if (r < 0 && r > -4096)
        return -r;
    if (!__wpages_claim_shared(i, n))
        return 0;
    __syscall(SYS_shmdt, PAGE_PTR(i));
    return ENOMEM;
}

void *
shmat(int id, const void *addr, int flag)
{
    struct shmid_ds ds;
    unsigned i, n;
    int error;

    if (shmctl(id, IPC_STAT, &ds))
        return (void *)-1;
    n = PAGES(ds.shm_segsz);
    __wpages_lock();
    error = place(addr, n, flag, &i);
    if (!error)
        error = attach(id, i, n, flag);
    __wpages_unlock();
    if (!error)
        return PAGE_PTR(i);
    errno = error;
    return (void *)-1;
}
