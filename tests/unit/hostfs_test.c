/* Host folders. */
#include "host/hostfs.h"

#include "host/hostfs_impl.h"
#include "test.h"
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <unistd.h>

/* A host folder, mounted at /h, with a file beside it that no guest may see:
 * <top>/secret and <top>/in. */
struct folder {
    char top[64], in[80];
    struct kernel *k;
    struct fs *fs;
    struct task *t;
};

static void
put_file(const char *dir, const char *name, const char *text)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    int hfd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    CHECK(hfd >= 0);
    CHECK_EQ(write(hfd, text, strlen(text)), strlen(text));
    (void)close(hfd);
}

static const char *
host_path(const struct folder *f, const char *name)
{
    static char path[256];

    snprintf(path, sizeof path, "%s/%s", f->in, name);
    return path;
}

static void
folder_init(struct folder *f, bool read_only)
{
    strcpy(f->top, "/tmp/hostfs_test.XXXXXX");
    CHECK(mkdtemp(f->top) != NULL);
    snprintf(f->in, sizeof f->in, "%s/in", f->top);
    CHECK_EQ(mkdir(f->in, 0755), 0);
    put_file(f->top, "secret", "secret");
    put_file(f->in, "file", "content");
    f->k = world_new();
    f->t = world_child(f->k, NULL);
    int hfd = open(f->in, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK_EQ(hostfs_new(f->k, hfd, read_only, &f->fs), 0);
    CHECK_EQ(world_mount(f->k, "/h", f->fs), 0);
}

static int
remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static void
folder_free(struct folder *f)
{
    kernel_free(f->k);
    (void)nftw(f->top, remove_one, 64, FTW_DEPTH | FTW_PHYS);
}

static int
open_error(struct folder *f, const char *path, uint32_t flags)
{
    int err;
    struct file *file = world_open(f->k, f->t, path, flags, &err);

    file_put(file);
    return err;
}

static bool
has_text(struct folder *f, const char *path, const char *text)
{
    struct file *file = world_open(f->k, f->t, path, O_RDONLY, NULL);
    bool same = file && world_reads(file, f->t, text);

    file_put(file);
    return same;
}

static struct at
at(struct folder *f, const char *path)
{
    static struct vnode base;

    base = world_root(f->k);
    return (struct at){
        .vfs = &f->k->vfs, .as = &f->t->as, .base = &base, .path = path};
}

static int
rename_in(struct folder *f, const char *from, const char *to, unsigned flags)
{
    struct at a = at(f, from), b = at(f, to);

    return vfs_rename(&a, &b, flags);
}

static int
make_dir(struct folder *f, const char *path, uint32_t mode)
{
    struct at a = at(f, path);

    return vfs_make(&a, S_IFDIR | mode);
}

static int
remove_name(struct folder *f, const char *path, int flags)
{
    struct at a = at(f, path);

    return vfs_unlink(&a, flags);
}

/* --- reading and writing */

TEST(hostfs_files_are_read_and_written)
{
    struct folder f;
    struct attr a;

    folder_init(&f, false);
    CHECK(has_text(&f, "/h/file", "content"));
    struct file *file =
        world_open(f.k, f.t, "/h/new", O_RDWR | O_CREAT | O_EXCL, NULL);
    CHECK(file != NULL);
    CHECK_EQ(world_write(file, f.t, "hello"), 5);
    CHECK_EQ(file->ops->seek(file, 0, SEEK_END), 5);
    CHECK_EQ(file_getattr(file, &a), 0);
    CHECK_EQ(a.size, 5);
    CHECK_EQ(a.mode, S_IFREG | 0644);
    CHECK_EQ(a.uid, 1000);
    CHECK_EQ(file->ops->truncate(file, 2), 0);
    file_put(file);
    CHECK(has_text(&f, "/h/new", "he"));
    CHECK_EQ(open_error(&f, "/h/new", O_RDWR | O_CREAT | O_EXCL), -EEXIST);
    CHECK_EQ(open_error(&f, "/h/new", O_RDWR | O_TRUNC), 0);
    CHECK(has_text(&f, "/h/new", ""));
    folder_free(&f);
}

TEST(hostfs_append_goes_to_the_end_whoever_else_writes)
{
    struct folder f;

    folder_init(&f, false);
    struct file *file =
        world_open(f.k, f.t, "/h/file", O_WRONLY | O_APPEND, NULL);
    put_file(f.in, "file", "longer content");
    CHECK_EQ(world_write(file, f.t, "!"), 1);
    file_put(file);
    CHECK(has_text(&f, "/h/file", "longer content!"));
    folder_free(&f);
}

TEST(hostfs_maker_may_write_what_its_mode_forbids)
{
    struct folder f;
    struct file *file = NULL;

    folder_init(&f, false);
    struct at a = at(&f, "/h/ro");
    CHECK_EQ(vfs_open(&a, O_RDWR | O_CREAT, 0444, &file), 0);
    CHECK_EQ(world_write(file, f.t, "x"), 1);
    file_put(file);
    CHECK_EQ(open_error(&f, "/h/ro", O_WRONLY), -EACCES);
    folder_free(&f);
}

TEST(hostfs_read_only_refuses_all_changes)
{
    struct folder f;
    struct fs *fs;
    uint64_t ino;
    struct attr a = {.mode = S_IFREG | 0644};
    struct name name = {"file", 4}, other = {"x", 1};

    folder_init(&f, true);
    fs = f.fs;
    CHECK_EQ(fs->ops->lookup(fs, fs->root, name, &ino), 0);
    CHECK_EQ(fs->change->create(fs, fs->root, other, &a, &ino), -EROFS);
    CHECK_EQ(fs->change->unlink(fs, fs->root, name, 0), -EROFS);
    CHECK_EQ(fs->change->rename(fs, fs->root, name, fs->root, other, 0),
             -EROFS);
    CHECK_EQ(fs->change->link(fs, fs->root, other, ino), -EROFS);
    CHECK_EQ(fs->change->symlink(fs, fs->root, other, "t", 1, &a), -EROFS);
    CHECK_EQ(fs->change->setattr(fs, ino, &a, ATTR_MODE), -EROFS);
    CHECK_EQ(open_error(&f, "/h/file", O_RDWR), -EROFS);
    CHECK(has_text(&f, "/h/file", "content"));
    folder_free(&f);
}

/* --- staying inside */

TEST(hostfs_names_with_slashes_and_dots_never_reach_the_host)
{
    struct folder f;
    const char *bad[] = {"..", ".", "../secret", "in/../../secret", "/etc", ""};
    uint64_t ino;

    folder_init(&f, false);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct name n = {bad[i], strlen(bad[i])};
        CHECK_EQ(f.fs->ops->lookup(f.fs, f.fs->root, n, &ino), -EACCES);
        CHECK_EQ(f.fs->change->unlink(f.fs, f.fs->root, n, 0), -EACCES);
    }
    CHECK_EQ(f.fs->ops->parent(f.fs, f.fs->root, &ino), 0);
    CHECK_EQ(ino, f.fs->root);
    CHECK_EQ(open_error(&f, "/h/../secret", O_RDONLY), -ENOENT);
    CHECK_EQ(open_error(&f, "/h/../../../../etc/passwd", O_RDONLY), -ENOENT);
    folder_free(&f);
}

