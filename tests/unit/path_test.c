/* Path resolution. */
#include "world.h"

#include "kernel/vfs/tmpfs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The tree: /d/e/f (a file), /m (a mount with /m/s/g), links. */
struct place {
    struct kernel *k;
    struct task *t;
    struct walk w;
};

static void
link_to(struct place *p, const char *path, const char *target)
{
    struct vnode root = world_root(p->k);
    struct at at = {.vfs = &p->k->vfs, .base = &root, .path = path};

    CHECK_EQ(vfs_symlink(&at, target), 0);
}

static void
place_init(struct place *p)
{
    struct fs *fs;

    p->k = world_new();
    p->t = world_task(p->k);
    CHECK_EQ(world_make(p->k, NULL, "/d", S_IFDIR | 0755), 0);
    CHECK_EQ(world_make(p->k, NULL, "/d/e", S_IFDIR | 0755), 0);
    CHECK_EQ(world_make(p->k, NULL, "/d/e/f", S_IFREG | 0644), 0);
    CHECK_EQ(tmpfs_new(&p->k->vfs, NULL, 1 << 20, 100, &fs), 0);
    CHECK_EQ(world_mount(p->k, "/m", fs), 0);
    CHECK_EQ(world_make(p->k, NULL, "/m/s", S_IFDIR | 0755), 0);
    CHECK_EQ(world_make(p->k, NULL, "/m/s/g", S_IFREG | 0644), 0);
    link_to(p, "/file", "d/e/f");
    link_to(p, "/dir", "/d/e");
    link_to(p, "/up", "d/..");
    link_to(p, "/gone", "nowhere");
    link_to(p, "/loop", "loop");
    link_to(p, "/d/over", "../m/s");
}

static int
walk(struct place *p, const char *path, unsigned flags)
{
    memset(&p->w, 0xee, sizeof p->w);
    return world_walk(p->k, p->t, &p->t->cwd, path, flags, &p->w);
}

/* Do two paths lead to the same inode? */
static bool
is_same(struct place *p, const char *a, const char *b)
{
    struct vnode first;

    if (walk(p, a, 0) < 0)
        return false;
    first = p->w.node;
    return walk(p, b, 0) == 0 && vnode_is_same(&first, &p->w.node);
}

TEST(path_leads_to_an_inode)
{
    struct place p;

    place_init(&p);
    CHECK_EQ(walk(&p, "/d/e/f", 0), 0);
    CHECK_EQ(p.w.len, 1);
    CHECK(!strcmp(p.w.name, "f"));
    CHECK(!p.w.slash);
    CHECK(is_same(&p, "/d/e", "d//e"));
    CHECK(is_same(&p, "/d/e", "/d/./e/."));
    CHECK(is_same(&p, "/", "."));
    CHECK(is_same(&p, "/", "//"));
    CHECK_EQ(walk(&p, "", 0), -ENOENT);
    CHECK_EQ(walk(&p, "/x", 0), -ENOENT);
    CHECK_EQ(walk(&p, "/x/y", 0), -ENOENT);
    CHECK_EQ(walk(&p, "/d/e/f/x", 0), -ENOTDIR);
    CHECK_EQ(walk(&p, "/d/e/f/.", 0), -ENOTDIR);
    CHECK_EQ(walk(&p, "/d/e/f/..", 0), -ENOTDIR);
    kernel_free(p.k);
}

TEST(path_dot_dot_goes_up_and_stays_at_the_root)
{
    struct place p;

    place_init(&p);
    CHECK(is_same(&p, "/d/e/..", "/d"));
    CHECK(is_same(&p, "/d/e/../../d", "/d"));
    CHECK(is_same(&p, "/..", "/"));
    CHECK(is_same(&p, "../../../d", "/d"));
    CHECK_EQ(walk(&p, "/d/..", 0), 0);
    CHECK_EQ(p.w.len, 0);
    kernel_free(p.k);
}

