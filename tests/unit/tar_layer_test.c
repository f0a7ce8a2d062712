/* Layers: what differs between two trees, as a tar and back. */
#include "host/tar.h"
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct attr dir_attr = {.mode = S_IFDIR | 0755};
static const struct attr file_attr = {.mode = S_IFREG | 0644};

static struct name
last_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return (struct name){slash ? slash + 1 : path,
                         strlen(slash ? slash + 1 : path)};
}

static uint64_t
find(const struct tree *t, const char *path, size_t len)
{
    uint64_t at = TREE_ROOT;

    for (const char *p = path; p < path + len;) {
        struct name n = {p, strcspn(p, "/")};
        p += n.len + 1;
        if (tree_lookup(t, at, n, &at) < 0)
            return 0;
    }
    return at;
}

static uint64_t
dir_of(const struct tree *t, const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? find(t, path, (size_t)(slash - path)) : TREE_ROOT;
}

static uint64_t
make(struct tree *t, const char *path, const struct attr *a, const char *text)
{
    uint64_t ino = 0;

    CHECK_EQ(tree_create(t, dir_of(t, path), last_of(path), a, 5, &ino), 0);
    if (*text)
        CHECK(tree_write(t, ino, 0, text, strlen(text), 5) > 0);
    return ino;
}

static void
drop(struct tree *t, const char *path, int flags)
{
    CHECK_EQ(tree_unlink(t, dir_of(t, path), last_of(path), flags, 7), 0);
}

static void
fill_base(struct tree *t)
{
    const struct quota max = {1 << 20, 100};

    CHECK_EQ(tree_init(t, &max, 1), 0);
    make(t, "d", &dir_attr, "");
    make(t, "d/e", &dir_attr, "");
    make(t, "d/e/same", &file_attr, "same");
    make(t, "d/gone", &file_attr, "gone");
    make(t, "d/changed", &file_attr, "old");
    make(t, "d/was_dir", &dir_attr, "");
    make(t, "d/was_dir/deep", &dir_attr, "");
    make(t, "d/was_dir/deep/f", &file_attr, "f");
    make(t, "d/was_file", &file_attr, "f");
    make(t, "gone_dir", &dir_attr, "");
    make(t, "gone_dir/f", &file_attr, "f");
    tree_uncharge(t);
}

/* Names and targets that are longer than the fields of a tar. */
static void
make_long(struct tree *t)
{
    struct attr far = {.mode = 0600, .uid = UINT32_MAX - 1, .gid = 1 << 21};
    char path[2 * 150 + 2], target[151];
    uint64_t ino;

    memset(target, 't', 150);
    target[150] = 0;
    CHECK_EQ(tree_symlink(t, TREE_ROOT, (struct name){"long", 4}, target, 150,
                          &file_attr, 5, &ino),
             0);
    memset(path, 'p', sizeof path);
    path[150] = 0;
    make(t, path, &dir_attr, "");
    path[150] = '/';
    path[151 + 80] = 0; /* a prefix and a name */
    make(t, path, &file_attr, "split");
    path[151 + 80] = 'p';
    path[sizeof path - 1] = 0;
    ino = make(t, path, &file_attr, "too long");
    CHECK_EQ(tree_setattr(t, ino, &far, ATTR_MODE | ATTR_UID | ATTR_GID, 9), 0);
}

static void
change(struct tree *t)
{
    struct attr a = {.mode = 04711, .uid = 3, .gid = 4, .mtime_ns = -5};
    uint64_t ino;

    drop(t, "d/gone", 0);
    drop(t, "gone_dir/f", 0);
    drop(t, "gone_dir", UNLINK_DIR);
    CHECK_EQ(tree_write(t, find(t, "d/changed", 9), 0, "new!", 4, 9), 4);
    drop(t, "d/was_dir/deep/f", 0);
    drop(t, "d/was_dir/deep", UNLINK_DIR);
    drop(t, "d/was_dir", UNLINK_DIR);
    make(t, "d/was_dir", &file_attr, "a file now");
    drop(t, "d/was_file", 0);
    make(t, "d/was_file", &dir_attr, "");
    ino = make(t, "d/was_file/\xff\xfe odd\n", &file_attr, "odd");
    CHECK_EQ(tree_setattr(t, ino, &a, 0x3f & ~ATTR_SIZE & ~ATTR_ATIME, 9), 0);
    make(t, "fifo", &(struct attr){.mode = S_IFIFO | 0600}, "");
    make(t, "socket", &(struct attr){.mode = S_IFSOCK | 0600}, "");
    ino = make(t, "l1", &file_attr, "linked");
    CHECK_EQ(tree_link(t, find(t, "d/e", 3), (struct name){"l2", 2}, ino, 5),
             0);
    CHECK_EQ(tree_symlink(t, TREE_ROOT, (struct name){"sym", 3}, "d/../x", 6,
                          &file_attr, 5, &ino),
             0);
    CHECK_EQ(tree_symlink(t, TREE_ROOT, (struct name){"sym\xc3\xa9", 5},
                          "d/\xc3\xa9", 4, &file_attr, 5, &ino),
             0);
    make_long(t);
    ino = make(t, "sparse", &file_attr, "begin");
    CHECK_EQ(tree_write(t, ino, UINT64_C(1) << 40, "end", 3, 5), 3);
    ino = make(t, "holes", &file_attr, "");
    CHECK_EQ(tree_truncate(t, ino, 1 << 30, 5), 0);
}

