/* The services of the kernel for vfs: time, limits, and the ends of files.
 *
 * vfs is a layer below and knows no task, clock or limit. These functions find
 * the kernel around the struct vfs that they get. */
#include "kernel/epoll.h"
#include "kernel/fifo.h"
#include "kernel/kernel.h"
#include "kernel/lock.h"
#include "kernel/packet.h"

static int64_t
hook_now_ns(const struct vfs *v)
{
    return clock_real_ns(&CONTAINER_OF(v, struct kernel, vfs)->clock);
}

/* The quotas of a file system in memory are the limits of the sandbox. */
static void
hook_on_full(struct vfs *v, bool bytes, bool inodes)
{
    bool *hit = kernel_of(v)->limits.was_hit;

    hit[LIMIT_file_bytes] |= bytes;
    hit[LIMIT_files] |= inodes;
}

static bool
hook_charge_file(struct vfs *v)
{
    return limits_charge(&kernel_of(v)->limits, LIMIT_open_files, 1);
}

/* Everything that refers to an open file without a reference: epoll items, and
 * locks whose owner it is. Most sandboxes never have any. */
static void
hook_on_file_end(struct file *f)
{
    struct kernel *k = kernel_of(f->vfs);

    if (!list_is_empty(&f->watchers))
        epoll_forget(f);
    if (k->locks)
        locks_release(f);
    limits_uncharge(&k->limits, LIMIT_open_files, 1);
}

static int
hook_open_fifo(const struct vnode *v, const struct caller *as, uint32_t flags,
               OWN struct file **ret)
{
    return fifo_open(kernel_of(v->mnt->fs->vfs), task_of(as), v, flags, ret);
}

const struct vfs_hooks kernel_vfs_hooks = {
    .now_ns = hook_now_ns,
    .on_full = hook_on_full,
    .charge_file = hook_charge_file,
    .on_file_end = hook_on_file_end,
    .on_file_in_flight = inflight_suspect,
    .open_fifo = hook_open_fifo,
};