TEST(hostfs_links_lead_through_the_sandbox_only)
{
    struct folder f;
    char target[80];
    struct file *file;

    folder_init(&f, false);
    snprintf(target, sizeof target, "%s/secret", f.top);
    CHECK_EQ(symlink(target, host_path(&f, "absolute")), 0);
    CHECK_EQ(symlink("../secret", host_path(&f, "relative")), 0);
    CHECK_EQ(symlink("/etc", host_path(&f, "dir")), 0);
    CHECK_EQ(symlink("file", host_path(&f, "good")), 0);
    CHECK_EQ(open_error(&f, "/h/absolute", O_RDONLY), -ENOENT);
    CHECK_EQ(open_error(&f, "/h/relative", O_RDONLY), -ENOENT);
    CHECK_EQ(open_error(&f, "/h/dir/passwd", O_RDONLY), -ENOENT);
    CHECK(has_text(&f, "/h/good", "content"));
    /* In the sandbox the same paths mean other files. */
    file = world_open(f.k, NULL, "/secret", O_WRONLY | O_CREAT, NULL);
    CHECK_EQ(world_write(file, NULL, "mine"), 4);
    file_put(file);
    CHECK(has_text(&f, "/h/relative", "mine"));
    folder_free(&f);
}

TEST(hostfs_directory_swapped_for_a_link_is_not_followed)
{
    struct folder f;
    char top[80], moved[80];

    folder_init(&f, false);
    snprintf(top, sizeof top, "%s", host_path(&f, "d"));
    snprintf(moved, sizeof moved, "%s", host_path(&f, "moved"));
    CHECK_EQ(mkdir(top, 0755), 0);
    put_file(top, "secret", "inner");
    CHECK(has_text(&f, "/h/d/secret", "inner"));
    CHECK_EQ(rename(top, moved), 0);
    CHECK_EQ(symlink("..", top), 0);
    CHECK(!has_text(&f, "/h/d/secret", "secret"));
    CHECK_EQ(open_error(&f, "/h/d/secret", O_RDONLY), -ENOENT);
    CHECK(has_text(&f, "/h/moved/secret", "inner"));
    folder_free(&f);
}