static bool
is_same_content(const struct inode *a, const struct inode *b)
{
    char x[4096], y[4096];

    for (uint64_t pos = 0; pos < a->size;) {
        int64_t at = inode_seek(a, pos, SEEK_DATA);
        if (at != inode_seek(b, pos, SEEK_DATA))
            return false;
        if (at < 0)
            return true;
        int64_t n = inode_read(a, (uint64_t)at, x, sizeof x);
        if (inode_read(b, (uint64_t)at, y, sizeof y) != n ||
            memcmp(x, y, (size_t)n))
            return false;
        pos = (uint64_t)(at + n);
    }
    return true;
}

/* By paths; sockets are left out. */
static void
check_same(const struct tree *a, uint64_t da, const struct tree *b, uint64_t db)
{
    const struct inode *x = tree_find(a, da), *y = tree_find(b, db);
    const struct dir_entry *e;
    uint32_t n = 0;

    for (uint64_t seq = 0; (e = dir_next(&x->dir, &seq)); seq++) {
        const struct inode *i = tree_find(a, e->ino), *j;
        uint64_t ino = 0;
        if (S_ISSOCK(i->mode))
            continue;
        n++;
        CHECK_EQ(tree_lookup(b, db, (struct name){e->name, e->len}, &ino), 0);
        j = tree_find(b, ino);
        if (!j)
            continue;
        CHECK(i->mode == j->mode && i->uid == j->uid && i->gid == j->gid);
        CHECK_EQ(j->mtime_ns, i->mtime_ns);
        if (inode_is_dir(i)) {
            check_same(a, e->ino, b, ino);
            continue;
        }
        CHECK_EQ(j->nlink, i->nlink);
        CHECK_EQ(j->size, i->size);
        CHECK(is_same_content(i, j));
    }
    CHECK_EQ(y->dir.n, n);
}

TEST(a_tree_is_what_its_base_and_its_layer_make)
{
    struct tree base = {0}, t = {0}, again = {0};
    struct layer_manifest manifest = {
        .name = ".manifest", .data = "12", .len = 2};
    struct layer_manifest read = {.name = ".manifest"};
    struct image_error err = {0};
    struct quota used;
    struct buf out;

    fill_base(&base);
    CHECK_EQ(tree_clone(&base, &t), 0);
    change(&t);
    buf_init(&out, 1 << 20);
    CHECK_EQ(tar_write(&base, &t, &manifest, &out, &err), 0);
    CHECK_EQ(tree_clone(&base, &again), 0);
    CHECK_EQ(tar_apply(out.p, out.len, &again, &read, &err), 0);
    if (err.reason[0])
        printf("    %s\n", err.reason);
    check_same(&t, TREE_ROOT, &again, TREE_ROOT);
    CHECK(read.len == 2 && !memcmp(read.data, "12", 2));
    CHECK(find(&again, "d/e/same", 8) == find(&base, "d/e/same", 8));
    tree_recount(&again, &used);
    CHECK(used.inodes == again.used.inodes && used.bytes == again.used.bytes);
    free(read.data);
    buf_fini(&out);
    tree_fini(&again);
    tree_fini(&t);
    tree_fini(&base);
}

