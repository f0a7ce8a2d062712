/* rename, with all its cases. */
#include "world.h"

#include "kernel/vfs/tmpfs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* /f1 and /f2 files, /d1 (with /d1/s), /d2 (empty), /l -> f1, /m a mount. */
struct place {
    struct kernel *k;
    struct task *t;
};

static void
place_init(struct place *p)
{
    struct fs *fs;

    p->k = world_new();
    p->t = world_task(p->k);
    CHECK_EQ(world_make(p->k, p->t, "/f1", S_IFREG | 0644), 0);
    CHECK_EQ(world_make(p->k, p->t, "/f2", S_IFREG | 0644), 0);
    CHECK_EQ(world_make(p->k, p->t, "/d1", S_IFDIR | 0755), 0);
    CHECK_EQ(world_make(p->k, p->t, "/d1/s", S_IFDIR | 0755), 0);
    CHECK_EQ(world_make(p->k, p->t, "/d2", S_IFDIR | 0755), 0);
    struct vnode root = world_root(p->k);
    struct at at = {
        .vfs = &p->k->vfs, .as = &p->t->as, .base = &root, .path = "/l"};
    CHECK_EQ(vfs_symlink(&at, "f1"), 0);
    CHECK_EQ(tmpfs_new(&p->k->vfs, NULL, 1000, 10, &fs), 0);
    CHECK_EQ(world_mount(p->k, "/m", fs), 0);
    CHECK_EQ(world_make(p->k, NULL, "/m/f", S_IFREG | 0644), 0);
}

static int
move(struct place *p, const char *from, const char *to, unsigned flags)
{
    struct vnode root = world_root(p->k);
    struct at
        a = {.vfs = &p->k->vfs, .as = &p->t->as, .base = &root, .path = from},
        b = {.vfs = &p->k->vfs, .as = &p->t->as, .base = &root, .path = to};

    return vfs_rename(&a, &b, flags);
}

/* 0: missing. */
static uint64_t
ino_of(struct place *p, const char *path)
{
    struct vnode root = world_root(p->k);
    struct walk w;

    return world_walk(p->k, NULL, &root, path, WALK_NOFOLLOW, &w) < 0
               ? 0
               : w.node.ino;
}

TEST(rename_moves_and_replaces)
{
    struct place p;

    place_init(&p);
    uint64_t f1 = ino_of(&p, "/f1"), s = ino_of(&p, "/d1/s");
    CHECK_EQ(move(&p, "/f1", "/d1/x", 0), 0);
    CHECK_EQ(ino_of(&p, "/d1/x"), f1);
    CHECK_EQ(ino_of(&p, "/f1"), 0);
    CHECK_EQ(move(&p, "/d1/x", "/f2", 0), 0);
    CHECK_EQ(ino_of(&p, "/f2"), f1);
    CHECK_EQ(move(&p, "/f2", "/f2", 0), 0);
    CHECK_EQ(move(&p, "/d1/s", "/d2", 0), 0);
    CHECK_EQ(ino_of(&p, "/d2"), s);
    CHECK_EQ(ino_of(&p, "/d2/.."), ino_of(&p, "/"));
    kernel_free(p.k);
}

TEST(rename_error_cases)
{
    const struct {
        const char *from, *to;
        unsigned flags;
        int r;
    } cases[] = {
        {"/none", "/x", 0, -ENOENT},
        {"/f1", "/none/x", 0, -ENOENT},
        {"/f1/x", "/x", 0, -ENOTDIR},
        {"/f1", "/d2", 0, -EISDIR},
        {"/d1", "/f1", 0, -ENOTDIR},
        {"/d2", "/d1", 0, -ENOTEMPTY},
        {"/d1", "/d1/s/x", 0, -EINVAL},
        {"/d1", "/d1/x", 0, -EINVAL},
        {"/d1/s", "/d1", 0, -ENOTEMPTY},
        {"/f1/", "/x", 0, -ENOTDIR},
        {"/f1", "/x/", 0, -ENOTDIR},
        {"/l/", "/x", 0, -ENOTDIR},
        {"/", "/x", 0, -EBUSY},
        {"/f1", "/", 0, -EBUSY},
        {"/d1/.", "/x", 0, -EBUSY},
        {"/d1/..", "/x", 0, -EBUSY},
        {"/f1", "/d1/..", RENAME_NOREPLACE, -EEXIST},
        {"/m", "/x", 0, -EBUSY},
        {"/d2", "/m", 0, -EBUSY},
        {"/f1", "/m/x", 0, -EXDEV},
        {"/m/f", "/x", 0, -EXDEV},
        {"/f1", "/f2", RENAME_NOREPLACE, -EEXIST},
        {"/f1", "/f1", RENAME_NOREPLACE, -EEXIST},
        {"/f1", "/none", RENAME_EXCHANGE, -ENOENT},
        {"/d1", "/d1/s", RENAME_EXCHANGE, -EINVAL},
        {"/d1/s", "/d1", RENAME_EXCHANGE, -EINVAL},
        {"/f1", "/f2", RENAME_EXCHANGE | RENAME_NOREPLACE, -EINVAL},
        {"/f1", "/f2", 8, -EINVAL},
        {"", "/x", 0, -ENOENT},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct place p;
        place_init(&p);
        int r = move(&p, cases[i].from, cases[i].to, cases[i].flags);
        if (r != cases[i].r)
            printf("  rename %s %s:\n", cases[i].from, cases[i].to);
        CHECK_EQ(r, cases[i].r);
        kernel_free(p.k);
    }
}