/* The guest holds inode numbers; what they stood for is swapped on the host
 * before each operation. */
TEST(hostfs_file_swapped_for_a_link_is_not_touched)
{
    struct folder f;
    struct stat st;
    char secret[80], aside[80];
    uint64_t ino;
    struct name name = {"file", 4};
    struct attr a = {.mode = 0600, .size = 0};
    struct file *file;

    folder_init(&f, false);
    snprintf(secret, sizeof secret, "%s/secret", f.top);
    CHECK_EQ(f.fs->ops->lookup(f.fs, f.fs->root, name, &ino), 0);
    snprintf(aside, sizeof aside, "%s/aside", f.top);
    CHECK_EQ(symlink("../secret", aside), 0);
    CHECK_EQ(rename(aside, host_path(&f, "file")), 0);
    CHECK(f.fs->ops->open(f.fs, NULL, ino, O_RDWR, &file) < 0);
    CHECK(f.fs->change->setattr(f.fs, ino, &a, ATTR_MODE) < 0);
    CHECK(f.fs->change->setattr(f.fs, ino, &a, ATTR_SIZE) < 0);
    CHECK(f.fs->change->setattr(f.fs, ino, &a, ATTR_MTIME) < 0);
    CHECK_EQ(stat(secret, &st), 0);
    CHECK_EQ(st.st_mode & 0777, 0644);
    CHECK_EQ(st.st_size, 6);
    CHECK(st.st_mtime != 0);
    CHECK_EQ(lstat(host_path(&f, "file"), &st), 0);
    CHECK(st.st_mtime != 0);
    folder_free(&f);
}

/* Swaps the directory d and a link to the folder's parent, again and again. */
struct swapper {
    const struct folder *f;
    _Atomic bool done;
};

static void *
swap_until_done(void *arg)
{
    struct swapper *s = arg;
    char d[96], link[96];

    snprintf(d, sizeof d, "%s/d", s->f->in);
    snprintf(link, sizeof link, "%s/link", s->f->in);
    while (!s->done)
        (void)renameat2(AT_FDCWD, d, AT_FDCWD, link, RENAME_EXCHANGE);
    return NULL;
}

static void
attack(struct folder *f)
{
    struct attr a = {.mode = 0600, .mtime_ns = NS_PER_S};
    struct at at_secret = at(f, "/h/d/secret");
    struct walk w;

    CHECK(!has_text(f, "/h/d/secret", "secret"));
    (void)open_error(f, "/h/d/secret", O_WRONLY | O_TRUNC);
    (void)open_error(f, "/h/d/new", O_WRONLY | O_CREAT);
    (void)rename_in(f, "/h/d/secret", "/h/d/moved", 0);
    (void)rename_in(f, "/h/d/moved", "/h/d/secret", 0);
    (void)remove_name(f, "/h/d/new", 0);
    if (world_walk(f->k, f->t, at_secret.base, at_secret.path, 0, &w) == 0)
        (void)f->fs->change->setattr(f->fs, w.node.ino, &a,
                                     ATTR_MODE | ATTR_MTIME | ATTR_SIZE);
}

