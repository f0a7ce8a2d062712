/* Guest memory that changes during a call, as if another thread wrote to it:
 * the kernel uses the values that it has checked. */
#include "kernel/guest.h"

#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { IOV = 256, BUF = 0x8000, PATH = 0x1000, PATH2 = 0x3000, SETS = 0x5000 };

/* The change that the next operation of a file, or lookup, makes. */
static struct {
    struct task *task;
    gaddr at;
    char bytes[16];
    size_t len;
} change;

static void
change_set(struct task *t, gaddr at, const void *bytes, size_t len)
{
    change.task = t;
    change.at = at;
    memcpy(change.bytes, bytes, len);
    change.len = len;
}

static void
change_make(void)
{
    if (change.len)
        memcpy(world_at(change.task, change.at), change.bytes, change.len);
    change.len = 0;
}

static char written[64];

static int64_t
hostile_write(struct file *f, struct task *t, const void *buf, size_t len,
              uint64_t *pos)
{
    (void)f, (void)t;
    memcpy(written + *pos, buf, len);
    *pos += len;
    change_make();
    return (int64_t)len;
}

static int64_t
hostile_read(struct file *f, struct task *t, void *buf, size_t len,
             uint64_t *pos)
{
    (void)f, (void)t;
    memset(buf, 'r', len);
    *pos += len;
    change_make();
    return (int64_t)len;
}

static short
hostile_poll(struct file *f, struct poll_table *pt)
{
    (void)f, (void)pt;
    change_make();
    return POLLIN;
}

static const struct file_ops hostile_ops = {
    .read = hostile_read, .write = hostile_write, .poll = hostile_poll};

static int
hostile_fd(struct task *t)
{
    struct file *f;

    CHECK_EQ(file_new(&t->kernel->vfs, &hostile_ops, NULL, O_RDWR, &f), 0);
    f->has_pos = true;
    return fd_install(t, f, 0, false);
}

static const uint32_t two_pieces[4] = {BUF, 4, BUF + 4, 4};
static const uint32_t no_memory[2] = {UINT32_MAX - 8, 8};

TEST(guest_iovecs_that_change_during_a_write_are_those_that_were_checked)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    int fd = hostile_fd(t);

    memcpy(world_at(t, IOV), two_pieces, sizeof two_pieces);
    (void)world_str(t, BUF, "one two ");
    change_set(t, IOV + 8, no_memory, sizeof no_memory);
    CHECK_EQ(SYS(t, NR_writev, (uint32_t)fd, IOV, 2), 8);
    CHECK(!memcmp(written, "one two ", 8));
    kernel_free(k);
}

TEST(guest_iovecs_that_change_during_a_read_are_those_that_were_checked)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    int fd = hostile_fd(t);

    memcpy(world_at(t, IOV), two_pieces, sizeof two_pieces);
    change_set(t, IOV + 8, no_memory, sizeof no_memory);
    CHECK_EQ(SYS(t, NR_readv, (uint32_t)fd, IOV, 2), 8);
    CHECK(!memcmp(world_at(t, BUF), "rrrrrrrr", 8));
    kernel_free(k);
}

TEST(guest_set_of_select_that_changes_is_the_one_that_was_checked)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    int fd = hostile_fd(t);
    uint32_t set = UINT32_C(1) << fd, all = UINT32_MAX, got;

    memcpy(world_at(t, SETS), &set, sizeof set);
    change_set(t, SETS, &all, sizeof all);
    CHECK_EQ(SYS(t, NR_pselect6, 32, SETS), 1);
    memcpy(&got, world_at(t, SETS), sizeof got);
    CHECK_EQ(got, set);
    kernel_free(k);
}

/* --- paths */

static const struct fs_ops *real_ops;

static int
hostile_lookup(struct fs *fs, uint64_t dir, struct name name, uint64_t *ret_ino)
{
    int r = real_ops->lookup(fs, dir, name, ret_ino);

    change_make();
    return r;
}

struct walked {
    struct kernel *k;
    struct task *t;
    struct fs_ops ops;
};

