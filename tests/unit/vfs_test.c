/* Operations on paths: permissions, sticky and set-group directories,
 * read-only mounts. */
#include "world.h"

#include "kernel/vfs/tmpfs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

struct place {
    struct kernel *k;
    struct task *t;
    struct vnode root;
};

static void
place_init(struct place *p)
{
    p->k = world_new();
    p->t = world_task(p->k);
    p->root = world_root(p->k);
}

static struct at
at(struct place *p, const char *path)
{
    return (struct at){
        .vfs = &p->k->vfs, .as = &p->t->as, .base = &p->root, .path = path};
}

static int
walk(struct place *p, const char *path, struct vnode *ret)
{
    struct walk w;
    int r = world_walk(p->k, NULL, &p->root, path, WALK_NOFOLLOW, &w);

    *ret = w.node;
    return r;
}

static struct attr
attr_of(struct place *p, const char *path)
{
    struct attr a = {0};
    struct vnode v;

    CHECK_EQ(walk(p, path, &v), 0);
    CHECK_EQ(vnode_getattr(&v, &a), 0);
    return a;
}

/* As root. */
static void
set(struct place *p, const char *path, uint32_t mode, uint32_t uid,
    uint32_t gid)
{
    struct attr a = {.mode = mode, .uid = uid, .gid = gid};
    struct vnode v;

    CHECK_EQ(walk(p, path, &v), 0);
    CHECK_EQ(
        vnode_setattr(NULL, &v, &a, ATTR_MODE | ATTR_UID | ATTR_GID, false), 0);
}

static int
make(struct place *p, const char *path, uint32_t mode)
{
    struct at a = at(p, path);

    return vfs_make(&a, mode);
}

static int
unlink_path(struct place *p, const char *path, int flags)
{
    struct at a = at(p, path);

    return vfs_unlink(&a, flags);
}

static int
link_paths(struct place *p, const char *from, const char *to)
{
    struct at a = at(p, from), b = at(p, to);

    return vfs_link(&a, &b, WALK_NOFOLLOW);
}

static int
symlink_path(struct place *p, const char *path, const char *target)
{
    struct at a = at(p, path);

    return vfs_symlink(&a, target);
}

static int
change(struct place *p, const char *path, const struct attr *a, unsigned what,
       bool now)
{
    struct vnode v;
    int r = walk(p, path, &v);

    return r < 0 ? r : vnode_setattr(&p->t->as, &v, a, what, now);
}

TEST(vfs_access_is_decided_by_owner_group_or_others)
{
    enum { OWNER, GROUP, OTHER };
    const struct cred who[] = {
        {.uid = 5, .gid = 9}, {.uid = 6, .gid = 7}, {.uid = 6, .gid = 9}};

    for (uint32_t bits = 0; bits < 01000; bits++)
        for (int i = OWNER; i <= OTHER; i++)
            for (int want = 0; want <= 7; want++) {
                struct attr a = {.mode = S_IFREG | bits, .uid = 5, .gid = 7};
                uint32_t mine = bits >> (6 - 3 * i) & 7;
                bool may = ((uint32_t)want & ~mine) == 0;
                CHECK_EQ(vfs_access(&who[i], &a, want), may ? 0 : -EACCES);
            }
}

TEST(vfs_owner_in_the_group_has_only_the_owners_rights)
{
    struct attr a = {.mode = S_IFREG | 0077, .uid = 5, .gid = 7};

    CHECK_EQ(vfs_access(&(struct cred){.uid = 5, .gid = 7}, &a, R_OK), -EACCES);
    a.mode = S_IFREG | 0707;
    CHECK_EQ(vfs_access(&(struct cred){.uid = 6, .gid = 7}, &a, R_OK), -EACCES);
}

TEST(vfs_root_may_all_but_execute_what_nobody_may)
{
    const struct cred root = cred_of(0);
    struct attr a = {.mode = S_IFREG, .uid = 5, .gid = 7};

    CHECK_EQ(vfs_access(&root, &a, R_OK | W_OK), 0);
    CHECK_EQ(vfs_access(&root, &a, X_OK), -EACCES);
    a.mode = S_IFREG | 0010;
    CHECK_EQ(vfs_access(&root, &a, X_OK), 0);
    a.mode = S_IFDIR;
    CHECK_EQ(vfs_access(&root, &a, X_OK), 0);
}