TEST(hostfs_races_with_the_host_never_leave_the_folder)
{
    struct folder f;
    struct swapper s = {.f = &f};
    struct stat st;
    pthread_t thread;
    char path[96];

    folder_init(&f, false);
    snprintf(path, sizeof path, "%s/d", f.in);
    CHECK_EQ(mkdir(path, 0755), 0);
    put_file(path, "secret", "inner");
    CHECK_EQ(symlink("..", host_path(&f, "link")), 0);
    CHECK_EQ(pthread_create(&thread, NULL, swap_until_done, &s), 0);
    for (int i = 0; i < 1000; i++)
        attack(&f);
    s.done = true;
    CHECK_EQ(pthread_join(thread, NULL), 0);
    snprintf(path, sizeof path, "%s/secret", f.top);
    CHECK_EQ(stat(path, &st), 0);
    CHECK_EQ(st.st_size, 6);
    CHECK_EQ(st.st_mode & 0777, 0644);
    CHECK(st.st_mtime > 1);
    snprintf(path, sizeof path, "%s/new", f.top);
    CHECK(stat(path, &st) < 0);
    snprintf(path, sizeof path, "%s/moved", f.top);
    CHECK(stat(path, &st) < 0);
    folder_free(&f);
}

TEST(hostfs_devices_and_sockets_are_never_opened)
{
    struct folder f;
    struct sockaddr_un un = {.sun_family = AF_UNIX};

    folder_init(&f, false);
    if (mknod(host_path(&f, "null"), S_IFCHR | 0666, makedev(1, 3)) == 0)
        CHECK_EQ(open_error(&f, "/h/null", O_RDWR), -EACCES);
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    strcpy(un.sun_path, host_path(&f, "sock"));
    CHECK_EQ(bind(s, (const struct sockaddr *)&un, sizeof un), 0);
    CHECK_EQ(open_error(&f, "/h/sock", O_RDWR), -ENXIO);
    (void)close(s);
    struct attr a = {.mode = S_IFIFO | 0666};
    struct name n = {"fifo", 4};
    uint64_t ino;
    CHECK_EQ(f.fs->change->create(f.fs, f.fs->root, n, &a, &ino), -EPERM);
    folder_free(&f);
}

/* --- names */

TEST(hostfs_names_are_made_moved_and_removed)
{
    struct folder f;

    folder_init(&f, false);
    CHECK_EQ(make_dir(&f, "/h/d", 0750), 0);
    CHECK_EQ(make_dir(&f, "/h/d", 0755), -EEXIST);
    CHECK_EQ(rename_in(&f, "/h/file", "/h/d/file", 0), 0);
    CHECK(has_text(&f, "/h/d/file", "content"));
    CHECK_EQ(open_error(&f, "/h/file", O_RDONLY), -ENOENT);
    CHECK_EQ(remove_name(&f, "/h/d", UNLINK_DIR), -ENOTEMPTY);
    CHECK_EQ(rename_in(&f, "/h/d", "/h/e", 0), 0);
    CHECK(has_text(&f, "/h/e/file", "content"));
    CHECK_EQ(rename_in(&f, "/h/e", "/h/e/sub", 0), -EINVAL);
    put_file(f.in, "b", "other");
    CHECK_EQ(rename_in(&f, "/h/b", "/h/e/file", RENAME_NOREPLACE), -EEXIST);
    CHECK_EQ(rename_in(&f, "/h/b", "/h/e/file", RENAME_EXCHANGE), 0);
    CHECK(has_text(&f, "/h/b", "content"));
    CHECK(has_text(&f, "/h/e/file", "other"));
    CHECK_EQ(remove_name(&f, "/h/e/file", 0), 0);
    CHECK_EQ(remove_name(&f, "/h/e", UNLINK_DIR), 0);
    struct stat st;
    CHECK(stat(host_path(&f, "e"), &st) < 0);
    folder_free(&f);
}

