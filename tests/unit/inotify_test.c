/* Watches and their queues. */
#include "world.h"

#include "kernel/inotify.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/inotify.h>

enum { BUF = 4096, NAME = 512 };

/* The mask of the next event; 0: none. Its name is left in guest memory. */
static uint32_t
next_mask(struct task *t, int fd)
{
    struct inotify_event *e = world_at(t, BUF);
    int32_t n = SYS(t, NR_read, (uint32_t)fd, BUF, sizeof *e);

    if (n == -EINVAL) /* it has a name */
        n = SYS(t, NR_read, (uint32_t)fd, BUF, 2 * sizeof *e);
    return n > 0 ? e->mask : 0;
}

static int32_t
add(struct task *t, int fd, const char *path, uint32_t mask)
{
    return SYS(t, NR_inotify_add_watch, (uint32_t)fd, world_str(t, NAME, path),
               mask);
}

TEST(inotify_watch_ends_with_its_inode)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    CHECK_EQ(world_file(k, "/f", "x"), 0);
    CHECK_EQ(SYS(t, NR_inotify_init1, IN_NONBLOCK), 0);
    CHECK_EQ(add(t, 0, "/f", IN_DELETE_SELF), 1);
    CHECK(k->vfs.watches != NULL);
    struct at at = {.vfs = &k->vfs, .path = "/f"};
    CHECK_EQ(vfs_unlink(&at, 0), 0);
    CHECK(k->vfs.watches == NULL);
    CHECK_EQ(next_mask(t, 0), IN_DELETE_SELF);
    CHECK_EQ(next_mask(t, 0), IN_IGNORED);
    CHECK_EQ(next_mask(t, 0), 0);
    kernel_free(k);
}

TEST(inotify_once_frees_the_last_watch_while_it_reports)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    CHECK_EQ(world_make(k, NULL, "/d", S_IFDIR | 0755), 0);
    CHECK_EQ(SYS(t, NR_inotify_init1, IN_NONBLOCK), 0);
    CHECK_EQ(add(t, 0, "/d", IN_CREATE | IN_ONESHOT), 1);
    CHECK_EQ(world_file(k, "/d/a", ""), 0);
    CHECK(k->vfs.watches == NULL);
    CHECK_EQ(next_mask(t, 0), IN_CREATE);
    CHECK_EQ(next_mask(t, 0), IN_IGNORED);
    kernel_free(k);
}

TEST(inotify_wakes_who_reads_and_gives_its_memory_back)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    uint64_t before = world_memory(k);

    CHECK_EQ(world_make(k, NULL, "/d", S_IFDIR | 0755), 0);
    CHECK_EQ(SYS(t, NR_inotify_init1, 0), 0);
    CHECK_EQ(add(t, 0, "/d", IN_CREATE), 1);
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 64), -EWAIT);
    CHECK_EQ(world_file(k, "/d/a", ""), 0);
    CHECK(world_is_woken(t));
    CHECK(world_memory(k) > before);
    CHECK_EQ(SYS(t, NR_close, 0), 0);
    CHECK_EQ(world_memory(k), before);
    CHECK(k->vfs.watches == NULL);
    kernel_free(k);
}

TEST(inotify_overflows_where_memory_is_short)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    CHECK_EQ(world_file(k, "/f", "x"), 0);
    CHECK_EQ(SYS(t, NR_inotify_init1, IN_NONBLOCK), 0);
    CHECK_EQ(add(t, 0, "/f", IN_ATTRIB), 1);
    k->limits.max[LIMIT_memory] = k->limits.used[LIMIT_memory];
    struct attr a = {.mode = 0600};
    struct walk w;
    CHECK_EQ(world_walk(k, NULL, NULL, "/f", 0, &w), 0);
    CHECK_EQ(vnode_setattr(NULL, &w.node, &a, ATTR_MODE, false), 0);
    CHECK_EQ(next_mask(t, 0), IN_Q_OVERFLOW);
    CHECK_EQ(next_mask(t, 0), 0);
    CHECK(!k->limits.was_hit[LIMIT_memory]);
    kernel_free(k);
}

TEST(inotify_watches_are_counted)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    CHECK_EQ(SYS(t, NR_inotify_init1, IN_NONBLOCK), 0);
    for (int i = 0; i < INOTIFY_WATCHES_MAX; i++) {
        struct vnode v = {mount_root(&k->vfs), (uint64_t)i + 100};
        CHECK_EQ(inotify_add(fd_find(t, 0), &v, IN_OPEN), i + 1);
    }
    CHECK_EQ(world_file(k, "/f", ""), 0);
    CHECK_EQ(add(t, 0, "/f", IN_OPEN), -ENOSPC);
    CHECK_EQ(SYS(t, NR_inotify_rm_watch, 0, 1), 0);
    CHECK(add(t, 0, "/f", IN_OPEN) > 0);
    kernel_free(k);
}

TEST(inotify_survives_failing_allocations)
{
    struct kernel *k = world_new();
    struct file *f;

    EACH_OOM(oom) {
        if (inotify_new(k, 0, &f) < 0)
            continue;
        struct vnode root = world_root(k);
        (void)inotify_add(f, &root, IN_CREATE);
        (void)world_make(k, NULL, "/d", S_IFDIR | 0755);
        file_put(f);
        struct at at = {.vfs = &k->vfs, .path = "/d"};
        (void)vfs_unlink(&at, UNLINK_DIR);
    }
    CHECK(k->vfs.watches == NULL);
    kernel_free(k);
}
