/* The file system in memory, through struct fs_ops and struct file_ops. */
#include "kernel/vfs/tmpfs.h"

#include "kernel/kernel.h"
#include "kernel/vfs/file.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/falloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct attr file_attr = {.mode = S_IFREG | 0644};
static const struct attr dir_attr = {.mode = S_IFDIR | 0755};

static struct name
name_of(const char *s)
{
    return (struct name){s, strlen(s)};
}

/* A kernel of which only limits and clock are used; its time is 1000. */
static void
fake_kernel(struct kernel *k)
{
    memset(k, 0, sizeof *k);
    vfs_init(&k->vfs, &kernel_vfs_hooks, &k->user);
    k->limits.max[LIMIT_open_files] = 16;
    k->clock.is_virtual = true;
    k->clock.virtual_ns = 1000;
}

static struct fs *
fs_new(struct kernel *k)
{
    struct fs *fs = NULL;
    CHECK_EQ(tmpfs_new(k ? &k->vfs : NULL, NULL, 1 << 20, 100, &fs), 0);
    return fs;
}

static uint64_t
make(struct fs *fs, const char *name, const struct attr *a)
{
    uint64_t ino = 0;
    CHECK_EQ(fs->change->create(fs, fs->root, name_of(name), a, &ino), 0);
    return ino;
}

TEST(tmpfs_new_is_empty_and_accounts_for_itself)
{
    struct fs *fs = fs_new(NULL);
    struct fs_stat st;
    struct attr a;
    uint64_t ino;

    CHECK_EQ(fs->ops->getattr(fs, fs->root, &a), 0);
    CHECK_EQ(a.mode, S_IFDIR | 0755);
    CHECK_EQ(a.nlink, 2);
    CHECK_EQ(fs->ops->lookup(fs, fs->root, name_of("a"), &ino), -ENOENT);
    CHECK_EQ(fs->ops->parent(fs, fs->root, &ino), 0);
    CHECK_EQ(ino, fs->root);
    CHECK_EQ(fs->ops->statfs(fs, &st), 0);
    CHECK_EQ(st.blocks, 256);
    CHECK_EQ(st.blocks_free, 256);
    CHECK_EQ(st.files_free, 100);
    fs->ops->free(fs);
}

TEST(tmpfs_lookup_and_parent_go_down_and_up)
{
    struct fs *fs = fs_new(NULL);
    uint64_t d = make(fs, "d", &dir_attr), f, ino;

    CHECK_EQ(fs->change->create(fs, d, name_of("f"), &file_attr, &f), 0);
    CHECK_EQ(fs->change->create(fs, d, name_of("f"), &file_attr, &f), -EEXIST);
    CHECK_EQ(fs->ops->lookup(fs, d, name_of("f"), &ino), 0);
    CHECK_EQ(ino, f);
    CHECK_EQ(fs->ops->lookup(fs, f, name_of("x"), &ino), -ENOTDIR);
    CHECK_EQ(fs->ops->parent(fs, d, &ino), 0);
    CHECK_EQ(ino, fs->root);
    CHECK_EQ(fs->ops->parent(fs, f, &ino), -ENOTDIR);
    fs->ops->free(fs);
}

TEST(tmpfs_symbolic_links_keep_their_target)
{
    struct fs *fs = fs_new(NULL);
    char target[4096], buf[5000];
    struct attr a;
    uint64_t ino;

    memset(target, 't', sizeof target);
    CHECK_EQ(fs->change->symlink(fs, fs->root, name_of("l"), target, 4096, &a),
             -ENAMETOOLONG);
    CHECK_EQ(fs->change->symlink(fs, fs->root, name_of("l"), target, 0, &a),
             -ENOENT);
    memset(&a, 0, sizeof a);
    CHECK_EQ(fs->change->symlink(fs, fs->root, name_of("l"), target, 4095, &a),
             0);
    CHECK_EQ(fs->ops->lookup(fs, fs->root, name_of("l"), &ino), 0);
    CHECK_EQ(fs->ops->readlink(fs, NULL, ino, buf, 5000), 4095);
    CHECK(!memcmp(buf, target, 4095));
    CHECK_EQ(fs->ops->readlink(fs, NULL, ino, buf, 10), 10);
    CHECK_EQ(fs->ops->readlink(fs, NULL, fs->root, buf, 10), -EINVAL);
    CHECK_EQ(fs->ops->getattr(fs, ino, &a), 0);
    CHECK_EQ(a.mode, S_IFLNK | 0777);
    CHECK_EQ(a.size, 4095);
    fs->ops->free(fs);
}