TEST(hostfs_hard_links_are_one_inode)
{
    struct folder f;
    struct attr a;
    uint64_t one, two;
    struct name n1 = {"file", 4}, n2 = {"link", 4};

    folder_init(&f, false);
    CHECK_EQ(f.fs->ops->lookup(f.fs, f.fs->root, n1, &one), 0);
    CHECK_EQ(f.fs->change->link(f.fs, f.fs->root, n2, one), 0);
    CHECK_EQ(f.fs->ops->lookup(f.fs, f.fs->root, n2, &two), 0);
    CHECK_EQ(one, two);
    CHECK_EQ(f.fs->ops->getattr(f.fs, one, &a), 0);
    CHECK_EQ(a.nlink, 2);
    CHECK_EQ(f.fs->change->unlink(f.fs, f.fs->root, n2, 0), 0);
    CHECK(has_text(&f, "/h/file", "content"));
    folder_free(&f);
}

TEST(hostfs_open_file_outlives_its_name)
{
    struct folder f;
    struct attr a;

    folder_init(&f, false);
    struct file *file = world_open(f.k, f.t, "/h/file", O_RDWR, NULL);
    struct file *again;
    CHECK_EQ(remove_name(&f, "/h/file", 0), 0);
    CHECK_EQ(file_getattr(file, &a), 0);
    CHECK_EQ(a.nlink, 0);
    CHECK(world_reads(file, f.t, "content"));
    a.mode = 0600;
    CHECK_EQ(f.fs->change->setattr(f.fs, a.ino, &a, ATTR_MODE), 0);
    CHECK_EQ(f.fs->ops->open(f.fs, NULL, a.ino, O_RDONLY, &again), 0);
    CHECK(world_reads(again, f.t, "content"));
    file_put(again);
    file_put(file);
    CHECK_EQ(f.fs->ops->getattr(f.fs, a.ino, &a), -ENOENT);
    folder_free(&f);
}

TEST(hostfs_modes_have_no_set_id_bits_and_owners_stay)
{
    struct folder f;
    struct stat st;
    uint64_t ino;
    struct name n = {"file", 4};
    struct attr a = {.mode = 06755, .uid = 0, .mtime_ns = 5 * NS_PER_S + 7};

    folder_init(&f, false);
    CHECK_EQ(f.fs->ops->lookup(f.fs, f.fs->root, n, &ino), 0);
    CHECK_EQ(f.fs->change->setattr(f.fs, ino, &a, ATTR_MODE | ATTR_MTIME), 0);
    CHECK_EQ(stat(host_path(&f, "file"), &st), 0);
    CHECK_EQ(st.st_mode & 07777, 0755);
    CHECK_EQ(st.st_mtim.tv_sec, 5);
    CHECK_EQ(st.st_mtim.tv_nsec, 7);
    CHECK_EQ(f.fs->change->setattr(f.fs, ino, &a, ATTR_UID), -EPERM);
    a.uid = 1000;
    CHECK_EQ(f.fs->change->setattr(f.fs, ino, &a, ATTR_UID), 0);
    a.mode = 0; /* also without the right to open it */
    CHECK_EQ(f.fs->change->setattr(f.fs, ino, &a, ATTR_MODE), 0);
    a.mode = 0640;
    CHECK_EQ(f.fs->change->setattr(f.fs, ino, &a, ATTR_MODE), 0);
    folder_free(&f);
}

/* --- directories */

struct names {
    struct dir_emit emit;
    int count, room;
    uint64_t cookie;
};

static bool
count_names(struct dir_emit *e, const char *name, size_t len, uint64_t ino,
            unsigned dtype, uint64_t cookie)
{
    struct names *n = CONTAINER_OF(e, struct names, emit);

    (void)dtype;
    CHECK(ino != 0 && len == strlen(name));
    CHECK(cookie < INT32_MAX - 2); /* a long of 32-bit programs */
    if (!n->room--)
        return false;
    n->count++;
    n->cookie = cookie;
    return true;
}

TEST(hostfs_directories_are_read_in_pieces)
{
    struct folder f;
    struct names n = {.emit.entry = count_names};
    char name[16];

    folder_init(&f, false);
    for (int i = 0; i < 99; i++) {
        snprintf(name, sizeof name, "f%d", i);
        put_file(f.in, name, "");
    }
    for (int i = 0; i < 20; i++) {
        n.room = 7;
        CHECK_EQ(f.fs->ops->readdir(f.fs, f.fs->root, n.cookie, &n.emit), 0);
    }
    CHECK_EQ(n.count, 100);
    folder_free(&f);
}

