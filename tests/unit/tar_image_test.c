/* Root images from tars that are written here by hand. */
#include "host/tar.h"
#include "test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tar {
    _Alignas(4096) char v[64 * 1024];
    size_t len;
};

static void
tar_sum(char *h)
{
    unsigned sum = 0;

    memset(h + 148, ' ', 8);
    for (int i = 0; i < 512; i++)
        sum += (unsigned char)h[i];
    (void)snprintf(h + 148, 8, "%06o", sum);
}

static char *
tar_add(struct tar *t, const char *name, char type, const char *link,
        const void *data, size_t size)
{
    char *h = t->v + t->len;

    memset(h, 0, 512);
    (void)snprintf(h, 100, "%s", name);
    (void)snprintf(h + 100, 8, "%07o", type == '5' ? 0750 : 0640);
    (void)snprintf(h + 108, 8, "%07o", 10);
    (void)snprintf(h + 116, 8, "%07o", 20);
    (void)snprintf(h + 124, 12, "%011zo", size);
    (void)snprintf(h + 136, 12, "%011o", 1000);
    h[156] = type;
    (void)snprintf(h + 157, 100, "%s", link);
    memcpy(h + 257, "ustar\00000", 8);
    tar_sum(h);
    t->len += 512;
    memset(t->v + t->len, 0, (size + 511) / 512 * 512);
    if (size)
        memcpy(t->v + t->len, data, size);
    t->len += (size + 511) / 512 * 512;
    return h;
}

/* A PAX header with one record for the entry that follows. */
static void
tar_pax(struct tar *t, const char *key, const char *value)
{
    static char rec[8192];
    size_t len = strlen(key) + strlen(value) + 3, digits = 1;

    while (snprintf(NULL, 0, "%zu", len + digits) != (int)digits)
        digits++;
    (void)snprintf(rec, sizeof rec, "%zu %s=%s\n", len + digits, key, value);
    tar_add(t, "pax", 'x', "", rec, strlen(rec));
}

static void
tar_end(struct tar *t)
{
    memset(t->v + t->len, 0, 1024);
    t->len += 1024;
}

static uint64_t
walk(const struct image *img, const char *path)
{
    uint64_t ino = TREE_ROOT;

    for (const char *p = path; *p;) {
        struct name name = {p, strcspn(p, "/")};
        if (tree_lookup(image_tree(img), ino, name, &ino) < 0)
            return 0;
        p += name.len + (p[name.len] == '/');
    }
    return ino;
}

static const struct inode *
inode_at(const struct image *img, const char *path)
{
    return tree_find(image_tree(img), walk(img, path));
}

static struct image *
index_tar(struct tar *t)
{
    struct image *img = NULL;
    struct image_error err = {0};
    int r = tar_index(t->v, t->len, &img, &err);

    if (r < 0)
        printf("  refused at %llu: %s\n", (unsigned long long)err.offset,
               err.reason);
    CHECK_EQ(r, 0);
    return img;
}

static void
check_refused(struct tar *t, uint64_t offset, const char *part)
{
    struct image *img = NULL;
    struct image_error err = {.offset = 99999};

    CHECK_EQ(tar_index(t->v, t->len, &img, &err), -EINVAL);
    CHECK_EQ(err.offset, offset);
    if (!strstr(err.reason, part))
        printf("  reason: %s\n", err.reason);
    CHECK(strstr(err.reason, part) != NULL);
    image_put(img);
}