TEST(path_dot_dot_stays_at_the_root_of_the_task)
{
    struct place p;

    place_init(&p);
    CHECK_EQ(walk(&p, "/d", 0), 0);
    struct vnode root = p.t->as.root;
    p.t->as.root = p.w.node;
    CHECK(is_same(&p, "/..", "/"));
    CHECK(is_same(&p, "/e/../../../e/f", "/e/f"));
    CHECK_EQ(walk(&p, "/d", 0), -ENOENT);
    CHECK_EQ(walk(&p, "/over", 0), -ENOENT);
    p.t->as.root = root;
    kernel_free(p.k);
}

TEST(path_slash_at_the_end_asks_for_a_directory)
{
    struct place p;

    place_init(&p);
    CHECK_EQ(walk(&p, "/d/e/", 0), 0);
    CHECK(p.w.slash);
    CHECK_EQ(p.w.len, 1);
    CHECK_EQ(walk(&p, "/d/e///", 0), 0);
    CHECK_EQ(walk(&p, "/d/e/f/", 0), -ENOTDIR);
    CHECK_EQ(walk(&p, "/file/", 0), -ENOTDIR);
    CHECK_EQ(walk(&p, "/dir/", WALK_NOFOLLOW), 0);
    CHECK(is_same(&p, "/dir/", "/d/e"));
    CHECK_EQ(walk(&p, "/x/", 0), -ENOENT);
    CHECK_EQ(walk(&p, "/d/e/f", WALK_DIRECTORY), -ENOTDIR);
    CHECK_EQ(walk(&p, "/d/e", WALK_DIRECTORY), 0);
    CHECK_EQ(walk(&p, "/d/e/.", WALK_DIRECTORY), 0);
    kernel_free(p.k);
}

TEST(path_follows_links)
{
    struct place p;

    place_init(&p);
    CHECK(is_same(&p, "/file", "/d/e/f"));
    CHECK(is_same(&p, "/dir/f", "/d/e/f"));
    CHECK(is_same(&p, "/dir/..", "/d"));
    CHECK(is_same(&p, "/up", "/"));
    CHECK(is_same(&p, "/up/up/up/file", "/d/e/f"));
    CHECK(!is_same(&p, "/file", "/dir"));
    CHECK_EQ(walk(&p, "/file", WALK_NOFOLLOW), 0);
    CHECK(!strcmp(p.w.name, "file"));
    CHECK_EQ(walk(&p, "/dir/f", WALK_NOFOLLOW), 0);
    CHECK(!strcmp(p.w.name, "f"));
    CHECK_EQ(walk(&p, "/gone", 0), -ENOENT);
    CHECK_EQ(walk(&p, "/gone", WALK_NOFOLLOW), 0);
    CHECK_EQ(walk(&p, "/file/x", 0), -ENOTDIR);
    kernel_free(p.k);
}

TEST(path_forty_links_and_no_more)
{
    struct place p;
    char path[16], target[16];

    place_init(&p);
    for (int i = 1; i <= SYMLINKS_MAX + 1; i++) {
        snprintf(path, sizeof path, "/l%d", i);
        snprintf(target, sizeof target, i == 1 ? "d" : "l%d", i - 1);
        link_to(&p, path, target);
    }
    CHECK(is_same(&p, "/l40", "/d"));
    CHECK_EQ(walk(&p, "/l41", 0), -ELOOP);
    CHECK_EQ(walk(&p, "/l41", WALK_NOFOLLOW), 0);
    CHECK_EQ(walk(&p, "/loop", 0), -ELOOP);
    CHECK_EQ(walk(&p, "/loop/x", WALK_NOFOLLOW), -ELOOP);
    CHECK_EQ(walk(&p, "/l20/../l20/e", 0), 0);
    CHECK_EQ(walk(&p, "/l20/../l21/e", 0), -ELOOP);
    kernel_free(p.k);
}