/* Fills the memory for positions by those of one directory. */
static void
use_up_positions(struct hostfs *h, struct hostnode *dir)
{
    uint64_t cookie = 0;

    while (h->n_offsets < HOSTFS_OFFSETS || dir->n_offsets < dir->cap_offsets)
        CHECK_EQ(hostnode_cookie(h, dir, 0, INT64_MAX - (int64_t)dir->n_offsets,
                                 &cookie),
                 0);
}

TEST(hostfs_positions_are_forgotten_before_they_are_too_many)
{
    struct folder f;
    struct hostnode *a = NULL, *b = NULL;
    uint64_t cookie;

    folder_init(&f, false);
    struct hostfs *h = CONTAINER_OF(f.fs, struct hostfs, fs);
    CHECK_EQ(mkdir(host_path(&f, "a"), 0755), 0);
    CHECK_EQ(mkdir(host_path(&f, "b"), 0755), 0);
    CHECK_EQ(hostnode_look_up(h, h->root, "a", &a), 0);
    CHECK_EQ(hostnode_look_up(h, h->root, "b", &b), 0);
    use_up_positions(h, a);
    CHECK_EQ(hostnode_cookie(h, b, 0, INT64_MAX, &cookie), 0);
    hostnode_hold(h, a);
    use_up_positions(h, a);
    CHECK_EQ(hostnode_cookie(h, a, 0, 1 - INT64_MAX, &cookie), -ENOMEM);
    struct file *dir = world_open(f.k, f.t, "/h/a", O_DIRECTORY, NULL);
    struct dir_emit none = {0};
    CHECK_EQ(hostfs_readdir(f.fs, a->ino, 0, &none), 0);
    CHECK(a->n_offsets < HOSTFS_OFFSETS / 2);
    file_put(dir);
    hostnode_release(h, a);
    folder_free(&f);
}

TEST(hostfs_removed_directory_stays_for_who_holds_it)
{
    struct folder f;
    struct name d = {"d", 1};
    struct attr a = {.mode = S_IFDIR | 0755};
    uint64_t ino;

    folder_init(&f, false);
    CHECK_EQ(f.fs->change->create(f.fs, f.fs->root, d, &a, &ino), 0);
    f.fs->ops->hold(f.fs, ino);
    CHECK_EQ(f.fs->change->unlink(f.fs, f.fs->root, d, UNLINK_DIR), 0);
    CHECK_EQ(f.fs->ops->getattr(f.fs, ino, &a), 0);
    CHECK_EQ(a.nlink, 0);
    CHECK_EQ(f.fs->change->create(f.fs, ino, d, &a, &ino), -ENOENT);
    f.fs->ops->release(f.fs, ino);
    folder_free(&f);
}

TEST(hostfs_deep_trees_use_few_descriptors)
{
    enum { DEPTH = 600 };
    struct folder f;
    uint64_t ino[DEPTH + 1];
    struct name d = {"d", 1}, x = {"x", 1};
    struct attr a = {.mode = S_IFDIR | 0755};

    folder_init(&f, false);
    int before = world_count_hfds();
    ino[0] = f.fs->root;
    for (int i = 0; i < DEPTH; i++)
        CHECK_EQ(f.fs->change->create(f.fs, ino[i], d, &a, &ino[i + 1]), 0);
    CHECK(world_count_hfds() - before <= 256);
    a.mode = S_IFREG | 0644;
    CHECK_EQ(f.fs->change->create(f.fs, ino[10], x, &a, &(uint64_t){0}), 0);
    CHECK_EQ(f.fs->change->rename(f.fs, ino[10], x, ino[DEPTH], x, 0), 0);
    CHECK_EQ(f.fs->change->rename(f.fs, ino[DEPTH], x, ino[5], x, 0), 0);
    CHECK_EQ(f.fs->change->unlink(f.fs, ino[5], x, 0), 0);
    folder_free(&f);
}