struct listing {
    struct dir_emit emit;
    char names[64];
    size_t n, max;
    uint64_t cookie;
};

static bool
list_entry(struct dir_emit *e, const char *name, size_t len, uint64_t ino,
           unsigned dtype, uint64_t cookie)
{
    struct listing *l = CONTAINER_OF(e, struct listing, emit);

    if (!l->max)
        return false;
    CHECK(ino && dtype);
    memcpy(l->names + l->n, name, len);
    l->n += len;
    l->max--;
    l->cookie = cookie;
    return true;
}

TEST(tmpfs_readdir_continues_where_it_stopped)
{
    struct fs *fs = fs_new(NULL);
    struct listing l = {.emit = {list_entry}, .max = 2};

    make(fs, "a", &file_attr);
    make(fs, "b", &file_attr);
    make(fs, "c", &dir_attr);
    CHECK_EQ(fs->ops->readdir(fs, fs->root, 0, &l.emit), 0);
    CHECK(!strcmp(l.names, "ab"));
    CHECK_EQ(fs->change->unlink(fs, fs->root, name_of("b"), 0), 0);
    make(fs, "d", &file_attr);
    l.max = 9;
    CHECK_EQ(fs->ops->readdir(fs, fs->root, l.cookie, &l.emit), 0);
    CHECK(!strcmp(l.names, "abcd"));
    fs->ops->free(fs);
}

static struct file *
open_file(struct fs *fs, uint64_t ino, uint32_t flags)
{
    struct file *f = NULL;
    CHECK_EQ(fs->ops->open(fs, NULL, ino, flags, &f), 0);
    return f;
}

TEST(tmpfs_file_reads_what_was_written)
{
    struct kernel k;
    fake_kernel(&k);
    struct fs *fs = fs_new(&k);
    uint64_t ino = make(fs, "f", &file_attr), pos = 0;
    struct file *f = open_file(fs, ino, O_RDWR);
    char buf[16];
    struct attr a;

    CHECK(f->has_pos);
    CHECK_EQ(f->ops->write(f, NULL, "hello", 5, &pos), 5);
    CHECK_EQ(pos, 5);
    CHECK_EQ(f->ops->read(f, NULL, buf, 16, &pos), 0);
    pos = 1;
    CHECK_EQ(f->ops->read(f, NULL, buf, 16, &pos), 4);
    CHECK(!memcmp(buf, "ello", 4));
    CHECK_EQ(pos, 5);
    CHECK_EQ(f->ops->getattr(f, &a), 0);
    CHECK_EQ(a.size, 5);
    CHECK_EQ(a.blocks, 8);
    CHECK_EQ(a.mtime_ns, 1000);
    file_put(f);
    fs->ops->free(fs);
}

TEST(tmpfs_file_appends_at_the_end)
{
    struct kernel k;
    fake_kernel(&k);
    struct fs *fs = fs_new(&k);
    uint64_t ino = make(fs, "f", &file_attr), pos = 0;
    struct file *f = open_file(fs, ino, O_WRONLY | O_APPEND);

    CHECK_EQ(f->ops->truncate(f, 100), 0);
    CHECK_EQ(file_append_pos(f, &pos), 0);
    CHECK_EQ(pos, 100);
    CHECK_EQ(f->ops->write(f, NULL, "x", 1, &pos), 1);
    CHECK_EQ(pos, 101);
    file_put(f);
    fs->ops->free(fs);
}

