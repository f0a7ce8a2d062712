/* System calls about shared memory. The libc manages the memory of a process by
 * itself; it calls the kernel only for ranges that other processes share. */
#include "kernel/abi.h"
#include "kernel/kernel.h"
#include "kernel/shm.h"
#include "kernel/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Below the last 64 KiB of the address space, as in the libc. */
#define SPACE_END UINT64_C(0xffff0000)

/* Checks a range, and rounds its end up to a whole page. */
static int
sys_memory_range(gaddr at, uint32_t len, uint64_t *ret_end)
{
    uint64_t end = ((uint64_t)at + len + SHMEM_PAGE_BYTES - 1) /
                   SHMEM_PAGE_BYTES * SHMEM_PAGE_BYTES;

    if (at % SHMEM_PAGE_BYTES || !len)
        return -EINVAL;
    if (end > SPACE_END)
        return -ENOMEM;
    *ret_end = end;
    return 0;
}

/* May f be mapped so? */
static int
sys_memory_check_file(struct file *f, uint32_t prot)
{
    struct attr a;

    if (!f || f->flags & O_PATH)
        return -EBADF;
    if (!file_is_readable(f) || (prot & PROT_WRITE && !file_is_writable(f)))
        return -EACCES;
    int r = file_getattr(f, &a);
    if (r < 0)
        return r;
    return f->node.mnt && f->ops->truncate && S_ISREG(a.mode) ? 0 : -ENODEV;
}

/* Maps memory of its own, or of the file f. */
static int64_t
sys_memory_map(struct task *t, const struct shm_range *r, struct file *f)
{
    struct shmem *mem = f ? shm_of_file(t->kernel, f) : shm_new();

    if (!mem)
        return -ENOMEM;
    int e = shm_map(shm_space(t), r, mem, f);
    shm_put(t->kernel, mem);
    return e < 0 ? e : (int64_t)r->at;
}

/* mmap2(addr, len, prot, flags, fd, offset in pages) */
int64_t
sys_mmap2(struct task *t, const union sysarg *a)
{
    struct file *f = NULL;
    uint64_t end;

    if (!a[1].u)
        return (int64_t)t->thread->machine->share_from;
    int r = sys_memory_range(a[0].addr, a[1].u, &end);
    if (r < 0)
        return r;
    if (!(a[3].u & MAP_SHARED))
        return -EINVAL;
    if (!(a[3].u & MAP_ANONYMOUS)) {
        f = fd_find(t, a[4].i);
        r = sys_memory_check_file(f, a[2].u);
    }
    if (r < 0)
        return r;
    const struct shm_range range = {
        .at = a[0].addr,
        .len = end - a[0].addr,
        .offset = f ? (uint64_t)a[5].u * SHMEM_PAGE_BYTES : 0,
        .prot = a[2].u};
    return sys_memory_map(t, &range, f);
}

/* Clears the pages in [at, end) that are not mapped. A program that was frozen
 * has copies of the mappings that it had before. */
static void
sys_memory_clear(const struct task *space, uint64_t at, uint64_t end)
{
    struct machine *machine = space->thread->machine;
    const struct shm_map *m;

    if (end > machine->size)
        end = machine->size;
    for (; at < end; at = m->at + m->len) {
        m = shm_next(space, at);
        uint64_t to = m && m->at < end ? m->at : end;
        if (to > at)
            memset(machine->base + at, 0, to - at);
        if (!m)
            break;
    }
}

/* munmap(addr, len). The libc calls it only for pages that were shared. */
int64_t
sys_munmap(struct task *t, const union sysarg *a)
{
    struct task *space = shm_space(t);
    uint64_t end;
    int r = sys_memory_range(a[0].addr, a[1].u, &end);

    if (r < 0)
        return r;
    sys_memory_clear(space, a[0].addr, end);
    return shm_unmap(space, a[0].addr, end);
}

/* mremap(old, old_len, new_len, flags, new): the old range begins with a
 * mapping, whose object is mapped at the new place. If the two places differ,
 * they do not overlap. */
int64_t
sys_mremap(struct task *t, const union sysarg *a)
{
    struct task *space = shm_space(t);
    uint64_t end, new_end;
    int r = sys_memory_range(a[0].addr, a[1].u, &end);

    if (r == 0)
        r = sys_memory_range(a[4].addr, a[2].u, &new_end);
    if (r < 0)
        return r;
    const struct shm_map *m = shm_next(space, a[0].addr);
    if (!m || m->at > a[0].addr)
        return -EFAULT;
    const struct shm_range range = {.at = a[4].addr,
                                    .len = new_end - a[4].addr,
                                    .offset = m->offset + (a[0].addr - m->at),
                                    .prot = m->prot};
    r = shm_map(space, &range, m->mem, m->file);
    if (r == 0 && a[4].addr != a[0].addr)
        r = shm_unmap(space, a[0].addr, end);
    return r < 0 ? r : (int64_t)a[4].addr;
}

enum { MEMFD_NAME_MAX = 249 };

/* The name is only shown, as that of a removed file in the root directory. */
static int
sys_memory_name(struct file *f, const char *name)
{
    struct mount *root = mount_root(f->vfs);
    char *shown = malloc(sizeof "memfd:" + MEMFD_NAME_MAX);

    if (!shown)
        return -ENOMEM;
    (void)snprintf(shown, sizeof "memfd:" + MEMFD_NAME_MAX, "memfd:%s", name);
    free(f->name);
    f->name = shown;
    f->dir = (struct vnode){root, root->root};
    return 0;
}

/* memfd_create(name, flags): a file without a name where shared memory is */
int64_t
sys_memfd_create(struct task *t, const union sysarg *a)
{
    struct at at = {
        .vfs = &t->kernel->vfs, .path = "/dev/shm", .owner = &t->as.cred};
    char name[MEMFD_NAME_MAX + 1];
    struct file *f;

    int64_t len = guest_string(t, a[0].addr, name, sizeof name);
    if (len < 0)
        return len == -ENAMETOOLONG ? -EINVAL : len;
    int r = vfs_open(&at, O_TMPFILE | O_EXCL | O_RDWR, 0777, &f);
    if (r < 0)
        return r;
    r = sys_memory_name(f, name);
    if (r < 0) {
        file_put(f);
        return r;
    }
    return fd_install(t, f, 0, a[1].u & ABI_MFD_CLOEXEC);
}

/* msync(addr, len, flags) */
int64_t
sys_msync(struct task *t, const union sysarg *a)
{
    uint64_t end;
    int r = sys_memory_range(a[0].addr, a[1].u, &end);

    return r < 0 ? r : shm_sync(shm_space(t), a[0].addr, end);
}
