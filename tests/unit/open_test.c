/* open(2): the matrix of flags and kinds of files. */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* /f: 4 bytes, /ro and /wo by mode, /d, /l -> f, /ld -> d, /gone -> none,
 * /fifo, /sock. */
struct place {
    struct kernel *k;
    struct task *t;
};

static void
link_to(struct place *p, const char *path, const char *target)
{
    struct vnode root = world_root(p->k);
    struct at at = {
        .vfs = &p->k->vfs, .as = &p->t->as, .base = &root, .path = path};

    CHECK_EQ(vfs_symlink(&at, target), 0);
}

static void
place_init(struct place *p)
{
    p->k = world_new();
    p->t = world_task(p->k);
    struct file *f = world_open(p->k, p->t, "/f", O_CREAT | O_WRONLY, NULL);
    CHECK_EQ(world_write(f, p->t, "text"), 4);
    file_put(f);
    CHECK_EQ(world_make(p->k, p->t, "/ro", S_IFREG | 0444), 0);
    CHECK_EQ(world_make(p->k, p->t, "/wo", S_IFREG | 0222), 0);
    CHECK_EQ(world_make(p->k, p->t, "/d", S_IFDIR | 0755), 0);
    CHECK_EQ(world_make(p->k, p->t, "/closed", S_IFDIR | 0555), 0);
    CHECK_EQ(world_make(p->k, p->t, "/fifo", S_IFIFO | 0644), 0);
    CHECK_EQ(world_make(p->k, p->t, "/sock", S_IFSOCK | 0644), 0);
    link_to(p, "/l", "f");
    link_to(p, "/ld", "d");
    link_to(p, "/gone", "none");
}

/* 0 or -errno; the file is closed again. */
static int
try_open(struct place *p, const char *path, uint32_t flags)
{
    int r;

    file_put(world_open(p->k, p->t, path, flags, &r));
    return r;
}

TEST(open_matrix)
{
    const struct {
        const char *path;
        uint32_t flags;
        int r;
    } cases[] = {
        {"/f", O_RDONLY, 0},
        {"/f", O_RDWR, 0},
        {"/none", O_RDONLY, -ENOENT},
        {"", O_RDONLY, -ENOENT},
        {"/none", O_RDWR | O_CREAT, 0},
        {"/f", O_RDWR | O_CREAT, 0},
        {"/f", O_RDWR | O_CREAT | O_EXCL, -EEXIST},
        {"/f", O_RDONLY | O_EXCL, 0},
        {"/none/", O_RDWR | O_CREAT, -EISDIR},
        {"/f/", O_RDONLY, -ENOTDIR},
        {"/f/x", O_RDWR | O_CREAT, -ENOTDIR},
        {"/none/x", O_RDWR | O_CREAT, -ENOENT},
        {"/closed/x", O_RDWR | O_CREAT, -EACCES},
        {"/ro", O_RDONLY, 0},
        {"/ro", O_WRONLY, -EACCES},
        {"/ro", O_RDONLY | O_TRUNC, -EACCES},
        {"/wo", O_WRONLY, 0},
        {"/wo", O_RDONLY, -EACCES},
        {"/wo", O_RDWR, -EACCES},
        {"/wo", O_ACCMODE, -EACCES},
        {"/d", O_RDONLY, 0},
        {"/d", O_WRONLY, -EISDIR},
        {"/d", O_RDWR, -EISDIR},
        {"/d", O_RDONLY | O_TRUNC, -EISDIR},
        {"/d", O_RDONLY | O_CREAT, -EISDIR},
        {"/d", O_RDONLY | O_CREAT | O_EXCL, -EEXIST},
        {"/d", O_RDONLY | O_DIRECTORY, 0},
        {"/d/", O_RDONLY, 0},
        {"/f", O_RDONLY | O_DIRECTORY, -ENOTDIR},
        {"/l", O_RDONLY, 0},
        {"/l", O_RDONLY | O_NOFOLLOW, -ELOOP},
        {"/l", O_RDONLY | O_NOFOLLOW | O_DIRECTORY, -ENOTDIR},
        {"/l", O_RDWR | O_CREAT | O_EXCL, -EEXIST},
        {"/ld", O_RDONLY | O_DIRECTORY, 0},
        {"/ld/", O_RDONLY | O_NOFOLLOW, 0},
        {"/gone", O_RDONLY, -ENOENT},
        {"/gone", O_RDWR | O_CREAT, 0},
        {"/gone", O_RDWR | O_CREAT | O_EXCL, -EEXIST},
        {"/gone", O_RDWR | O_CREAT | O_NOFOLLOW, -ELOOP},
        {"/sock", O_RDONLY, -ENXIO},
        {"/sock", O_PATH, 0},
        {"/fifo", O_RDONLY | O_NONBLOCK, 0},
        {"/fifo", O_WRONLY | O_NONBLOCK, -ENXIO},
        {"/fifo", O_RDWR, 0},
        {"/wo", O_PATH, 0},
        {"/none", O_PATH | O_CREAT, -ENOENT},
        {"/l", O_PATH | O_NOFOLLOW, 0},
        {"/l", O_PATH | O_NOFOLLOW | O_DIRECTORY, -ENOTDIR},
        {"/f", O_PATH | O_DIRECTORY, -ENOTDIR},
        {"/d", O_TMPFILE | O_RDWR, 0},
        {"/d", O_TMPFILE | O_WRONLY, 0},
        {"/d", O_TMPFILE | O_RDONLY, -EINVAL},
        {"/f", O_TMPFILE | O_RDWR, -ENOTDIR},
        {"/none", O_TMPFILE | O_RDWR, -ENOENT},
        {"/closed", O_TMPFILE | O_RDWR, -EACCES},
        {"/d", O_TMPFILE | O_RDWR | O_CREAT, -EINVAL},
        {"/f", O_RDONLY | O_NOATIME, 0},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct place p;
        place_init(&p);
        int r = try_open(&p, cases[i].path, cases[i].flags);
        if (r != cases[i].r)
            printf("  open %s %o:\n", cases[i].path, cases[i].flags);
        CHECK_EQ(r, cases[i].r);
        CHECK_EQ(p.k->limits.used[LIMIT_open_files], 0);
        kernel_free(p.k);
    }
}