TEST(vfs_root_has_no_more_rights_to_the_files_of_others_on_the_host)
{
    const struct cred root = cred_of(0);
    struct attr a = {.mode = S_IFREG | 0640,
                     .uid = NOBODY_ID,
                     .gid = NOBODY_ID,
                     .is_hosts = true};

    CHECK_EQ(vfs_access(&root, &a, R_OK), -EACCES);
    a.gid = 1000;
    CHECK_EQ(vfs_access(&root, &a, R_OK), 0);
    CHECK_EQ(vfs_access(&root, &a, W_OK), -EACCES);
    a.uid = 1000;
    CHECK_EQ(vfs_access(&root, &a, W_OK), 0);
}

/* What an operation on names in /d gives, by the mode of /d. */
TEST(vfs_names_change_only_in_directories_with_write_and_search)
{
    for (uint32_t bits = 0; bits <= 7; bits++) {
        struct place p;
        place_init(&p);
        CHECK_EQ(make(&p, "/d", S_IFDIR | 0755), 0);
        CHECK_EQ(make(&p, "/d/f", S_IFREG | 0644), 0);
        CHECK_EQ(make(&p, "/d/e", S_IFDIR | 0755), 0);
        CHECK_EQ(make(&p, "/f", S_IFREG | 0644), 0);
        set(&p, "/d", S_IFDIR | bits << 6, 1000, 1000);
        int r = (bits & 3) == 3 ? 0 : -EACCES;
        CHECK_EQ(make(&p, "/d/new", S_IFREG | 0644), r);
        CHECK_EQ(make(&p, "/d/dir", S_IFDIR | 0755), r);
        CHECK_EQ(make(&p, "/d/fifo", S_IFIFO | 0644), r);
        CHECK_EQ(symlink_path(&p, "/d/l", "x"), r);
        CHECK_EQ(link_paths(&p, "/f", "/d/h"), r);
        CHECK_EQ(unlink_path(&p, "/d/f", 0), r);
        CHECK_EQ(unlink_path(&p, "/d/e", UNLINK_DIR), r);
        kernel_free(p.k);
    }
}

TEST(vfs_unlink_cases)
{
    struct place p;
    struct fs *fs;

    place_init(&p);
    CHECK_EQ(make(&p, "/d", S_IFDIR | 0755), 0);
    CHECK_EQ(make(&p, "/d/e", S_IFDIR | 0755), 0);
    CHECK_EQ(make(&p, "/f", S_IFREG | 0644), 0);
    CHECK_EQ(symlink_path(&p, "/l", "d"), 0);
    CHECK_EQ(tmpfs_new(&p.k->vfs, NULL, 1000, 10, &fs), 0);
    CHECK_EQ(world_mount(p.k, "/m", fs), 0);
    CHECK_EQ(unlink_path(&p, "/none", 0), -ENOENT);
    CHECK_EQ(unlink_path(&p, "/d", 0), -EISDIR);
    CHECK_EQ(unlink_path(&p, "/f", UNLINK_DIR), -ENOTDIR);
    CHECK_EQ(unlink_path(&p, "/f/", 0), -ENOTDIR);
    CHECK_EQ(unlink_path(&p, "/l/", 0), -ENOTDIR);
    CHECK_EQ(unlink_path(&p, "/l/", UNLINK_DIR), -ENOTDIR);
    CHECK_EQ(unlink_path(&p, "/d", UNLINK_DIR), -ENOTEMPTY);
    CHECK_EQ(unlink_path(&p, "/", UNLINK_DIR), -EBUSY);
    CHECK_EQ(unlink_path(&p, "/", 0), -EISDIR);
    CHECK_EQ(unlink_path(&p, "/d/.", UNLINK_DIR), -EINVAL);
    CHECK_EQ(unlink_path(&p, "/d/e/..", UNLINK_DIR), -ENOTEMPTY);
    CHECK_EQ(unlink_path(&p, "/m", UNLINK_DIR), -EBUSY);
    CHECK_EQ(unlink_path(&p, "/l", 0), 0);
    CHECK_EQ(unlink_path(&p, "/d/e/", UNLINK_DIR), 0);
    CHECK_EQ(unlink_path(&p, "/d", UNLINK_DIR), 0);
    kernel_free(p.k);
}

