/* /dev. */
#include "kernel/devfs.h"

#include "kernel/tty.h"
#include "test.h"
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sysmacros.h>

static struct kernel *
kernel_with_dev(void)
{
    struct kernel *k = world_new();
    struct fs *fs;

    CHECK_EQ(devfs_new(k, &fs), 0);
    CHECK_EQ(world_mount(k, "/dev", fs), 0);
    return k;
}

static uint64_t
rdev_of(struct kernel *k, const char *path)
{
    struct file *f = world_open(k, NULL, path, O_RDONLY, NULL);
    struct attr a = {0};

    CHECK(f && file_getattr(f, &a) == 0 && S_ISCHR(a.mode));
    file_put(f);
    return a.rdev;
}

TEST(devfs_devices_have_linux_numbers)
{
    struct kernel *k = kernel_with_dev();

    CHECK_EQ(rdev_of(k, "/dev/null"), makedev(1, 3));
    CHECK_EQ(rdev_of(k, "/dev/zero"), makedev(1, 5));
    CHECK_EQ(rdev_of(k, "/dev/full"), makedev(1, 7));
    CHECK_EQ(rdev_of(k, "/dev/random"), makedev(1, 8));
    CHECK_EQ(rdev_of(k, "/dev/urandom"), makedev(1, 9));
    CHECK_EQ(rdev_of(k, "/dev/ptmx"), makedev(5, 2));
    kernel_free(k);
}

TEST(devfs_devices_read_and_write_as_they_should)
{
    struct kernel *k = kernel_with_dev();
    char buf[4] = "xxx", again[4];
    struct file *f = world_open(k, NULL, "/dev/null", O_RDWR, NULL);

    CHECK_EQ(world_write(f, NULL, "gone"), 4);
    CHECK_EQ(world_read(f, NULL, buf, 4), 0);
    CHECK_EQ(f->ops->seek(f, 5, SEEK_END), 0);
    file_put(f);
    f = world_open(k, NULL, "/dev/zero", O_RDWR, NULL);
    CHECK_EQ(world_read(f, NULL, buf, 4), 4);
    CHECK(!memcmp(buf, "\0\0\0\0", 4));
    file_put(f);
    f = world_open(k, NULL, "/dev/full", O_RDWR, NULL);
    CHECK_EQ(world_write(f, NULL, "x"), -ENOSPC);
    file_put(f);
    f = world_open(k, NULL, "/dev/urandom", O_RDONLY, NULL);
    CHECK_EQ(world_read(f, NULL, buf, 4), 4);
    CHECK_EQ(world_read(f, NULL, again, 4), 4);
    CHECK(memcmp(buf, again, 4));
    file_put(f);
    kernel_free(k);
}

TEST(devfs_terminals_come_and_go_in_pts)
{
    struct kernel *k = kernel_with_dev();
    struct task *t = world_child(k, NULL);
    int err, zero = 0;

    CHECK(!world_open(k, t, "/dev/tty", O_RDWR, &err));
    CHECK_EQ(err, -ENXIO);
    CHECK(!world_open(k, t, "/dev/pts/0", O_RDWR, &err));
    CHECK_EQ(err, -ENOENT);
    struct file *m = world_open(k, t, "/dev/ptmx", O_RDWR, NULL);
    CHECK(!world_open(k, t, "/dev/pts/00", O_RDWR, &err));
    CHECK_EQ(err, -ENOENT);
    CHECK(!world_open(k, t, "/dev/pts/0", O_RDWR, &err));
    CHECK_EQ(err, -EIO); /* locked */
    memcpy(world_at(t, 64), &zero, sizeof zero);
    CHECK_EQ(m->ops->ioctl(m, t, 0x40045431 /* TIOCSPTLCK */, 64), 0);
    struct file *s = world_open(k, t, "/dev/pts/0", O_RDWR, NULL);
    struct attr a;
    CHECK(s && file_getattr(s, &a) == 0);
    CHECK_EQ(a.rdev, makedev(136, 0));
    CHECK_EQ(a.mode, S_IFCHR | 0620);
    CHECK_EQ(a.uid, 1000);
    file_put(m);
    CHECK(!world_open(k, t, "/dev/pts/0", O_RDWR, &err));
    CHECK_EQ(err, -ENOENT);
    file_put(s);
    kernel_free(k);
}

struct names {
    struct dir_emit emit;
    char text[256];
    uint64_t cookie;
    int room;
};

static bool
note_name(struct dir_emit *e, const char *name, size_t len, uint64_t ino,
          unsigned dtype, uint64_t cookie)
{
    struct names *n = CONTAINER_OF(e, struct names, emit);

    (void)ino;
    (void)dtype;
    if (!n->room--)
        return false;
    strncat(n->text, name, len);
    strcat(n->text, " ");
    n->cookie = cookie;
    return true;
}

TEST(devfs_lists_all_in_pieces)
{
    struct kernel *k = world_new();
    struct names n = {.emit.entry = note_name};
    struct fs *fs;

    CHECK_EQ(devfs_new(k, &fs), 0);
    for (int i = 0; i < 20; i++) {
        n.room = 1;
        CHECK_EQ(fs->ops->readdir(fs, fs->root, n.cookie, &n.emit), 0);
    }
    CHECK(!strcmp(n.text, "pts shm null zero full random urandom tty ptmx fd "
                          "stdin stdout stderr mqueue "));
    fs->ops->free(fs);
    kernel_free(k);
}

TEST(devfs_links_and_refusals)
{
    struct kernel *k = world_new();
    struct fs *fs;
    uint64_t ino;
    char buf[64];

    CHECK_EQ(devfs_new(k, &fs), 0);
    struct name name = {"stdin", 5};
    CHECK_EQ(fs->ops->lookup(fs, fs->root, name, &ino), 0);
    CHECK_EQ(fs->ops->readlink(fs, NULL, ino, buf, sizeof buf), 15);
    CHECK(!memcmp(buf, "/proc/self/fd/0", 15));
    CHECK_EQ(fs->ops->readlink(fs, NULL, ino, buf, 4), 4);
    struct attr a = {.mode = 0};
    CHECK_EQ(fs->change->setattr(fs, ino, &a, ATTR_MODE), -EPERM);
    fs->ops->free(fs);
    kernel_free(k);
}

TEST(devfs_new_survives_lack_of_memory)
{
    struct kernel *k = world_new();

    EACH_OOM(oom) {
        struct fs *fs = NULL;
        int r = devfs_new(k, &fs);
        CHECK(r == 0 || r == -ENOMEM);
        if (fs)
            fs->ops->free(fs);
    }
    kernel_free(k);
}