TEST(open_noatime_is_for_the_owner)
{
    struct place p;

    place_init(&p);
    CHECK_EQ(world_make(p.k, NULL, "/roots", S_IFREG | 0644), 0);
    CHECK_EQ(try_open(&p, "/roots", O_RDONLY | O_NOATIME), -EPERM);
    kernel_free(p.k);
}

TEST(open_truncates_only_what_it_opens)
{
    struct place p;
    struct attr a;

    place_init(&p);
    CHECK_EQ(try_open(&p, "/f", O_WRONLY | O_CREAT | O_EXCL | O_TRUNC),
             -EEXIST);
    struct file *f = world_open(p.k, p.t, "/f", O_RDONLY, NULL);
    CHECK_EQ(file_getattr(f, &a), 0);
    CHECK_EQ(a.size, 4);
    CHECK_EQ(try_open(&p, "/f", O_WRONLY | O_TRUNC), 0);
    CHECK_EQ(file_getattr(f, &a), 0);
    CHECK_EQ(a.size, 0);
    file_put(f);
    kernel_free(p.k);
}

TEST(open_created_file_can_be_written_whatever_its_mode)
{
    struct place p;
    struct file *f = NULL;

    place_init(&p);
    struct vnode root = world_root(p.k);
    struct at at = {
        .vfs = &p.k->vfs, .as = &p.t->as, .base = &root, .path = "/new"};
    CHECK_EQ(vfs_open(&at, O_RDWR | O_CREAT | O_EXCL, 0, &f), 0);
    CHECK_EQ(world_write(f, p.t, "x"), 1);
    file_put(f);
    CHECK_EQ(try_open(&p, "/new", O_RDONLY), -EACCES);
    kernel_free(p.k);
}

TEST(open_flags_that_stay_with_the_file)
{
    struct place p;

    place_init(&p);
    struct file *f =
        world_open(p.k, p.t, "/f",
                   O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_NONBLOCK, NULL);
    CHECK_EQ(f->flags, O_RDWR | O_APPEND | O_NONBLOCK);
    CHECK(!strcmp(f->name, "f"));
    file_put(f);
    f = world_open(p.k, p.t, "/f", O_PATH | O_RDWR | O_APPEND, NULL);
    CHECK_EQ(f->flags, O_PATH);
    file_put(f);
    kernel_free(p.k);
}

TEST(open_file_survives_its_name)
{
    struct place p;

    place_init(&p);
    struct vnode root = world_root(p.k);
    struct at at = {
        .vfs = &p.k->vfs, .as = &p.t->as, .base = &root, .path = "/f"};
    struct file *f = world_open(p.k, p.t, "/f", O_RDONLY, NULL);
    CHECK_EQ(vfs_unlink(&at, 0), 0);
    CHECK_EQ(try_open(&p, "/f", O_RDONLY), -ENOENT);
    CHECK(world_reads(f, p.t, "text"));
    file_put(f);
    kernel_free(p.k);
}

TEST(open_survives_failing_allocations)
{
    static const struct {
        const char *path;
        uint32_t flags;
    } cases[] = {
        {"/f", O_RDWR},
        {"/new", O_RDWR | O_CREAT},
        {"/d", O_RDONLY},
        {"/l", O_RDONLY},
        {"/f", O_PATH},
        {"/fifo", O_RDWR},
        {"/d", O_TMPFILE | O_RDWR},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        EACH_OOM(oom) {
            struct place p;
            test_fail_alloc(0);
            place_init(&p);
            test_fail_alloc(oom);
            int r = try_open(&p, cases[i].path, cases[i].flags);
            bool failed = test_alloc_failed();
            CHECK(r == 0 || (failed && r == -ENOMEM));
            CHECK_EQ(p.k->limits.used[LIMIT_open_files], 0);
            kernel_free(p.k);
            if (!failed)
                break;
        }
}

TEST(open_at_the_limit_of_files)
{
    struct place p;

    place_init(&p);
    p.k->limits.max[LIMIT_open_files] = 0;
    CHECK_EQ(try_open(&p, "/f", O_RDONLY), -ENFILE);
    CHECK_EQ(try_open(&p, "/d", O_RDONLY), -ENFILE);
    CHECK_EQ(try_open(&p, "/d", O_TMPFILE | O_RDWR), -ENFILE);
    kernel_free(p.k);
}