/* Data, and blocks without data, that are longer than a step of a search. */
TEST(long_files_with_holes)
{
    const struct quota max = {100 << 20, 100};
    struct tree base = {0}, t = {0}, again = {0};
    struct image_error err = {0};
    struct buf out;
    enum { LEN = SEEK_STEP_BYTES + 12345, END = 3 * SEEK_STEP_BYTES };
    char *data = malloc(LEN);

    CHECK_EQ(tree_init(&base, &max, 1), 0);
    CHECK_EQ(tree_clone(&base, &t), 0);
    CHECK_EQ(tree_clone(&base, &again), 0);
    uint64_t ino = make(&t, "f", &file_attr, "");
    for (uint64_t at = 0; at < END; at += ALLOCATE_STEP_BYTES)
        CHECK_EQ(tree_allocate(&t, ino, at, ALLOCATE_STEP_BYTES, false, 5),
                 ALLOCATE_STEP_BYTES);
    memset(data, 'x', LEN);
    CHECK_EQ(tree_write(&t, ino, 5, data, LEN, 5), LEN);
    CHECK_EQ(tree_write(&t, ino, END, "end", 3, 5), 3);
    buf_init(&out, 100 << 20);
    CHECK_EQ(tar_write(&base, &t, NULL, &out, &err), 0);
    CHECK(out.len < 2 * SEEK_STEP_BYTES);
    CHECK_EQ(tar_apply(out.p, out.len, &again, NULL, &err), 0);
    const struct inode *i = tree_find(&again, find(&again, "f", 1));
    char *read = calloc(1, LEN);
    CHECK_EQ(i->size, END + 3);
    CHECK_EQ(inode_read(i, 5, read, LEN), LEN);
    CHECK(!memcmp(read, data, LEN));
    CHECK(inode_read(i, END, read, 3) == 3 && !memcmp(read, "end", 3));
    free(read);
    free(data);
    buf_fini(&out);
    tree_fini(&again);
    tree_fini(&t);
    tree_fini(&base);
}

static void
set_attribute(struct tree *t, uint64_t ino, const char *name, const char *value)
{
    struct xattr_name n = {name, strlen(name)};

    CHECK_EQ(tree_set_xattr(t, ino, n, value, value ? strlen(value) : 0, 9), 0);
}

static bool
has_attribute(const struct tree *t, const char *path, const char *name,
              const char *value)
{
    const struct inode *i = tree_find(t, find(t, path, strlen(path)));
    const void *p;
    size_t len;

    return xattrs_find(i->xattrs, (struct xattr_name){name, strlen(name)}, &p,
                       &len) == 0 &&
           len == strlen(value) && !memcmp(p, value, len);
}

TEST(extended_attributes_go_through_a_layer)
{
    struct tree base, t, back;
    struct image_error err = {0};
    struct buf out;

    fill_base(&base);
    set_attribute(&base, find(&base, "d", 1), "user.old", "x");
    tree_uncharge(&base);
    CHECK_EQ(tree_clone(&base, &t), 0);
    CHECK_EQ(tree_clone(&base, &back), 0);
    set_attribute(&t, find(&t, "d", 1), "user.old", NULL);
    set_attribute(&t, find(&t, "d", 1), "user.dir", "of a directory");
    set_attribute(&t, find(&t, "d/changed", 9), "user.\xc3\xa9", "n\nl=");
    set_attribute(&t, find(&t, "d/changed", 9), "user.empty", "");
    set_attribute(&t, find(&t, "d/changed", 9), "user.a=%41", "x=");
    buf_init(&out, 1 << 20);
    CHECK_EQ(tar_write(&base, &t, NULL, &out, &err), 0);
    CHECK_EQ(tar_apply(out.p, out.len, &back, NULL, &err), 0);
    CHECK(has_attribute(&back, "d", "user.dir", "of a directory"));
    CHECK(!has_attribute(&back, "d", "user.old", "x"));
    CHECK(has_attribute(&back, "d/changed", "user.\xc3\xa9", "n\nl="));
    CHECK(has_attribute(&back, "d/changed", "user.empty", ""));
    CHECK(has_attribute(&back, "d/changed", "user.a=%41", "x="));
    buf_fini(&out);
    tree_fini(&base);
    tree_fini(&t);
    tree_fini(&back);
}

TEST(a_layer_of_no_change_is_empty)
{
    struct tree base = {0}, t = {0};
    struct image_error err;
    struct buf out;

    fill_base(&base);
    CHECK_EQ(tree_clone(&base, &t), 0);
    buf_init(&out, 1 << 20);
    CHECK_EQ(tar_write(&base, &t, NULL, &out, &err), 0);
    CHECK_EQ(out.len, 1024);
    buf_fini(&out);
    tree_fini(&t);
    tree_fini(&base);
}