TEST(image_holds_the_entries_of_a_tar)
{
    static struct tar t;
    char buf[16];

    t.len = 0;
    tar_add(&t, "./", '5', "", "", 0);
    tar_add(&t, "bin/", '5', "", "", 0);
    tar_add(&t, "bin/sh", '0', "", "shell", 5);
    tar_add(&t, "bin/bash", '1', "bin/sh", "", 0);
    tar_add(&t, "lib", '2', "usr/lib", "", 0);
    tar_add(&t, "/abs/deep/file", '0', "", "", 0);
    tar_add(&t, "pipe", '6', "", "", 0);
    tar_end(&t);
    struct image *img = index_tar(&t);
    if (!img)
        return;
    const struct inode *sh = inode_at(img, "bin/sh");
    CHECK_EQ(sh->mode, S_IFREG | 0640);
    CHECK_EQ(sh->nlink, 2);
    CHECK_EQ(sh->uid, 10);
    CHECK_EQ(sh->gid, 20);
    CHECK_EQ(sh->mtime_ns, INT64_C(1000000000000));
    CHECK_EQ(inode_read(sh, 0, buf, 16), 5);
    CHECK(!memcmp(buf, "shell", 5));
    CHECK(inode_at(img, "bin/bash") == sh);
    CHECK_EQ(inode_at(img, "bin")->mtime_ns, INT64_C(1000000000000));
    CHECK_EQ(inode_at(img, "")->mode, S_IFDIR | 0750);
    CHECK_EQ(inode_read(inode_at(img, "lib"), 0, buf, 16), 7);
    CHECK_EQ(inode_at(img, "abs/deep")->mode, S_IFDIR | 0755);
    CHECK_EQ(inode_at(img, "abs/deep/file")->size, 0);
    CHECK(S_ISFIFO(inode_at(img, "pipe")->mode));
    CHECK_EQ(image_tree(img)->used.bytes, 0);
    CHECK_EQ(image_tree(img)->used.inodes, 0);
    image_put(image_get(img));
    image_put(img);
}

TEST(image_content_is_not_copied)
{
    static struct tar t;
    static char data[10000], got[10000];

    for (size_t i = 0; i < sizeof data; i++)
        data[i] = (char)(i * 7);
    t.len = 0;
    tar_add(&t, "f", '0', "", data, sizeof data);
    tar_end(&t);
    struct image *img = index_tar(&t);
    if (!img)
        return;
    const struct inode *f = inode_at(img, "f");
    for (uint64_t key = 0; key < 3; key++) {
        struct chunk *c = (struct chunk *)radix_find(&f->chunks, key);
        CHECK(c && c->is_foreign && c->is_uncharged);
        CHECK(c->data == (uint8_t *)t.v + 512 + key * 4096);
    }
    CHECK_EQ(inode_read(f, 0, got, sizeof got), sizeof got);
    CHECK(!memcmp(got, data, sizeof got));
    image_put(img);
}

TEST(image_outlived_by_its_clone)
{
    static struct tar t;
    struct tree c;
    struct quota q;
    char buf[8];

    t.len = 0;
    tar_add(&t, "f", '0', "", "content", 7);
    tar_end(&t);
    struct image *img = index_tar(&t);
    if (!img)
        return;
    uint64_t f = walk(img, "f");
    CHECK_EQ(tree_clone(image_tree(img), &c), 0);
    image_put(img);
    CHECK_EQ(tree_write(&c, f, 0, "C", 1, 1), 1);
    CHECK_EQ(inode_read(tree_find(&c, f), 0, buf, 8), 7);
    CHECK(!memcmp(buf, "Content", 7));
    CHECK_EQ(t.v[512], 'c');
    CHECK_EQ(c.used.bytes, 7);
    tree_recount(&c, &q);
    CHECK_EQ(q.bytes, 7);
    tree_fini(&c);
}

TEST(image_pax_headers_are_obeyed)
{
    static struct tar t;
    static char path[2000];
    struct image *img;

    t.len = 0;
    tar_pax(&t, "path", "d\xc3\xa4nisch");
    tar_add(&t, "x", '0', "", "1", 1);
    tar_pax(&t, "mtime", "1234567890.123456789");
    tar_add(&t, "time", '0', "", "", 0);
    memset(path, 'p', sizeof path);
    for (size_t i = 200; i < sizeof path; i += 200)
        path[i] = '/';
    path[sizeof path - 1] = 0;
    tar_pax(&t, "path", path);
    tar_add(&t, "x", '0', "", "deep", 4);
    tar_end(&t);
    img = index_tar(&t);
    if (!img)
        return;
    CHECK(walk(img, "d\xc3\xa4nisch") != 0);
    CHECK_EQ(inode_at(img, "time")->mtime_ns, INT64_C(1234567890123456789));
    CHECK_EQ(inode_at(img, path)->size, 4);
    image_put(img);
}