TEST(vfs_sticky_directory_protects_the_names_of_others)
{
    struct place p;

    place_init(&p);
    CHECK_EQ(make(&p, "/tmp", S_IFDIR | 0755), 0);
    set(&p, "/tmp", S_IFDIR | 01777, 0, 0);
    CHECK_EQ(make(&p, "/tmp/mine", S_IFREG | 0644), 0);
    CHECK_EQ(world_make(p.k, NULL, "/tmp/roots", S_IFREG | 0666), 0);
    CHECK_EQ(unlink_path(&p, "/tmp/roots", 0), -EPERM);
    CHECK_EQ(unlink_path(&p, "/tmp/mine", 0), 0);
    set(&p, "/tmp", S_IFDIR | 01777, 1000, 0);
    CHECK_EQ(unlink_path(&p, "/tmp/roots", 0), 0);
    kernel_free(p.k);
}

TEST(vfs_set_group_directory_passes_its_group_on)
{
    struct place p;

    place_init(&p);
    CHECK_EQ(make(&p, "/g", S_IFDIR | 0755), 0);
    set(&p, "/g", S_IFDIR | 02777, 0, 77);
    CHECK_EQ(make(&p, "/g/f", S_IFREG | 0644), 0);
    CHECK_EQ(make(&p, "/g/d", S_IFDIR | 0755), 0);
    struct file *f = world_open(p.k, p.t, "/g/o", O_CREAT | O_RDWR, NULL);
    file_put(f);
    CHECK_EQ(attr_of(&p, "/g/f").gid, 77);
    CHECK_EQ(attr_of(&p, "/g/f").mode, S_IFREG | 0644);
    CHECK_EQ(attr_of(&p, "/g/d").gid, 77);
    CHECK_EQ(attr_of(&p, "/g/d").mode, S_IFDIR | 02755);
    CHECK_EQ(attr_of(&p, "/g/o").gid, 77);
    CHECK_EQ(attr_of(&p, "/g/o").uid, 1000);
    kernel_free(p.k);
}

TEST(vfs_link_cases)
{
    struct place p;
    struct fs *fs;

    place_init(&p);
    CHECK_EQ(make(&p, "/f", S_IFREG | 0644), 0);
    CHECK_EQ(make(&p, "/d", S_IFDIR | 0755), 0);
    CHECK_EQ(tmpfs_new(&p.k->vfs, NULL, 1000, 10, &fs), 0);
    CHECK_EQ(world_mount(p.k, "/m", fs), 0);
    CHECK_EQ(link_paths(&p, "/none", "/x"), -ENOENT);
    CHECK_EQ(link_paths(&p, "/d", "/x"), -EPERM);
    CHECK_EQ(link_paths(&p, "/f", "/d"), -EEXIST);
    CHECK_EQ(link_paths(&p, "/f", "/x/"), -ENOENT);
    set(&p, "/m", S_IFDIR | 0777, 0, 0);
    CHECK_EQ(link_paths(&p, "/f", "/m/x"), -EXDEV);
    CHECK_EQ(link_paths(&p, "/f", "/d/x"), 0);
    CHECK_EQ(attr_of(&p, "/f").nlink, 2);
    kernel_free(p.k);
}

TEST(vfs_making_cases)
{
    struct place p;

    place_init(&p);
    CHECK_EQ(make(&p, "/d/", S_IFDIR | 0755), 0);
    CHECK_EQ(make(&p, "/d", S_IFDIR | 0755), -EEXIST);
    CHECK_EQ(make(&p, "/d/.", S_IFDIR | 0755), -EEXIST);
    CHECK_EQ(make(&p, "/", S_IFDIR | 0755), -EEXIST);
    CHECK_EQ(make(&p, "/f/", S_IFREG | 0644), -ENOENT);
    CHECK_EQ(make(&p, "/none/f", S_IFREG | 0644), -ENOENT);
    CHECK_EQ(symlink_path(&p, "/l", ""), -ENOENT);
    CHECK_EQ(symlink_path(&p, "/l", "missing"), 0);
    CHECK_EQ(make(&p, "/l", S_IFREG | 0644), -EEXIST);
    kernel_free(p.k);
}