TEST(tmpfs_file_seeks)
{
    struct kernel k;
    fake_kernel(&k);
    struct fs *fs = fs_new(&k);
    uint64_t ino = make(fs, "f", &file_attr), pos = 8192;
    struct file *f = open_file(fs, ino, O_RDWR);

    CHECK_EQ(f->ops->write(f, NULL, "x", 1, &pos), 1);
    f->pos = 10;
    CHECK_EQ(f->ops->seek(f, 5, SEEK_SET), 5);
    CHECK_EQ(f->ops->seek(f, -3, SEEK_CUR), 7);
    CHECK_EQ(f->ops->seek(f, -11, SEEK_CUR), -EINVAL);
    CHECK_EQ(f->ops->seek(f, 1, SEEK_END), 8194);
    CHECK_EQ(f->ops->seek(f, INT64_MAX, SEEK_END), -EOVERFLOW);
    CHECK_EQ(f->ops->seek(f, 0, SEEK_DATA), 8192);
    CHECK_EQ(f->ops->seek(f, 8192, SEEK_HOLE), 8193);
    CHECK_EQ(f->ops->seek(f, 8193, SEEK_HOLE), -ENXIO);
    CHECK_EQ(f->ops->seek(f, -1, SEEK_DATA), -ENXIO);
    CHECK_EQ(f->ops->seek(f, 0, 99), -EINVAL);
    file_put(f);
    fs->ops->free(fs);
}

TEST(tmpfs_file_allocates_and_punches)
{
    struct kernel k;
    fake_kernel(&k);
    struct fs *fs = fs_new(&k);
    struct file *f = open_file(fs, make(fs, "f", &file_attr), O_RDWR);
    int punch = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    struct attr a;

    CHECK_EQ(f->ops->fallocate(f, 0, 0, 0), -EINVAL);
    CHECK_EQ(f->ops->fallocate(f, FALLOC_FL_PUNCH_HOLE, 0, 1), -EOPNOTSUPP);
    CHECK_EQ(f->ops->fallocate(f, 0, 0, 20000), 20000);
    CHECK_EQ(f->ops->getattr(f, &a), 0);
    CHECK_EQ(a.size, 20000);
    CHECK_EQ(a.blocks, 40);
    CHECK_EQ(f->ops->fallocate(f, punch, 4096, 8192), 8192);
    CHECK_EQ(f->ops->getattr(f, &a), 0);
    CHECK_EQ(a.size, 20000);
    CHECK_EQ(a.blocks, 24);
    CHECK_EQ(f->ops->fallocate(f, 0, FILE_BYTES_MAX, 1), -EFBIG);
    CHECK_EQ(f->ops->fallocate(f, 0, 0, 2 << 20), -ENOSPC);
    CHECK(k.limits.was_hit[LIMIT_file_bytes]);
    file_put(f);
    fs->ops->free(fs);
}

TEST(tmpfs_quotas_mark_the_limits)
{
    struct kernel k;
    fake_kernel(&k);
    struct fs *fs = NULL;
    uint64_t ino, pos = 0;

    CHECK_EQ(tmpfs_new(&k.vfs, NULL, 4096, 1, &fs), 0);
    ino = make(fs, "f", &file_attr);
    CHECK_EQ(fs->change->create(fs, fs->root, name_of("g"), &file_attr, &ino),
             -ENOSPC);
    CHECK(k.limits.was_hit[LIMIT_files]);
    CHECK(!k.limits.was_hit[LIMIT_file_bytes]);
    struct file *f = open_file(fs, ino, O_RDWR);
    CHECK_EQ(f->ops->write(f, NULL, "x", 1, &pos), 1);
    pos = 4096;
    CHECK_EQ(f->ops->write(f, NULL, "x", 1, &pos), -ENOSPC);
    CHECK(k.limits.was_hit[LIMIT_file_bytes]);
    file_put(f);
    fs->ops->free(fs);
}

/* The block in which the file ended costs all of itself then. */
TEST(tmpfs_file_made_longer_marks_the_limit)
{
    static char text[(1 << 20) - 100];
    struct kernel k;
    fake_kernel(&k);
    struct fs *fs = fs_new(&k);
    uint64_t a = make(fs, "a", &file_attr), b = make(fs, "b", &file_attr);
    struct file *f, *g;

    CHECK_EQ(fs->ops->open(fs, NULL, a, O_RDWR, &f), 0);
    CHECK_EQ(fs->ops->open(fs, NULL, b, O_RDWR, &g), 0);
    CHECK_EQ(f->ops->write(f, NULL, text, sizeof text, &f->pos), sizeof text);
    CHECK_EQ(g->ops->write(g, NULL, "b", 1, &g->pos), 1);
    CHECK(!k.limits.was_hit[LIMIT_file_bytes]);
    CHECK_EQ(f->ops->truncate(f, 2 << 20), -ENOSPC);
    CHECK(k.limits.was_hit[LIMIT_file_bytes]);
    file_put(f);
    file_put(g);
    fs->ops->free(fs);
}