TEST(names_that_mean_something_else_are_not_written)
{
    static const char *const names[] = {".wh.x", ".manifest"};

    for (int i = 0; i < 2; i++) {
        struct tree base = {0}, t = {0};
        struct layer_manifest manifest = {.name = ".manifest"};
        struct image_error err;
        struct buf out;
        fill_base(&base);
        CHECK_EQ(tree_clone(&base, &t), 0);
        make(&t, names[i], &file_attr, "");
        buf_init(&out, 1 << 20);
        CHECK_EQ(tar_write(&base, &t, &manifest, &out, &err), -EINVAL);
        CHECK(strstr(err.reason, "cannot be exported"));
        buf_fini(&out);
        tree_fini(&t);
        tree_fini(&base);
    }
}

/* A layer made by hand: one member of a name, type and size. */
static int
apply(struct tree *t, const char *name, char type, unsigned size,
      struct image_error *err)
{
    char tar[512 * 4] = {0};
    unsigned sum = 0;

    strcpy(tar, name);
    strcpy(tar + 100, "0000644");
    strcpy(tar + 108, "0000000");
    strcpy(tar + 116, "0000000");
    (void)snprintf(tar + 124, 12, "%011o", size);
    strcpy(tar + 136, "00000000000");
    memset(tar + 148, ' ', 8);
    tar[156] = type;
    memcpy(tar + 257, "ustar\00000", 8);
    for (int i = 0; i < 512; i++)
        sum += (unsigned char)tar[i];
    (void)snprintf(tar + 148, 8, "%06o", sum);
    size_t body = size ? 512 : 0;
    return tar_apply(tar, 512 + body + 1024, t, NULL, err);
}

TEST(opaque_folders_hide_what_was_there)
{
    struct tree t = {0};
    struct image_error err;

    fill_base(&t);
    CHECK_EQ(apply(&t, "d/.wh..wh..opq", '0', 0, &err), 0);
    CHECK(find(&t, "d", 1) && !find(&t, "d/e", 3) && !find(&t, "d/was_dir", 9));
    CHECK_EQ(apply(&t, ".wh.d", '0', 0, &err), 0);
    CHECK(!find(&t, "d", 1));
    CHECK_EQ(apply(&t, "nowhere/.wh.d", '0', 0, &err), 0);
    tree_fini(&t);
}

TEST(hostile_layers_are_refused)
{
    static const struct {
        const char *name;
        char type;
        unsigned size;
        int want;
    } rows[] = {
        {"../x", '0', 0, -EINVAL},
        {"/x", '0', 0, -EINVAL},
        {"d/../../x", '0', 0, -EINVAL},
        {"dev", '3', 0, -EINVAL},
        {".wh.", '0', 0, -EINVAL},
        {".wh..", '0', 0, -EINVAL},
        {".wh...", '0', 0, -EINVAL},
        {"d/.wh..wh.plnk", '0', 0, -EINVAL},
        {"x", '0', 01000000, -EINVAL},
        {"d/gone/x", '0', 0, -EINVAL},
        {"x", '1', 0, -EINVAL},
        {"d/e", '0', 0, 0},
        {"x", '0', 512, 0},
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tree t = {0};
        struct image_error err = {0};
        fill_base(&t);
        int r = apply(&t, rows[i].name, rows[i].type, rows[i].size, &err);
        if (r != rows[i].want)
            printf("    %s: %d %s\n", rows[i].name, r, err.reason);
        CHECK_EQ(r, rows[i].want);
        CHECK(r == 0 || err.reason[0]);
        tree_fini(&t);
    }
}

TEST(a_layer_that_is_too_large_hits_the_quota)
{
    struct tree t = {0};
    struct image_error err;

    fill_base(&t);
    t.max = (struct quota){.bytes = 0, .inodes = 10};
    CHECK_EQ(apply(&t, "x", '0', 512, &err), -ENOSPC);
    CHECK(t.hit_bytes);
    t.max = (struct quota){.bytes = 1 << 20, .inodes = 0};
    CHECK_EQ(apply(&t, "y", '0', 0, &err), -ENOSPC);
    CHECK(t.hit_inodes);
    tree_fini(&t);
}