TEST(rename_directories_may_end_in_a_slash)
{
    struct place p;

    place_init(&p);
    CHECK_EQ(move(&p, "/d2/", "/d3/", 0), 0);
    CHECK(ino_of(&p, "/d3"));
    kernel_free(p.k);
}

TEST(rename_of_a_link_moves_the_link)
{
    struct place p;

    place_init(&p);
    uint64_t l = ino_of(&p, "/l"), f1 = ino_of(&p, "/f1");
    CHECK_EQ(move(&p, "/l", "/l2", 0), 0);
    CHECK_EQ(ino_of(&p, "/l2"), l);
    CHECK_EQ(move(&p, "/f2", "/l2", 0), 0);
    CHECK_EQ(ino_of(&p, "/f1"), f1);
    kernel_free(p.k);
}

TEST(rename_of_two_names_of_one_file_does_nothing)
{
    struct place p;

    place_init(&p);
    struct vnode root = world_root(p.k);
    struct at
        a = {.vfs = &p.k->vfs, .as = &p.t->as, .base = &root, .path = "/f1"},
        b = {.vfs = &p.k->vfs, .as = &p.t->as, .base = &root, .path = "/h"};
    CHECK_EQ(vfs_link(&a, &b, 0), 0);
    CHECK_EQ(move(&p, "/f1", "/h", 0), 0);
    CHECK(ino_of(&p, "/f1") && ino_of(&p, "/f1") == ino_of(&p, "/h"));
    kernel_free(p.k);
}

TEST(rename_exchange_swaps_kinds)
{
    struct place p;

    place_init(&p);
    uint64_t f1 = ino_of(&p, "/f1"), s = ino_of(&p, "/d1/s");
    CHECK_EQ(move(&p, "/f1", "/d1/s", RENAME_EXCHANGE), 0);
    CHECK_EQ(ino_of(&p, "/d1/s"), f1);
    CHECK_EQ(ino_of(&p, "/f1"), s);
    CHECK_EQ(ino_of(&p, "/f1/.."), ino_of(&p, "/"));
    kernel_free(p.k);
}

static void
set_mode(struct place *p, const char *path, uint32_t mode, uint32_t uid)
{
    struct vnode root = world_root(p->k);
    struct attr a = {.mode = mode, .uid = uid, .gid = uid};
    struct walk w;

    CHECK_EQ(world_walk(p->k, NULL, &root, path, WALK_NOFOLLOW, &w), 0);
    CHECK_EQ(vnode_setattr(NULL, &w.node, &a, ATTR_MODE | ATTR_UID | ATTR_GID,
                           false),
             0);
}

TEST(rename_needs_both_directories_writable)
{
    struct place p;

    place_init(&p);
    set_mode(&p, "/d2", 0555, 1000);
    CHECK_EQ(move(&p, "/f1", "/d2/x", 0), -EACCES);
    set_mode(&p, "/d2", 0755, 1000);
    CHECK_EQ(move(&p, "/f1", "/d2/x", 0), 0);
    set_mode(&p, "/d2", 0555, 1000);
    CHECK_EQ(move(&p, "/d2/x", "/f1", 0), -EACCES);
    kernel_free(p.k);
}

TEST(rename_of_a_directory_to_another_parent_writes_to_it)
{
    struct place p;

    place_init(&p);
    set_mode(&p, "/d1/s", 0555, 1000);
    CHECK_EQ(move(&p, "/d1/s", "/d1/t", 0), 0);
    CHECK_EQ(move(&p, "/d1/t", "/d2/t", 0), -EACCES);
    kernel_free(p.k);
}

TEST(rename_in_a_sticky_directory_needs_ownership)
{
    struct place p;

    place_init(&p);
    set_mode(&p, "/d1", 01777, 5);
    CHECK_EQ(world_make(p.k, p.t, "/d1/mine", S_IFREG | 0644), 0);
    CHECK_EQ(world_make(p.k, NULL, "/d1/roots", S_IFREG | 0666), 0);
    CHECK_EQ(move(&p, "/d1/roots", "/d1/x", 0), -EPERM);
    CHECK_EQ(move(&p, "/d1/mine", "/d1/roots", 0), -EPERM);
    CHECK_EQ(move(&p, "/d1/roots", "/d1/mine", RENAME_EXCHANGE), -EPERM);
    CHECK_EQ(move(&p, "/d1/mine", "/d1/x", 0), 0);
    set_mode(&p, "/d1", 01777, 1000);
    CHECK_EQ(move(&p, "/d1/roots", "/d1/y", 0), 0);
    kernel_free(p.k);
}

TEST(rename_survives_failing_allocations)
{
    EACH_OOM(oom) {
        struct place p;
        test_fail_alloc(0);
        place_init(&p);
        uint64_t f1 = ino_of(&p, "/f1");
        test_fail_alloc(oom);
        int r = move(&p, "/f1", "/d1/x", 0);
        bool failed = test_alloc_failed();
        CHECK(r == 0 || (failed && r == -ENOMEM));
        CHECK_EQ(ino_of(&p, r == 0 ? "/d1/x" : "/f1"), f1);
        CHECK_EQ(ino_of(&p, r == 0 ? "/f1" : "/d1/x"), 0);
        kernel_free(p.k);
        if (!failed)
            break;
    }
}