TEST(tmpfs_file_of_a_lost_inode_is_stale)
{
    struct kernel k;
    fake_kernel(&k);
    struct fs *fs = fs_new(&k);
    struct file *f = open_file(fs, make(fs, "f", &file_attr), O_RDWR);
    uint64_t pos = 0;
    char c = 0;

    CHECK_EQ(fs->change->unlink(fs, fs->root, name_of("f"), 0), 0);
    CHECK_EQ(f->ops->read(f, NULL, &c, 1, &pos), -ESTALE);
    CHECK_EQ(f->ops->write(f, NULL, &c, 1, &pos), -ESTALE);
    CHECK_EQ(f->ops->truncate(f, 1), -ESTALE);
    CHECK_EQ(f->ops->seek(f, 1, SEEK_SET), -ESTALE);
    file_put(f);
    fs->ops->free(fs);
}

static void
fake_program_free(struct counted *p)
{
    free(p);
}

static struct program *
fake_program(void)
{
    struct program *p = calloc(1, sizeof *p);
    p->ref = (struct counted){1, fake_program_free};
    return p;
}

TEST(tmpfs_program_is_shared_by_clones_until_the_content_changes)
{
    struct fs *a = fs_new(NULL), *b = NULL;
    uint64_t f = make(a, "f", &file_attr);
    struct program *p = fake_program();
    struct attr size = {.size = 1};

    CHECK_EQ(tmpfs_new(NULL, tmpfs_tree(a), 1 << 20, 100, &b), 0);
    CHECK(!tmpfs_attached(a, f));
    tmpfs_attach(a, f, &p->ref);
    tmpfs_attach(b, f, &p->ref);
    tmpfs_attach(a, a->root, &p->ref);
    CHECK_EQ(p->ref.refs, 2);
    CHECK(tmpfs_attached(b, f) == &p->ref);
    CHECK_EQ(b->change->setattr(b, f, &size, ATTR_MODE), 0);
    CHECK(tmpfs_attached(b, f) == &p->ref);
    CHECK_EQ(b->change->setattr(b, f, &size, ATTR_SIZE), 0);
    CHECK(!tmpfs_attached(b, f));
    CHECK(tmpfs_attached(a, f) == &p->ref);
    CHECK_EQ(p->ref.refs, 2);
    program_put(p);
    b->ops->free(b);
    a->ops->free(a);
}

TEST(tmpfs_survives_each_allocation_failure)
{
    EACH_OOM(oom) {
        struct kernel k;
        struct fs *fs = NULL;
        struct file *f = NULL;
        uint64_t ino;
        fake_kernel(&k);
        if (tmpfs_new(&k.vfs, NULL, 1 << 20, 100, &fs) < 0)
            continue;
        if (!fs->change->tmpfile(fs, &file_attr, true, &ino)) {
            (void)fs->ops->open(fs, NULL, ino, O_RDWR, &f);
            fs->ops->release(fs, ino);
        }
        file_put(f);
        fs->ops->free(fs);
    }
}

TEST(tmpfs_tree_is_replaced_and_what_is_held_stays_held)
{
    struct fs *fs = fs_new(NULL);
    struct tree before = {0};
    uint64_t kept = make(fs, "kept", &dir_attr), ino;

    fs->ops->hold(fs, kept);
    CHECK_EQ(tree_clone(tmpfs_tree(fs), &before), 0);
    (void)make(fs, "new", &file_attr);
    uint64_t inodes = before.used.inodes;
    tmpfs_set_tree(fs, &before);
    CHECK_EQ(fs->ops->lookup(fs, fs->root, name_of("new"), &ino), -ENOENT);
    CHECK_EQ(tmpfs_tree(fs)->used.inodes, inodes);
    CHECK_EQ(tmpfs_tree(fs)->max.inodes, 100);
    CHECK_EQ(fs->change->unlink(fs, fs->root, name_of("kept"), UNLINK_DIR), 0);
    CHECK(tree_find(tmpfs_tree(fs), kept));
    fs->ops->release(fs, kept);
    CHECK(!tree_find(tmpfs_tree(fs), kept));
    fs->ops->free(fs);
}