TEST(path_parent_may_lack_the_last_name)
{
    struct place p;

    place_init(&p);
    CHECK_EQ(walk(&p, "/d/new", WALK_PARENT), 0);
    CHECK(!p.w.node.mnt);
    CHECK(!strcmp(p.w.name, "new"));
    CHECK_EQ(walk(&p, "/d/new/", WALK_PARENT), 0);
    CHECK(p.w.slash);
    CHECK_EQ(walk(&p, "/x/new", WALK_PARENT), -ENOENT);
    CHECK_EQ(walk(&p, "/gone", WALK_PARENT), 0);
    CHECK(!p.w.node.mnt);
    CHECK(!strcmp(p.w.name, "nowhere"));
    CHECK_EQ(walk(&p, "/gone", WALK_PARENT | WALK_NAME), 0);
    CHECK(p.w.node.mnt);
    CHECK(!strcmp(p.w.name, "gone"));
    kernel_free(p.k);
}

TEST(path_name_is_the_last_one_even_before_a_slash)
{
    struct place p;

    place_init(&p);
    CHECK_EQ(walk(&p, "/dir/", WALK_NAME), 0);
    CHECK(!strcmp(p.w.name, "dir"));
    CHECK(p.w.slash);
    CHECK_EQ(walk(&p, "/file/", WALK_NAME), 0);
    CHECK(!strcmp(p.w.name, "file"));
    CHECK_EQ(walk(&p, "/d/e/f/", WALK_NAME), 0);
    CHECK_EQ(walk(&p, "/d/.", WALK_NAME), 0);
    CHECK_EQ(p.w.len, 0);
    kernel_free(p.k);
}

TEST(path_crosses_mounts_both_ways)
{
    struct place p;

    place_init(&p);
    CHECK_EQ(walk(&p, "/m", 0), 0);
    CHECK(p.w.node.mnt != p.w.dir.mnt);
    CHECK(is_same(&p, "/m/..", "/"));
    CHECK(is_same(&p, "/m/s/../..", "/"));
    CHECK(is_same(&p, "/d/over/g", "/m/s/g"));
    CHECK(is_same(&p, "/d/over/../../d", "/d"));
    kernel_free(p.k);
}

TEST(path_mounts_stack)
{
    struct place p;
    struct fs *fs;

    place_init(&p);
    CHECK_EQ(tmpfs_new(&p.k->vfs, NULL, 1000, 10, &fs), 0);
    CHECK_EQ(world_mount(p.k, "/m", fs), 0);
    CHECK_EQ(walk(&p, "/m/s", 0), -ENOENT);
    CHECK(is_same(&p, "/m/..", "/"));
    CHECK_EQ(tmpfs_new(&p.k->vfs, NULL, 1000, 10, &fs), 0);
    CHECK_EQ(world_mount(p.k, "/m/deep/er", fs), 0);
    CHECK(is_same(&p, "/m/deep/er/../..", "/m"));
    kernel_free(p.k);
}

TEST(path_long_names_and_links)
{
    struct place p;
    char name[2 + NAME_BYTES_MAX + 1] = "/";

    place_init(&p);
    memset(name + 1, 'n', NAME_BYTES_MAX + 1);
    CHECK_EQ(walk(&p, name, 0), -ENAMETOOLONG);
    CHECK_EQ(walk(&p, name, WALK_PARENT), -ENAMETOOLONG);
    name[1 + NAME_BYTES_MAX] = 0;
    CHECK_EQ(walk(&p, name, 0), -ENOENT);
    CHECK_EQ(world_make(p.k, NULL, name, S_IFREG | 0600), 0);
    CHECK_EQ(walk(&p, name, 0), 0);
    CHECK_EQ(p.w.len, NAME_BYTES_MAX);

    char *target = calloc(1, PATH_BYTES_MAX);
    memset(target, '/', PATH_BYTES_MAX - 2);
    target[PATH_BYTES_MAX - 2] = 'd';
    link_to(&p, "/long", target);
    CHECK(is_same(&p, "/long", "/d"));
    CHECK(is_same(&p, "/long/e/f", "/d/e/f"));
    free(target);
    kernel_free(p.k);
}