TEST(vfs_attributes_belong_to_the_owner)
{
    struct place p;
    const struct attr mode = {.mode = S_IFREG | 0600};
    const struct attr other = {.uid = 5, .gid = 5};
    const struct attr mine = {.uid = 1000, .gid = 1000};

    place_init(&p);
    CHECK_EQ(make(&p, "/mine", S_IFREG | 0644), 0);
    CHECK_EQ(world_make(p.k, NULL, "/roots", S_IFREG | 0666), 0);
    CHECK_EQ(change(&p, "/mine", &mode, ATTR_MODE, false), 0);
    CHECK_EQ(change(&p, "/roots", &mode, ATTR_MODE, false), -EPERM);
    CHECK_EQ(change(&p, "/mine", &other, ATTR_UID, false), -EPERM);
    CHECK_EQ(change(&p, "/mine", &other, ATTR_GID, false), -EPERM);
    CHECK_EQ(change(&p, "/mine", &mine, ATTR_UID | ATTR_GID, false), 0);
    CHECK_EQ(change(&p, "/roots", &mine, ATTR_UID, false), -EPERM);
    CHECK_EQ(change(&p, "/roots", &mine, ATTR_GID, false), -EPERM);
    p.t->as.cred = cred_of(0);
    CHECK_EQ(change(&p, "/mine", &other, ATTR_UID | ATTR_GID, false), 0);
    kernel_free(p.k);
}

TEST(vfs_times_to_now_need_only_write_permission)
{
    struct place p;
    const struct attr a = {.mtime_ns = 7};

    place_init(&p);
    CHECK_EQ(world_make(p.k, NULL, "/rw", S_IFREG | 0666), 0);
    CHECK_EQ(world_make(p.k, NULL, "/ro", S_IFREG | 0644), 0);
    CHECK_EQ(change(&p, "/rw", &a, ATTR_MTIME, true), 0);
    CHECK_EQ(change(&p, "/rw", &a, ATTR_MTIME, false), -EPERM);
    CHECK_EQ(change(&p, "/ro", &a, ATTR_MTIME, true), -EACCES);
    kernel_free(p.k);
}

TEST(vfs_set_id_bits_go_with_changes)
{
    struct place p;
    const struct attr mine = {.uid = 1000, .gid = 1000};
    const struct attr ids = {.mode = S_IFREG | 06755};

    place_init(&p);
    CHECK_EQ(make(&p, "/f", S_IFREG | 0644), 0);
    CHECK_EQ(change(&p, "/f", &ids, ATTR_MODE, false), 0);
    CHECK_EQ(attr_of(&p, "/f").mode, S_IFREG | 06755);
    CHECK_EQ(change(&p, "/f", &mine, ATTR_GID, false), 0);
    CHECK_EQ(attr_of(&p, "/f").mode, S_IFREG | 0755);
    set(&p, "/f", S_IFREG | 0755, 1000, 5);
    CHECK_EQ(change(&p, "/f", &ids, ATTR_MODE, false), 0);
    CHECK_EQ(attr_of(&p, "/f").mode, S_IFREG | 04755);
    kernel_free(p.k);
}