TEST(image_last_entry_of_a_name_wins)
{
    static struct tar t;
    char c = 0;

    t.len = 0;
    tar_add(&t, "a", '0', "", "1", 1);
    tar_add(&t, "a", '0', "", "2", 1);
    tar_add(&t, "b", '0', "", "", 0);
    tar_add(&t, "b/", '5', "", "", 0);
    tar_add(&t, "c/", '5', "", "", 0);
    tar_add(&t, "c/x", '0', "", "", 0);
    tar_add(&t, "c/", '5', "", "", 0);
    tar_add(&t, "d/", '5', "", "", 0);
    tar_add(&t, "d", '2', "c", "", 0);
    tar_add(&t, "a", '1', "a", "", 0);
    tar_end(&t);
    struct image *img = index_tar(&t);
    if (!img)
        return;
    CHECK_EQ(inode_read(inode_at(img, "a"), 0, &c, 1), 1);
    CHECK_EQ(c, '2');
    CHECK(S_ISDIR(inode_at(img, "b")->mode));
    CHECK(walk(img, "c/x") != 0);
    CHECK(S_ISLNK(inode_at(img, "d")->mode));
    image_put(img);
}

static void
check_entry_refused(const char *name, char type, const char *link,
                    const char *part)
{
    static struct tar t;

    t.len = 0;
    tar_add(&t, "ok", '0', "", "12345", 5);
    tar_add(&t, "sym", '2', "ok", "", 0);
    tar_add(&t, "full/x", '0', "", "", 0);
    size_t at = t.len;
    tar_add(&t, name, type, link, "", 0);
    tar_end(&t);
    check_refused(&t, at, part);
}

TEST(image_refuses_hostile_entries)
{
    check_entry_refused("../x", '0', "", "..");
    check_entry_refused("a/../../x", '0', "", "..");
    check_entry_refused("a/..", '5', "", "..");
    check_entry_refused("ok/below", '0', "", "Not a directory");
    check_entry_refused("sym/below", '0', "", "Not a directory");
    check_entry_refused("link", '1', "missing", "not a file");
    check_entry_refused("link", '1', "full", "not a file");
    check_entry_refused("link", '1', "../ok", "..");
    check_entry_refused("null", '3', "", "device");
    check_entry_refused("disk", '4', "", "device");
    check_entry_refused("full", '0', "", "not empty");
    check_entry_refused(".", '0', "", "root");
}

TEST(image_refuses_names_that_are_too_long)
{
    static struct tar t;
    static char name[5000];

    memset(name, 'n', sizeof name);
    name[256] = 0;
    t.len = 0;
    tar_pax(&t, "path", name);
    tar_add(&t, "x", '0', "", "", 0);
    tar_end(&t);
    check_refused(&t, 0, "component is too long");
    name[256] = 'n';
    for (size_t i = 100; i < sizeof name; i += 100)
        name[i] = '/';
    name[sizeof name - 1] = 0;
    t.len = 0;
    tar_pax(&t, "path", name);
    tar_add(&t, "x", '0', "", "", 0);
    tar_end(&t);
    check_refused(&t, 0, "name is too long");
}

TEST(image_refuses_damage)
{
    static struct tar t;

    t.len = 0;
    check_refused(&t, 0, "");
    tar_add(&t, "a", '0', "", "x", 1);
    check_refused(&t, 1024, "end mark");
    t.len = 1023;
    check_refused(&t, 0, "runcated");
    t.len = 1024;
    tar_add(&t, "b", '0', "", "x", 1);
    tar_end(&t);
    t.v[1024 + 3] ^= 1;
    check_refused(&t, 1024, "amaged");
    t.len = 0;
    char *h = tar_add(&t, "c", '0', "", "x", 1);
    tar_end(&t);
    (void)snprintf(h + 124, 12, "%011o", 1 << 30);
    tar_sum(h);
    check_refused(&t, 0, "runcated");
    memset(t.v, 'z', 4096);
    check_refused(&t, 0, "");
}

TEST(image_survives_each_allocation_failure)
{
    static struct tar t;

    t.len = 0;
    tar_add(&t, "d/f", '0', "", "content", 7);
    tar_add(&t, "d/g", '1', "d/f", "", 0);
    tar_add(&t, "l", '2', "d/f", "", 0);
    tar_end(&t);
    EACH_OOM(oom) {
        struct image *img = NULL;
        struct image_error err;
        int r = tar_index(t.v, t.len, &img, &err);
        CHECK(r == 0 || r == -ENOMEM);
        image_put(img);
    }
}