/* A task whose root changes guest memory during a lookup. */
static void
walked_init(struct walked *w)
{
    w->k = world_new();
    w->t = world_task(w->k);
    CHECK_EQ(world_make(w->k, NULL, "/d", S_IFDIR | 0777), 0);
    CHECK_EQ(world_file(w->k, "/d/good", "good"), 0);
    CHECK_EQ(world_file(w->k, "/d/evil", "evil"), 0);
    struct fs *root = mount_root(&w->k->vfs)->fs;
    real_ops = root->ops;
    w->ops = *real_ops;
    w->ops.lookup = hostile_lookup;
    root->ops = &w->ops;
}

static void
walked_fini(struct walked *w)
{
    mount_root(&w->k->vfs)->fs->ops = real_ops;
    kernel_free(w->k);
}

TEST(guest_path_that_changes_during_its_walk_is_the_one_that_was_copied)
{
    struct walked w;

    walked_init(&w);
    gaddr path = world_str(w.t, PATH, "/d/good");
    change_set(w.t, PATH + 3, "evil", 4);
    int fd = SYS(w.t, NR_openat, (uint32_t)AT_FDCWD, path, O_RDONLY);
    CHECK(fd >= 0);
    CHECK_EQ(SYS(w.t, NR_read, (uint32_t)fd, BUF, 4), 4);
    CHECK(!memcmp(world_at(w.t, BUF), "good", 4));
    walked_fini(&w);
}

TEST(guest_path_keeps_its_end_when_the_guest_removes_it)
{
    struct walked w;

    walked_init(&w);
    memset(world_at(w.t, PATH), 'x', 2 * PATH_BYTES_MAX);
    gaddr path = world_str(w.t, PATH, "/d/good");
    change_set(w.t, PATH + 7, "xxxx", 4);
    CHECK_EQ(SYS(w.t, NR_faccessat, (uint32_t)AT_FDCWD, path, 0), 0);
    walked_fini(&w);
}

TEST(guest_paths_of_a_rename_are_both_copied_before_it_begins)
{
    struct walked w;

    walked_init(&w);
    gaddr from = world_str(w.t, PATH, "/d/good");
    gaddr to = world_str(w.t, PATH2, "/d/new");
    change_set(w.t, PATH2, "/d/evil", 8);
    CHECK_EQ(SYS(w.t, NR_renameat2, (uint32_t)AT_FDCWD, from,
                 (uint32_t)AT_FDCWD, to),
             0);
    CHECK_EQ(SYS(w.t, NR_faccessat, (uint32_t)AT_FDCWD,
                 world_str(w.t, PATH, "/d/new"), 0),
             0);
    int fd = SYS(w.t, NR_openat, (uint32_t)AT_FDCWD,
                 world_str(w.t, PATH, "/d/evil"), O_RDONLY);
    CHECK_EQ(SYS(w.t, NR_read, (uint32_t)fd, BUF, 4), 4);
    CHECK(!memcmp(world_at(w.t, BUF), "evil", 4));
    walked_fini(&w);
}

TEST(guest_string_ends_within_its_buffer)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    char buf[5], *copy;

    (void)world_str(t, PATH, "four");
    CHECK_EQ(guest_string(t, PATH, buf, sizeof buf), 4);
    CHECK(!strcmp(buf, "four"));
    (void)world_str(t, PATH, "fives");
    CHECK_EQ(guest_string(t, PATH, buf, sizeof buf), -ENAMETOOLONG);
    CHECK_EQ(guest_strdup(t, PATH, 5, &copy), -ENAMETOOLONG);
    CHECK_EQ(guest_strdup(t, FAKE_MEMORY_BYTES, 5, &copy), -EFAULT);
    EACH_OOM(oom) {
        int r = guest_strdup(t, PATH, 6, &copy);
        CHECK(r == 0 || r == -ENOMEM);
        if (r == 0) {
            CHECK(!strcmp(copy, "fives"));
            free(copy);
        }
    }
    kernel_free(k);
}