TEST(vfs_read_only_mount_refuses_all_changes)
{
    struct place p;
    struct fs *fs;
    struct attr a = {.mode = 0777};
    uint64_t ino;

    place_init(&p);
    p.t->as.cred = cred_of(0);
    CHECK_EQ(tmpfs_new(&p.k->vfs, NULL, 1 << 20, 10, &fs), 0);
    const struct attr file = {.mode = S_IFREG | 0666};
    const struct attr dir = {.mode = S_IFDIR | 0777};
    CHECK_EQ(
        fs->change->create(fs, fs->root, (struct name){"f", 1}, &file, &ino),
        0);
    CHECK_EQ(
        fs->change->create(fs, fs->root, (struct name){"d", 1}, &dir, &ino), 0);
    CHECK_EQ(mount_add(&p.k->vfs, "/ro", "ro", fs, true), 0);
    CHECK_EQ(make(&p, "/ro/new", S_IFREG | 0644), -EROFS);
    CHECK_EQ(make(&p, "/ro/new", S_IFDIR | 0755), -EROFS);
    CHECK_EQ(make(&p, "/ro/f", S_IFREG | 0644), -EEXIST);
    CHECK_EQ(symlink_path(&p, "/ro/l", "x"), -EROFS);
    CHECK_EQ(link_paths(&p, "/ro/f", "/ro/h"), -EROFS);
    CHECK_EQ(unlink_path(&p, "/ro/f", 0), -EROFS);
    CHECK_EQ(unlink_path(&p, "/ro/d", UNLINK_DIR), -EROFS);
    CHECK_EQ(change(&p, "/ro/f", &a, ATTR_MODE, false), -EROFS);
    struct at from = at(&p, "/ro/f"), to = at(&p, "/ro/g");
    CHECK_EQ(vfs_rename(&from, &to, 0), -EROFS);
    int r;
    (void)world_open(p.k, p.t, "/ro/f", O_RDWR, &r);
    CHECK_EQ(r, -EROFS);
    (void)world_open(p.k, p.t, "/ro/f", O_RDONLY | O_TRUNC, &r);
    CHECK_EQ(r, -EROFS);
    (void)world_open(p.k, p.t, "/ro/x", O_RDWR | O_CREAT, &r);
    CHECK_EQ(r, -EROFS);
    (void)world_open(p.k, p.t, "/ro/x", O_RDONLY, &r);
    CHECK_EQ(r, -ENOENT);
    struct file *f = world_open(p.k, p.t, "/ro/f", O_RDONLY | O_CREAT, &r);
    CHECK_EQ(r, 0);
    file_put(f);
    kernel_free(p.k);
}

TEST(vfs_making_survives_failing_allocations)
{
    EACH_OOM(oom) {
        struct place p;
        test_fail_alloc(0);
        place_init(&p);
        test_fail_alloc(oom);
        int a = make(&p, "/d", S_IFDIR | 0755);
        int b = make(&p, "/f", S_IFREG | 0644);
        int c = symlink_path(&p, "/l", "target");
        int d = link_paths(&p, "/f", "/h");
        bool failed = test_alloc_failed();
        CHECK(failed || (a == 0 && b == 0 && c == 0 && d == 0));
        CHECK(a == 0 || a == -ENOMEM);
        CHECK(c == 0 || c == -ENOMEM);
        kernel_free(p.k);
        if (!failed)
            break;
    }
}

TEST(vfs_mounting_survives_failing_allocations)
{
    EACH_OOM(oom) {
        test_fail_alloc(0);
        struct kernel *k = world_new();
        test_fail_alloc(oom);
        int r = world_mount_system(k);
        bool failed = test_alloc_failed();
        CHECK(r == 0 || (failed && r == -ENOMEM));
        kernel_free(k);
        if (!failed)
            break;
    }
}

TEST(what_root_makes_belongs_to_whom_it_says)
{
    struct place p;
    struct file *f = NULL;

    place_init(&p);
    const struct cred owner = {.uid = 7, .gid = 8};
    struct at there = {
        .vfs = &p.k->vfs, .base = &p.root, .path = "/d", .owner = &owner};
    CHECK_EQ(vfs_make(&there, S_IFDIR | 0755), 0);
    CHECK_EQ(attr_of(&p, "/d").uid, 7);
    CHECK_EQ(attr_of(&p, "/d").gid, 8);
    there.path = "/d/l";
    CHECK_EQ(vfs_symlink(&there, "x"), 0);
    CHECK_EQ(attr_of(&p, "/d/l").uid, 7);
    there.path = "/d/f";
    CHECK_EQ(vfs_open(&there, O_CREAT | O_WRONLY, 0600, &f), 0);
    file_put(f);
    CHECK_EQ(attr_of(&p, "/d/f").gid, 8);
    kernel_free(p.k);
}