TEST(hostfs_host_moving_directories_about_makes_no_circle)
{
    struct folder f;
    char a[96], b[96], b2[96], a2[120];
    struct name na = {"a", 1}, nb = {"b", 1};
    uint64_t ia, ib, in;

    folder_init(&f, false);
    snprintf(a, sizeof a, "%s/a", f.in);
    snprintf(b, sizeof b, "%s/a/b", f.in);
    snprintf(b2, sizeof b2, "%s/b", f.in);
    snprintf(a2, sizeof a2, "%s/b/a", f.in);
    CHECK_EQ(mkdir(a, 0755), 0);
    CHECK_EQ(mkdir(b, 0755), 0);
    CHECK_EQ(f.fs->ops->lookup(f.fs, f.fs->root, na, &ia), 0);
    CHECK_EQ(f.fs->ops->lookup(f.fs, ia, nb, &ib), 0);
    f.fs->ops->hold(f.fs, ib);
    CHECK_EQ(f.fs->ops->readdir(f.fs, ib, 0, &(struct dir_emit){count_names}),
             0);
    CHECK_EQ(rename(b, b2), 0);
    CHECK_EQ(rename(a, a2), 0);
    CHECK_EQ(f.fs->ops->lookup(f.fs, ib, na, &in), -ELOOP);
    CHECK_EQ(f.fs->ops->lookup(f.fs, f.fs->root, nb, &in), 0);
    CHECK_EQ(in, ib);
    CHECK_EQ(f.fs->ops->lookup(f.fs, ib, na, &in), 0);
    f.fs->ops->release(f.fs, ib);
    folder_free(&f);
}

TEST(hostfs_many_names_are_forgotten_again)
{
    struct folder f;
    uint64_t ino, first = 0;
    struct attr a;
    char name[16];

    folder_init(&f, false);
    for (int i = 0; i < 8300; i++) {
        snprintf(name, sizeof name, "f%d", i);
        put_file(f.in, name, "");
        struct name n = {name, strlen(name)};
        CHECK_EQ(f.fs->ops->lookup(f.fs, f.fs->root, n, &ino), 0);
        first = first ? first : ino;
    }
    CHECK_EQ(f.fs->ops->getattr(f.fs, ino, &a), 0);
    CHECK_EQ(f.fs->ops->getattr(f.fs, first, &a), -ENOENT);
    CHECK(has_text(&f, "/h/f0", ""));
    CHECK_EQ(f.fs->ops->getattr(f.fs, first, &a), 0);
    folder_free(&f);
}

static void
limit(struct folder *f, uint64_t bytes, uint64_t inodes)
{
    hostfs_limit(f->fs, &(struct quota){bytes, inodes});
}

static int64_t
write_at(struct file *file, size_t len, uint64_t pos)
{
    static const char zeros[300];

    return file->ops->write(file, NULL, zeros, len, &pos);
}

TEST(hostfs_growth_in_bytes_has_a_limit)
{
    struct folder f;
    folder_init(&f, false);
    limit(&f, 100, 100);
    struct file *file = world_open(f.k, f.t, "/h/new", O_RDWR | O_CREAT, NULL);
    CHECK_EQ(write_at(file, 60, 0), 60);
    CHECK_EQ(write_at(file, 60, 60), 40);
    CHECK(!f.k->limits.was_hit[LIMIT_mount_bytes]);
    CHECK_EQ(write_at(file, 60, 100), -ENOSPC);
    CHECK(f.k->limits.was_hit[LIMIT_mount_bytes]);
    CHECK_EQ(write_at(file, 60, 0), 60); /* what is there can be changed */
    CHECK_EQ(file->ops->truncate(file, 101), -ENOSPC);
    CHECK_EQ(file->ops->truncate(file, 50), 0);
    CHECK_EQ(file->ops->fallocate(file, 0, 0, 101), -ENOSPC);
    CHECK_EQ(file->ops->fallocate(file, 0, 40, 20), 20);
    CHECK_EQ(file->ops->fallocate(file, FALLOC_FL_KEEP_SIZE, 0, 1 << 20),
             -EOPNOTSUPP);
    CHECK_EQ(write_at(file, 1, UINT64_C(1) << 40), -ENOSPC);
    file_put(file);
    file = world_open(f.k, f.t, "/h/file", O_RDWR | O_APPEND, NULL);
    CHECK_EQ(write_at(file, 300, 0), 40);
    CHECK_EQ(remove_name(&f, "/h/new", 0), 0); /* gives its 60 back */
    CHECK_EQ(write_at(file, 300, 0), 60);
    file_put(file);
    CHECK_EQ(rename_in(&f, "/h/file", "/h/file", 0), 0);
    CHECK_EQ(rename_in(&f, "/h/file", "/h/other", 0), 0);
    CHECK_EQ(open_error(&f, "/h/new", O_RDWR | O_CREAT), 0);
    CHECK_EQ(rename_in(&f, "/h/new", "/h/other", 0), 0); /* 107 back */
    file = world_open(f.k, f.t, "/h/other", O_RDWR, NULL);
    CHECK_EQ(write_at(file, 300, 0), 107);
    file_put(file);
    folder_free(&f);
}

