/* The file system of /dev/shm: see shmfs.h. */
#include "kernel/shmfs.h"

#include "kernel/kernel.h"
#include "kernel/vfs/tmpfs.h"

#include <errno.h>

/* A mapped page that goes back to its file exists already, and its charge as a
 * part of the mapping ends, so that cannot be refused. As on Linux, files can
 * have half of the memory: programs must be able to run and remove them. */
static bool
shmfs_fits(void *arg, uint64_t bytes)
{
    struct fs *fs = arg;
    struct limits *l = &kernel_of(fs->vfs)->limits;
    uint64_t max = l->max[LIMIT_memory] / 2;

    if (fs->vfs->syncing || (tmpfs_tree(fs)->used.bytes + bytes <= max &&
                             limits_fit(l, LIMIT_memory, bytes)))
        return true;
    l->was_hit[LIMIT_memory] = true;
    return false;
}

static void
shmfs_settle(void *arg, int64_t bytes)
{
    struct limits *l = &kernel_of(((struct fs *)arg)->vfs)->limits;

    if (bytes > 0)
        limits_settle(l, LIMIT_memory, (uint64_t)bytes);
    else
        limits_uncharge(l, LIMIT_memory, (uint64_t)-bytes);
}

static const struct tree_budget shmfs_budget = {shmfs_fits, shmfs_settle};

int
shmfs_tree_init(struct kernel *k, struct tree *ret)
{
    const struct quota all = {UINT64_MAX, UINT64_MAX};
    const struct attr a = {.mode = S_IFDIR | 01777};
    struct fs *root = mount_root(&k->vfs)->fs;
    int64_t now_ns = clock_real_ns(&k->clock);

    int r = tree_init(ret, &all, now_ns);
    if (r == 0 && tmpfs_is(root))
        ret->seed = tmpfs_tree(root)->seed;
    return r < 0 ? r : tree_setattr(ret, TREE_ROOT, &a, ATTR_MODE, now_ns);
}

static int
shmfs_mount_clone(struct kernel *k, const struct tree *from)
{
    struct fs *fs;

    int r = tmpfs_new(&k->vfs, from, k->limits.max[LIMIT_memory] / 2,
                      k->limits.max[LIMIT_files], &fs);
    if (r < 0)
        return r;
    fs->dev = ++k->vfs.next_dev;
    fs->is_memory = true;
    tree_set_budget(tmpfs_tree(fs), &shmfs_budget, fs);
    return mount_add(&k->vfs, "/dev/shm", "shm", fs, false);
}

int
shmfs_mount(struct kernel *k, const struct tree *from)
{
    CLEANUP(tree_fini) struct tree empty = {0};

    int r = from ? 0 : shmfs_tree_init(k, &empty);
    return r < 0 ? r : shmfs_mount_clone(k, from ? from : &empty);
}
