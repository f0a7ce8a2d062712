/* Watches of inodes, without inotify. */
#include "kernel/vfs/notify.h"

#include "world.h"

#include <fcntl.h>
#include <string.h>
#include <sys/inotify.h>

/* A watch that records its last event, and may remove itself in one. */
struct seen {
    struct notify_watch watch;
    uint32_t mask;
    char name[16];
    bool is_once, is_gone;
};

static void
seen_event(struct notify_watch *w, uint32_t mask, uint32_t cookie,
           struct name name)
{
    struct seen *s = CONTAINER_OF(w, struct seen, watch);

    (void)cookie;
    s->mask = mask;
    memcpy(s->name, name.s, name.len);
    s->name[name.len] = 0;
    if (s->is_once)
        notify_watch_remove(w);
}

static void
seen_gone(struct notify_watch *w)
{
    CONTAINER_OF(w, struct seen, watch)->is_gone = true;
    notify_watch_remove(w);
}

static const struct notify_watch_ops seen_ops = {seen_event, seen_gone};

static struct seen
seen_new(uint32_t mask)
{
    return (struct seen){.watch = {.ops = &seen_ops, .mask = mask}};
}

TEST(notify_reaches_all_watches_of_a_directory_even_if_one_ends_itself)
{
    struct kernel *k = world_new();
    struct vnode root = world_root(k);
    struct seen once = seen_new(IN_CREATE), other = seen_new(IN_CREATE),
                deaf = seen_new(IN_DELETE);

    once.is_once = true;
    CHECK_EQ(notify_watch_add(&once.watch, &root), 0);
    CHECK_EQ(notify_watch_add(&deaf.watch, &root), 0);
    CHECK_EQ(notify_watch_add(&other.watch, &root), 0);
    CHECK_EQ(notify_watch_count(&k->vfs), 3);
    CHECK_EQ(world_make(k, NULL, "/d", S_IFDIR | 0755), 0);
    CHECK_EQ(once.mask, IN_CREATE | IN_ISDIR);
    CHECK_EQ(other.mask, IN_CREATE | IN_ISDIR);
    CHECK(!strcmp(other.name, "d"));
    CHECK_EQ(deaf.mask, 0);
    CHECK_EQ(notify_watch_count(&k->vfs), 2);
    CHECK(notify_watch_next(&root, NULL) == &deaf.watch);
    CHECK(notify_watch_next(&root, &deaf.watch) == &other.watch);
    CHECK(!notify_watch_next(&root, &other.watch));
    notify_watch_remove(&deaf.watch);
    notify_watch_remove(&other.watch);
    CHECK(!k->vfs.watches); /* the table goes with its last watch */
    CHECK(!notify_watch_next(&root, NULL));
    kernel_free(k);
}

TEST(notify_ends_the_watches_of_an_inode_that_is_gone)
{
    struct kernel *k = world_new();
    struct seen a = seen_new(IN_DELETE_SELF), b = seen_new(IN_OPEN);
    struct vnode root = world_root(k);
    struct at at = {.vfs = &k->vfs, .base = &root, .path = "/f"};

    CHECK_EQ(world_file(k, "/f", "text"), 0);
    struct file *f = world_open(k, NULL, "/f", O_RDONLY, NULL);
    CHECK_EQ(notify_watch_add(&a.watch, &f->node), 0);
    CHECK_EQ(notify_watch_add(&b.watch, &f->node), 0);
    CHECK_EQ(vfs_unlink(&at, 0), 0);
    CHECK(!a.is_gone); /* it is still open */
    file_put(f);
    CHECK_EQ(a.mask, IN_DELETE_SELF);
    CHECK(a.is_gone && b.is_gone);
    CHECK_EQ(b.mask, 0);
    CHECK(!k->vfs.watches);
    kernel_free(k);
}

TEST(notify_gives_the_open_files_of_a_moved_name_their_new_one)
{
    struct kernel *k = world_new();
    struct vnode root = world_root(k);
    struct seen s = seen_new(IN_CLOSE_NOWRITE);
    struct at from = {.vfs = &k->vfs, .base = &root, .path = "/old"};
    struct at to = {.vfs = &k->vfs, .base = &root, .path = "/new"};

    CHECK_EQ(world_file(k, "/old", ""), 0);
    CHECK_EQ(notify_watch_add(&s.watch, &root), 0);
    struct file *f = world_open(k, NULL, "/old", O_RDONLY, NULL);
    CHECK_EQ(vfs_rename(&from, &to, 0), 0);
    file_put(f); /* in no table of descriptors */
    CHECK_EQ(s.mask, IN_CLOSE_NOWRITE);
    CHECK(!strcmp(s.name, "new"));
    notify_watch_remove(&s.watch);
    kernel_free(k);
}