TEST(hostfs_bytes_of_a_removed_file_come_back_when_it_is_closed)
{
    struct folder f;
    folder_init(&f, false);
    limit(&f, 100, 100);
    struct file *file = world_open(f.k, f.t, "/h/new", O_RDWR | O_CREAT, NULL);
    struct file *other = world_open(f.k, f.t, "/h/file", O_RDWR, NULL);
    CHECK_EQ(write_at(file, 60, 0), 60);
    CHECK_EQ(remove_name(&f, "/h/new", 0), 0);
    CHECK_EQ(write_at(file, 60, 60), 40);
    CHECK_EQ(write_at(other, 60, 7), -ENOSPC);
    file_put(file);
    CHECK_EQ(write_at(other, 200, 7), 100);
    file_put(other);
    folder_free(&f);
}

TEST(hostfs_growth_in_files_has_a_limit)
{
    struct folder f;
    folder_init(&f, false);
    limit(&f, 100, 3);
    CHECK_EQ(open_error(&f, "/h/a", O_RDWR | O_CREAT), 0);
    CHECK_EQ(make_dir(&f, "/h/d", 0755), 0);
    struct at link = at(&f, "/h/l");
    CHECK_EQ(vfs_symlink(&link, "a"), 0);
    CHECK_EQ(open_error(&f, "/h/b", O_RDWR | O_CREAT), -ENOSPC);
    CHECK_EQ(make_dir(&f, "/h/e", 0755), -ENOSPC);
    link = at(&f, "/h/m");
    CHECK_EQ(vfs_symlink(&link, "a"), -ENOSPC);
    CHECK_EQ(open_error(&f, "/h/a", O_RDWR | O_CREAT), 0);
    CHECK_EQ(remove_name(&f, "/h/d", UNLINK_DIR), 0);
    CHECK_EQ(remove_name(&f, "/h/l", 0), 0);
    CHECK_EQ(remove_name(&f, "/h/file", 0), 0); /* was there before */
    for (char name[] = "/h/x"; name[3] <= 'z'; name[3]++)
        CHECK_EQ(open_error(&f, name, O_RDWR | O_CREAT), 0);
    CHECK_EQ(open_error(&f, "/h/b", O_RDWR | O_CREAT), -ENOSPC);
    folder_free(&f);
}

TEST(hostfs_new_gives_up_cleanly)
{
    struct kernel *k = world_new();
    int before = world_count_hfds();

    EACH_OOM(oom) {
        struct fs *fs = NULL;
        int hfd = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int r = hostfs_new(k, hfd, true, &fs);
        CHECK(r == 0 || r == -ENOMEM);
        if (fs)
            fs->ops->free(fs);
    }
    int file = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
    struct fs *none;
    CHECK_EQ(hostfs_new(k, file, true, &none), -ENOTDIR);
    CHECK_EQ(world_count_hfds(), before);
    kernel_free(k);
}

TEST(hostfs_operations_survive_lack_of_memory)
{
    struct folder f;

    folder_init(&f, false);
    EACH_OOM(oom) {
        int err;
        struct file *file =
            world_open(f.k, f.t, "/h/new", O_RDWR | O_CREAT, &err);
        CHECK(file || err == -ENOMEM || err == -EEXIST);
        file_put(file);
        int r = rename_in(&f, "/h/new", "/h/newer", 0);
        CHECK(r == 0 || r == -ENOMEM || r == -ENOENT);
    }
    folder_free(&f);
}