TEST(path_argument_of_a_call_ends_in_time)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    int err;

    memset(world_at(t, 256), '/', PATH_BYTES_MAX);
    CHECK(!guest_path(t, 0, 256, &err));
    CHECK_EQ(err, -ENAMETOOLONG);
    *(char *)world_at(t, 256 + PATH_BYTES_MAX - 1) = 0;
    CHECK(guest_path(t, 0, 256, &err));
    memset(world_at(t, FAKE_MEMORY_BYTES - 4), 'x', 4);
    CHECK(!guest_path(t, 0, FAKE_MEMORY_BYTES - 4, &err));
    CHECK_EQ(err, -EFAULT);
    CHECK(!guest_path(t, 0, FAKE_MEMORY_BYTES, &err));
    CHECK_EQ(err, -EFAULT);
    CHECK(!guest_path(t, 0, UINT32_MAX, &err));
    kernel_free(k);
}

TEST(path_argument_may_lie_in_memory_that_has_just_grown)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    char buf[8];
    int err;

    memcpy(world_at(t, 1020), "/a/b/c", 7);
    t->thread->machine->size = 1024;
    CHECK(guest_path(t, 0, 1020, &err));
    t->thread->machine->size = 1024;
    CHECK_EQ(guest_string(t, 1020, buf, sizeof buf), 6);
    kernel_free(k);
}

TEST(path_needs_search_permission_on_the_way)
{
    struct place p;
    struct attr a = {.mode = S_IFDIR | 0766};

    place_init(&p);
    CHECK_EQ(walk(&p, "/d/e", 0), 0);
    struct vnode e = p.w.node;
    CHECK_EQ(vnode_setattr(NULL, &e, &a, ATTR_MODE, false), 0);
    CHECK_EQ(walk(&p, "/d/e", 0), 0);
    CHECK_EQ(walk(&p, "/d/e/f", 0), -EACCES);
    CHECK_EQ(walk(&p, "/d/e/missing", 0), -EACCES);
    CHECK_EQ(walk(&p, "/d/e/..", 0), -EACCES);
    CHECK_EQ(walk(&p, "/d/e/.", 0), -EACCES);
    CHECK_EQ(world_walk(p.k, NULL, &p.t->cwd, "/d/e/f", 0, &p.w), 0);
    p.t->as.cred = cred_of(0);
    CHECK_EQ(walk(&p, "/d/e/f", 0), 0);
    kernel_free(p.k);
}

TEST(path_beneath_does_not_leave_its_base)
{
    struct place p;

    place_init(&p);
    CHECK_EQ(walk(&p, "/d", 0), 0);
    struct vnode d = p.w.node;
    link_to(&p, "/d/in", "e/../e/f");
    link_to(&p, "/d/abs", "/d/e");
    const struct {
        const char *path;
        int r;
    } cases[] = {
        {"e/f", 0},        {"e/..", 0},         {"in", 0},
        {"..", -EPERM},    {"e/../..", -EPERM}, {"abs", -EPERM},
        {"abs/f", -EPERM}, {"over", -EPERM},    {"/d/e", -EPERM},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        CHECK_EQ(world_walk(p.k, p.t, &d, cases[i].path, WALK_BENEATH, &p.w),
                 cases[i].r);
    CHECK_EQ(
        world_walk(p.k, p.t, &d, "over", WALK_BENEATH | WALK_NOFOLLOW, &p.w),
        0);
    kernel_free(p.k);
}

TEST(path_without_memory_for_a_link)
{
    EACH_OOM(oom) {
        struct place p;
        test_fail_alloc(0);
        place_init(&p);
        test_fail_alloc(oom);
        int r = walk(&p, "/up/dir/f", 0);
        bool failed = test_alloc_failed();
        CHECK_EQ(r, failed ? -ENOMEM : 0);
        kernel_free(p.k);
        if (!failed)
            break;
    }
}

TEST(path_of_a_directory)
{
    struct place p;
    char buf[64];

    place_init(&p);
    const char *const paths[] = {"/", "/d", "/d/e", "/m", "/m/s"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        CHECK_EQ(walk(&p, paths[i], 0), 0);
        int64_t n = vnode_path(&p.w.node, buf, sizeof buf);
        CHECK_EQ(n, strlen(paths[i]));
        CHECK(!strcmp(buf, paths[i]));
        CHECK_EQ(vnode_path(&p.w.node, buf, strlen(paths[i])), -ERANGE);
    }
    kernel_free(p.k);
}
