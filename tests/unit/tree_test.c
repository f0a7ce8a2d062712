/* The file-system state: names, contents, quotas, clones. */
#include "kernel/vfs/tree.h"
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_ATTR                                        \
    &(struct attr)                                       \
    {                                                    \
        .mode = S_IFREG | 0644, .uid = 1000, .gid = 1000 \
    }
#define DIR_ATTR                                         \
    &(struct attr)                                       \
    {                                                    \
        .mode = S_IFDIR | 0755, .uid = 1000, .gid = 1000 \
    }

static const struct quota big = {UINT64_C(1) << 40, 1000000};

static struct name
name_of(const char *s)
{
    return (struct name){s, strlen(s)};
}

static uint64_t
make(struct tree *t, uint64_t dir, const char *name, const struct attr *a)
{
    uint64_t ino = 0;
    CHECK_EQ(tree_create(t, dir, name_of(name), a, 1, &ino), 0);
    return ino;
}

static uint64_t
lookup(const struct tree *t, uint64_t dir, const char *name)
{
    uint64_t ino = 0;
    return tree_lookup(t, dir, name_of(name), &ino) ? 0 : ino;
}

static int
unlink_name(struct tree *t, uint64_t dir, const char *name)
{
    return tree_unlink(t, dir, name_of(name), 0, 2);
}

static int
rename_name(struct tree *t, uint64_t dir, const char *name, uint64_t dir2,
            const char *name2, unsigned flags)
{
    return tree_rename(t, dir, name_of(name), dir2, name_of(name2), flags, 3);
}

static uint32_t
nlink_of(const struct tree *t, uint64_t ino)
{
    const struct inode *i = tree_find(t, ino);
    return i ? i->nlink : 0;
}

static void
check_used(const struct tree *t)
{
    struct quota q;

    tree_recount(t, &q);
    CHECK_EQ(t->used.bytes, q.bytes);
    CHECK_EQ(t->used.inodes, q.inodes);
}

static void
check_fini(struct tree *t)
{
    check_used(t);
    tree_fini(t);
}

TEST(tree_begins_with_a_root_directory)
{
    struct tree t;

    CHECK_EQ(tree_init(&t, &big, 5), 0);
    const struct inode *root = tree_find(&t, TREE_ROOT);
    CHECK_EQ(root->mode, S_IFDIR | 0755);
    CHECK_EQ(root->nlink, 2);
    CHECK_EQ(root->parent, TREE_ROOT);
    CHECK_EQ(t.used.inodes, 0);
    check_fini(&t);
}

TEST(tree_counts_links_of_directories)
{
    struct tree t;

    CHECK_EQ(tree_init(&t, &big, 0), 0);
    uint64_t a = make(&t, TREE_ROOT, "a", DIR_ATTR);
    uint64_t b = make(&t, a, "b", DIR_ATTR);
    make(&t, a, "f", FILE_ATTR);
    CHECK_EQ(nlink_of(&t, TREE_ROOT), 3);
    CHECK_EQ(nlink_of(&t, a), 3);
    CHECK_EQ(nlink_of(&t, b), 2);
    CHECK_EQ(tree_unlink(&t, TREE_ROOT, name_of("a"), 0, 1), -EISDIR);
    CHECK_EQ(tree_unlink(&t, TREE_ROOT, name_of("a"), UNLINK_DIR, 1),
             -ENOTEMPTY);
    CHECK_EQ(tree_unlink(&t, a, name_of("f"), UNLINK_DIR, 1), -ENOTDIR);
    CHECK_EQ(tree_unlink(&t, a, name_of("b"), UNLINK_DIR, 1), 0);
    CHECK_EQ(nlink_of(&t, a), 2);
    CHECK(!tree_find(&t, b));
    check_fini(&t);
}

TEST(tree_removed_directory_takes_no_names)
{
    struct tree t;
    uint64_t ino;

    CHECK_EQ(tree_init(&t, &big, 0), 0);
    uint64_t a = make(&t, TREE_ROOT, "a", DIR_ATTR);
    tree_hold(&t, a);
    CHECK_EQ(tree_unlink(&t, TREE_ROOT, name_of("a"), UNLINK_DIR, 1), 0);
    CHECK_EQ(tree_create(&t, a, name_of("x"), FILE_ATTR, 1, &ino), -ENOENT);
    CHECK_EQ(tree_lookup(&t, a, name_of("x"), &ino), -ENOENT);
    tree_release(&t, a);
    CHECK(!tree_find(&t, a));
    check_fini(&t);
}

TEST(tree_unlinked_file_lives_while_it_is_held)
{
    struct tree t;
    char c;

    CHECK_EQ(tree_init(&t, &big, 0), 0);
    uint64_t f = make(&t, TREE_ROOT, "f", FILE_ATTR);
    CHECK_EQ(tree_write(&t, f, 0, "x", 1, 1), 1);
    tree_hold(&t, f);
    tree_hold(&t, f);
    CHECK_EQ(unlink_name(&t, TREE_ROOT, "f"), 0);
    CHECK_EQ(tree_link(&t, TREE_ROOT, name_of("g"), f, 1), -ENOENT);
    tree_release(&t, f);
    CHECK_EQ(inode_read(tree_find(&t, f), 0, &c, 1), 1);
    CHECK_EQ(t.used.bytes, 4096);
    check_used(&t);
    tree_release(&t, f);
    CHECK(!tree_find(&t, f));
    CHECK_EQ(t.used.bytes, 0);
    CHECK_EQ(tree_write(&t, f, 0, "x", 1, 1), -ESTALE);
    check_fini(&t);
}

TEST(tree_file_without_a_name_can_be_given_one)
{
    struct tree t;
    uint64_t f, g;

    CHECK_EQ(tree_init(&t, &big, 0), 0);
    CHECK_EQ(tree_tmpfile(&t, FILE_ATTR, 1, &f), 0);
    CHECK_EQ(tree_tmpfile(&t, FILE_ATTR, 1, &g), 0);
    CHECK_EQ(nlink_of(&t, f), 0);
    CHECK_EQ(tree_link(&t, TREE_ROOT, name_of("f"), f, 1), 0);
    CHECK_EQ(t.used.inodes, 2);
    tree_release(&t, f);
    tree_release(&t, g);
    CHECK_EQ(lookup(&t, TREE_ROOT, "f"), f);
    CHECK_EQ(t.used.inodes, 1);
    check_fini(&t);
}

TEST(tree_further_names_cost_an_inode_each)
{
    struct tree t;
    const struct quota max = {1 << 20, 2};

    CHECK_EQ(tree_init(&t, &max, 0), 0);
    uint64_t f = make(&t, TREE_ROOT, "f", FILE_ATTR);
    CHECK_EQ(tree_link(&t, TREE_ROOT, name_of("g"), f, 1), 0);
    CHECK_EQ(tree_link(&t, TREE_ROOT, name_of("g"), f, 1), -EEXIST);
    CHECK_EQ(tree_link(&t, TREE_ROOT, name_of("h"), f, 1), -ENOSPC);
    CHECK(t.hit_inodes && !t.hit_bytes);
    CHECK_EQ(nlink_of(&t, f), 2);
    check_used(&t);
    CHECK_EQ(unlink_name(&t, TREE_ROOT, "f"), 0);
    CHECK_EQ(t.used.inodes, 1);
    CHECK_EQ(tree_link(&t, TREE_ROOT, name_of("d"), TREE_ROOT, 1), -EPERM);
    check_fini(&t);
}

TEST(tree_write_stops_at_the_quota)
{
    struct tree t;
    const struct quota max = {8192 + 4095, 10};
    char buf[16384] = "x";

    CHECK_EQ(tree_init(&t, &max, 0), 0);
    uint64_t f = make(&t, TREE_ROOT, "f", FILE_ATTR);
    CHECK_EQ(tree_write(&t, f, 100, buf, sizeof buf, 1), 8092);
    CHECK_EQ(tree_find(&t, f)->size, 8192);
    CHECK_EQ(tree_write(&t, f, 8192, buf, 1, 1), -ENOSPC);
    CHECK(t.hit_bytes && !t.hit_inodes);
    CHECK_EQ(tree_write(&t, f, 0, buf, 8192, 1), 8192);
    CHECK_EQ(tree_write(&t, f, FILE_BYTES_MAX, buf, 1, 1), -EFBIG);
    CHECK_EQ(tree_truncate(&t, f, FILE_BYTES_MAX + 1, 1), -EFBIG);
    CHECK_EQ(tree_truncate(&t, f, FILE_BYTES_MAX, 1), 0);
    check_fini(&t);
}

TEST(tree_holes_cost_nothing_and_read_as_zeros)
{
    struct tree t;
    char buf[3] = "xyz";

    CHECK_EQ(tree_init(&t, &big, 0), 0);
    uint64_t f = make(&t, TREE_ROOT, "f", FILE_ATTR);
    CHECK_EQ(tree_write(&t, f, UINT64_C(1) << 40, "end", 3, 1), 3);
    CHECK_EQ(t.used.bytes, 4096);
    const struct inode *i = tree_find(&t, f);
    CHECK_EQ(inode_read(i, 12345, buf, 3), 3);
    CHECK(!memcmp(buf, "\0\0\0", 3));
    CHECK_EQ(inode_seek(i, 0, SEEK_HOLE), 0);
    CHECK_EQ(inode_seek(i, 5, SEEK_DATA), INT64_C(1) << 40);
    CHECK_EQ(inode_seek(i, UINT64_C(1) << 40, SEEK_HOLE), (1LL << 40) + 3);
    CHECK_EQ(inode_seek(i, (UINT64_C(1) << 40) + 3, SEEK_DATA), -ENXIO);
    check_fini(&t);
}

TEST(tree_truncated_bytes_do_not_come_back)
{
    struct tree t;
    char buf[6000], got[6000];

    memset(buf, 'a', sizeof buf);
    CHECK_EQ(tree_init(&t, &big, 0), 0);
    uint64_t f = make(&t, TREE_ROOT, "f", FILE_ATTR);
    CHECK_EQ(tree_write(&t, f, 0, buf, 6000, 1), 6000);
    CHECK_EQ(tree_truncate(&t, f, 10, 1), 0);
    CHECK_EQ(t.used.bytes, 4096);
    CHECK_EQ(tree_truncate(&t, f, 6000, 1), 0);
    CHECK_EQ(inode_read(tree_find(&t, f), 0, got, 6000), 6000);
    memset(buf + 10, 0, 5990);
    CHECK(!memcmp(buf, got, 6000));
    CHECK_EQ(tree_truncate(&t, f, 0, 1), 0);
    CHECK_EQ(t.used.bytes, 0);
    check_fini(&t);
}

TEST(tree_allocate_reserves_and_punch_gives_back)
{
    struct tree t;
    const struct quota max = {10 * 4096, 10};
    char c = 'x';

    CHECK_EQ(tree_init(&t, &max, 0), 0);
    uint64_t f = make(&t, TREE_ROOT, "f", FILE_ATTR);
    CHECK_EQ(tree_allocate(&t, f, 0, 11 * 4096, false, 1), -ENOSPC);
    CHECK_EQ(t.used.bytes, 0);
    CHECK_EQ(tree_allocate(&t, f, 0, 9 * 4096, true, 1), 0);
    CHECK_EQ(tree_find(&t, f)->size, 0);
    CHECK_EQ(t.used.bytes, 9 * 4096);
    CHECK_EQ(tree_allocate(&t, f, 4096, 8 * 4096, false, 1), 0);
    CHECK_EQ(tree_find(&t, f)->size, 9 * 4096);
    CHECK_EQ(inode_seek(tree_find(&t, f), 0, SEEK_DATA), -ENXIO);
    CHECK_EQ(tree_write(&t, f, 5000, "ab", 2, 1), 2);
    CHECK_EQ(inode_seek(tree_find(&t, f), 0, SEEK_DATA), 4096);
    CHECK_EQ(tree_punch(&t, f, 5001, 9000, 1), 0);
    CHECK_EQ(t.used.bytes, 8 * 4096);
    CHECK_EQ(inode_read(tree_find(&t, f), 5001, &c, 1), 1);
    CHECK_EQ(c, 0);
    CHECK_EQ(inode_read(tree_find(&t, f), 5000, &c, 1), 1);
    CHECK_EQ(c, 'a');
    CHECK_EQ(tree_find(&t, f)->size, 9 * 4096);
    check_fini(&t);
}

TEST(tree_rename_obeys_the_kinds)
{
    struct tree t;

    CHECK_EQ(tree_init(&t, &big, 0), 0);
    uint64_t a = make(&t, TREE_ROOT, "a", DIR_ATTR);
    uint64_t b = make(&t, TREE_ROOT, "b", DIR_ATTR);
    uint64_t c = make(&t, a, "c", DIR_ATTR);
    uint64_t f = make(&t, TREE_ROOT, "f", FILE_ATTR);
    CHECK_EQ(rename_name(&t, TREE_ROOT, "no", TREE_ROOT, "b", 0), -ENOENT);
    CHECK_EQ(rename_name(&t, TREE_ROOT, "f", TREE_ROOT, "b", 0), -EISDIR);
    CHECK_EQ(rename_name(&t, TREE_ROOT, "b", TREE_ROOT, "f", 0), -ENOTDIR);
    CHECK_EQ(rename_name(&t, TREE_ROOT, "b", TREE_ROOT, "a", 0), -ENOTEMPTY);
    CHECK_EQ(rename_name(&t, TREE_ROOT, "a", c, "x", 0), -EINVAL);
    CHECK_EQ(rename_name(&t, TREE_ROOT, "a", a, "x", 0), -EINVAL);
    CHECK_EQ(rename_name(&t, a, "c", TREE_ROOT, "a", 0), -ENOTEMPTY);
    CHECK_EQ(rename_name(&t, TREE_ROOT, "f", f, "x", 0), -ENOTDIR);
    CHECK_EQ(rename_name(&t, TREE_ROOT, "f", TREE_ROOT, "x", 64), -EINVAL);
    CHECK_EQ(rename_name(&t, TREE_ROOT, "a", TREE_ROOT, "b", 0), 0);
    CHECK_EQ(lookup(&t, TREE_ROOT, "b"), a);
    CHECK(!tree_find(&t, b));
    CHECK_EQ(nlink_of(&t, TREE_ROOT), 3);
    CHECK_EQ(rename_name(&t, a, "c", TREE_ROOT, "c", 0), 0);
    CHECK_EQ(nlink_of(&t, TREE_ROOT), 4);
    CHECK_EQ(nlink_of(&t, a), 2);
    CHECK_EQ(tree_find(&t, c)->parent, TREE_ROOT);
    check_fini(&t);
}

TEST(tree_rename_onto_another_name_of_the_file_does_nothing)
{
    struct tree t;

    CHECK_EQ(tree_init(&t, &big, 0), 0);
    uint64_t f = make(&t, TREE_ROOT, "f", FILE_ATTR);
    CHECK_EQ(tree_link(&t, TREE_ROOT, name_of("g"), f, 1), 0);
    CHECK_EQ(rename_name(&t, TREE_ROOT, "f", TREE_ROOT, "g", 0), 0);
    CHECK_EQ(rename_name(&t, TREE_ROOT, "f", TREE_ROOT, "f", 0), 0);
    CHECK_EQ(nlink_of(&t, f), 2);
    CHECK_EQ(lookup(&t, TREE_ROOT, "f"), f);
    check_fini(&t);
}

TEST(tree_rename_replaces_and_keeps_a_held_victim)
{
    struct tree t;

    CHECK_EQ(tree_init(&t, &big, 0), 0);
    uint64_t f = make(&t, TREE_ROOT, "f", FILE_ATTR);
    uint64_t g = make(&t, TREE_ROOT, "g", FILE_ATTR);
    tree_hold(&t, g);
    CHECK_EQ(rename_name(&t, TREE_ROOT, "f", TREE_ROOT, "g", RENAME_NOREPLACE),
             -EEXIST);
    CHECK_EQ(rename_name(&t, TREE_ROOT, "f", TREE_ROOT, "g", 0), 0);
    CHECK_EQ(lookup(&t, TREE_ROOT, "g"), f);
    CHECK_EQ(lookup(&t, TREE_ROOT, "f"), 0);
    CHECK(tree_find(&t, g) != NULL);
    check_used(&t);
    tree_release(&t, g);
    CHECK(!tree_find(&t, g));
    check_fini(&t);
}

TEST(tree_rename_exchanges_a_file_and_a_directory)
{
    struct tree t;

    CHECK_EQ(tree_init(&t, &big, 0), 0);
    uint64_t a = make(&t, TREE_ROOT, "a", DIR_ATTR);
    uint64_t b = make(&t, a, "b", DIR_ATTR);
    uint64_t f = make(&t, TREE_ROOT, "f", FILE_ATTR);
    CHECK_EQ(rename_name(&t, a, "b", TREE_ROOT, "n", RENAME_EXCHANGE), -ENOENT);
    CHECK_EQ(rename_name(&t, a, "b", TREE_ROOT, "a", RENAME_EXCHANGE), -EINVAL);
    CHECK_EQ(rename_name(&t, a, "b", TREE_ROOT, "f", RENAME_EXCHANGE), 0);
    CHECK_EQ(lookup(&t, TREE_ROOT, "f"), b);
    CHECK_EQ(lookup(&t, a, "b"), f);
    CHECK_EQ(tree_find(&t, b)->parent, TREE_ROOT);
    CHECK_EQ(nlink_of(&t, TREE_ROOT), 4);
    CHECK_EQ(nlink_of(&t, a), 2);
    check_fini(&t);
}

TEST(tree_times_and_bits_change_as_on_linux)
{
    struct tree t;
    struct attr a = {.mode = S_IFREG | 06755};

    CHECK_EQ(tree_init(&t, &big, 0), 0);
    uint64_t f = make(&t, TREE_ROOT, "f", &a);
    CHECK_EQ(tree_find(&t, TREE_ROOT)->mtime_ns, 1);
    CHECK_EQ(tree_write(&t, f, 0, "x", 1, 7), 1);
    const struct inode *i = tree_find(&t, f);
    CHECK_EQ(i->mode, S_IFREG | 0755);
    CHECK_EQ(i->mtime_ns, 7);
    CHECK_EQ(i->atime_ns, 1);
    a.mode = 06755;
    CHECK_EQ(tree_setattr(&t, f, &a, ATTR_MODE, 8), 0);
    CHECK_EQ(tree_find(&t, f)->mode, S_IFREG | 06755);
    CHECK_EQ(tree_find(&t, f)->mtime_ns, 7);
    CHECK_EQ(tree_find(&t, f)->ctime_ns, 8);
    a.uid = 5;
    CHECK_EQ(tree_setattr(&t, f, &a, ATTR_UID, 9), 0);
    CHECK_EQ(tree_find(&t, f)->mode, S_IFREG | 0755);
    CHECK_EQ(tree_find(&t, f)->uid, 5);
    a.mtime_ns = 44;
    CHECK_EQ(tree_setattr(&t, f, &a, ATTR_MTIME, 10), 0);
    CHECK_EQ(tree_find(&t, f)->mtime_ns, 44);
    CHECK_EQ(tree_setattr(&t, 999, &a, ATTR_MTIME, 10), -ESTALE);
    check_fini(&t);
}

TEST(tree_clone_leaves_out_what_has_no_name)
{
    struct tree a, b;

    CHECK_EQ(tree_init(&a, &big, 0), 0);
    uint64_t f = make(&a, TREE_ROOT, "f", FILE_ATTR);
    uint64_t g = make(&a, TREE_ROOT, "g", FILE_ATTR);
    CHECK_EQ(tree_write(&a, f, 0, "x", 1, 1), 1);
    CHECK_EQ(tree_write(&a, g, 0, "y", 1, 1), 1);
    tree_hold(&a, f);
    CHECK_EQ(unlink_name(&a, TREE_ROOT, "f"), 0);
    CHECK_EQ(tree_clone(&a, &b), 0);
    CHECK(!tree_find(&b, f));
    CHECK(tree_find(&b, g) != NULL);
    CHECK_EQ(b.used.bytes, 4096);
    CHECK_EQ(a.used.bytes, 8192);
    check_used(&b);
    tree_release(&a, f);
    check_fini(&a);
    check_fini(&b);
}

TEST(tree_files_of_the_image_cost_from_their_first_write)
{
    static const char image[8192] = "image";
    struct tree a, b;
    char c;

    CHECK_EQ(tree_init(&a, &big, 0), 0);
    uint64_t f = make(&a, TREE_ROOT, "f", FILE_ATTR);
    CHECK_EQ(tree_write(&a, f, 0, image, 8192, 1), 8192);
    CHECK_EQ(tree_link(&a, TREE_ROOT, name_of("g"), f, 1), 0);
    tree_make_free(&a);
    check_used(&a);
    CHECK_EQ(tree_clone(&a, &b), 0);
    CHECK_EQ(b.used.inodes + b.used.bytes, 0);
    CHECK_EQ(tree_write(&b, f, 4096, "x", 1, 1), 1);
    CHECK_EQ(b.used.bytes, 4096);
    CHECK_EQ(tree_link(&b, TREE_ROOT, name_of("h"), f, 1), 0);
    CHECK_EQ(b.used.inodes, 1);
    CHECK_EQ(unlink_name(&b, TREE_ROOT, "f"), 0);
    CHECK_EQ(b.used.inodes, 0);
    CHECK_EQ(unlink_name(&b, TREE_ROOT, "g"), 0);
    CHECK_EQ(unlink_name(&b, TREE_ROOT, "h"), 0);
    CHECK_EQ(b.used.inodes + b.used.bytes, 0);
    CHECK_EQ(inode_read(tree_find(&a, f), 4096, &c, 1), 1);
    CHECK_EQ(c, 0);
    check_fini(&a);
    check_fini(&b);
}

TEST(tree_deep_directories_are_freed_without_recursion)
{
    struct tree t;
    uint64_t dir = TREE_ROOT;

    CHECK_EQ(tree_init(&t, &big, 0), 0);
    for (int i = 0; i < 100000; i++)
        dir = make(&t, dir, "d", DIR_ATTR);
    CHECK_EQ(rename_name(&t, TREE_ROOT, "d", dir, "x", 0), -EINVAL);
    tree_fini(&t);
}

TEST(tree_survives_each_allocation_failure)
{
    EACH_OOM(oom)
    {
        struct tree t = {0}, c = {0};
        uint64_t d = 0, f = 0, l;
        if (tree_init(&t, &big, 0) < 0)
            continue;
        (void)tree_create(&t, TREE_ROOT, name_of("d"), DIR_ATTR, 1, &d);
        (void)tree_create(&t, TREE_ROOT, name_of("f"), FILE_ATTR, 1, &f);
        (void)tree_symlink(&t, TREE_ROOT, name_of("l"), "f", 1, FILE_ATTR, 1,
                           &l);
        (void)tree_write(&t, f, 4090, "0123456789", 10, 1);
        (void)tree_tmpfile(&t, FILE_ATTR, 1, &l);
        int r = tree_clone(&t, &c);
        (void)tree_punch(&c, f, 4092, 2, 1);
        (void)tree_allocate(&c, f, 0, 100000, false, 1);
        (void)tree_truncate(&c, f, 4093, 1);
        (void)tree_link(&c, TREE_ROOT, name_of("g"), f, 1);
        (void)rename_name(&c, TREE_ROOT, "f", d, "f", 0);
        (void)rename_name(&c, d, "f", TREE_ROOT, "l", 0);
        (void)rename_name(&c, TREE_ROOT, "d", TREE_ROOT, "g", RENAME_EXCHANGE);
        (void)unlink_name(&c, TREE_ROOT, "l");
        CHECK(r == 0 || radix_is_empty(&c.inodes));
        check_fini(&t);
        check_fini(&c);
    }
}

/* --- random operations on trees that diverge */

struct world {
    struct tree t;
    uint64_t held[8]; /* 0: none */
};

static unsigned
dice(unsigned *seed, unsigned n)
{
    return (unsigned)rand_r(seed) % n;
}

static const char *const names[] = {"a", "b", "c", "d", "e", "f"};

static struct name
any_name(unsigned *seed)
{
    return name_of(names[dice(seed, 6)]);
}

static uint64_t
any_ino(const struct tree *t, unsigned *seed)
{
    uint64_t ino = dice(seed, (unsigned)t->next_ino + 1);
    return radix_next(&t->inodes, &ino) ? ino : TREE_ROOT;
}

static void
random_content(struct tree *t, unsigned *seed)
{
    static const char buf[20000] = "content";
    uint64_t ino = any_ino(t, seed), off = dice(seed, 60000);
    size_t len = dice(seed, sizeof buf) + 1;

    if (!S_ISREG(tree_find(t, ino)->mode))
        return;
    switch (dice(seed, 5)) {
    case 0:
        (void)tree_truncate(t, ino, off, 1);
        break;
    case 1:
        (void)tree_punch(t, ino, off, len, 1);
        break;
    case 2:
        (void)tree_allocate(t, ino, off, len, dice(seed, 2), 1);
        break;
    default:
        (void)tree_write(t, ino, off, buf, len, 1);
    }
}

static void
random_name(struct tree *t, unsigned *seed)
{
    uint64_t dir = any_ino(t, seed), ino = any_ino(t, seed);
    static const unsigned flags[] = {0, 0, RENAME_NOREPLACE, RENAME_EXCHANGE};
    struct name name = any_name(seed);

    switch (dice(seed, 8)) {
    case 0:
        (void)tree_create(t, dir, name, DIR_ATTR, 1, &ino);
        break;
    case 1:
        (void)tree_create(t, dir, name, FILE_ATTR, 1, &ino);
        break;
    case 2:
        (void)tree_symlink(t, dir, name, "to", 2, FILE_ATTR, 1, &ino);
        break;
    case 3:
        (void)tree_link(t, dir, name, ino, 1);
        break;
    case 4:
    case 5:
        (void)tree_unlink(t, dir, name, (int)dice(seed, 2), 1);
        break;
    default:
        (void)tree_rename(t, dir, name, any_ino(t, seed), any_name(seed),
                          flags[dice(seed, 4)], 1);
    }
}

static void
random_hold(struct world *w, unsigned *seed)
{
    uint64_t *h = &w->held[dice(seed, 8)];

    if (*h) {
        tree_release(&w->t, *h);
        *h = 0;
    } else if (dice(seed, 4) == 0) {
        (void)tree_tmpfile(&w->t, FILE_ATTR, 1, h);
    } else {
        *h = any_ino(&w->t, seed);
        tree_hold(&w->t, *h);
    }
}

/* Every inode has as many links as there are names for it. */
static void
check_links(const struct tree *t)
{
    uint64_t ino = 0, links = 0, names_seen = 0;
    const struct inode *i;

    for (; (i = (const struct inode *)radix_next(&t->inodes, &ino)); ino++) {
        if (!inode_is_dir(i)) {
            links += i->nlink;
            continue;
        }
        uint64_t seq = 0, subdirs = 0;
        const struct dir_entry *e;
        for (; (e = dir_next(&i->dir, &seq)); seq++) {
            const struct inode *child = tree_find(t, e->ino);
            CHECK(child && child->mode >> 12 == e->type);
            bool is_dir = child && inode_is_dir(child);
            CHECK(!is_dir || child->parent == ino);
            subdirs += is_dir;
            names_seen += !is_dir;
        }
        CHECK(i->nlink == 0 || i->nlink == 2 + subdirs);
    }
    CHECK_EQ(links, names_seen);
}

static void
world_clone(const struct world *from, struct world *to)
{
    tree_fini(&to->t);
    memset(to, 0, sizeof *to);
    CHECK_EQ(tree_clone(&from->t, &to->t), 0);
}

TEST(tree_quotas_agree_with_a_recount_through_random_operations)
{
    static const struct quota tight = {300 * 4096, 60};
    struct world w[3];
    unsigned seed = 42;

    memset(w, 0, sizeof w);
    CHECK_EQ(tree_init(&w[0].t, &tight, 1), 0);
    for (int i = 0; i < 20; i++)
        random_name(&w[0].t, &seed);
    tree_make_free(&w[0].t);
    world_clone(&w[0], &w[1]);
    world_clone(&w[0], &w[2]);
    for (int step = 0; step < 30000; step++) {
        struct world *a = &w[dice(&seed, 3)], *b = &w[dice(&seed, 3)];
        unsigned what = dice(&seed, 100);
        if (what < 1 && a != b)
            world_clone(a, b);
        else if (what < 10)
            random_hold(a, &seed);
        else if (what < 50)
            random_content(&a->t, &seed);
        else
            random_name(&a->t, &seed);
        check_used(&a->t);
        CHECK(a->t.used.bytes <= tight.bytes);
        CHECK(a->t.used.inodes <= tight.inodes);
        if (step % 16 == 0)
            check_links(&a->t);
    }
    for (int i = 0; i < 3; i++)
        check_fini(&w[i].t);
}

/* --- contents against a plain array */

TEST(tree_content_agrees_with_an_array)
{
    enum { SIZE = 50000 };
    static char model[2][SIZE], got[SIZE], buf[SIZE];
    struct tree t[2];
    unsigned seed = 7;

    memset(model, 0, sizeof model);
    CHECK_EQ(tree_init(&t[0], &big, 0), 0);
    uint64_t f = make(&t[0], TREE_ROOT, "f", FILE_ATTR);
    CHECK_EQ(tree_truncate(&t[0], f, SIZE, 1), 0);
    CHECK_EQ(tree_clone(&t[0], &t[1]), 0);
    for (int step = 0; step < 3000; step++) {
        unsigned which = dice(&seed, 2), off = dice(&seed, SIZE);
        unsigned len = dice(&seed, SIZE - off) % 9000;
        memset(buf, step, len);
        switch (dice(&seed, 12)) {
        case 0:
            tree_fini(&t[!which]);
            CHECK_EQ(tree_clone(&t[which], &t[!which]), 0);
            memcpy(model[!which], model[which], SIZE);
            break;
        case 1:
            CHECK_EQ(tree_truncate(&t[which], f, off, 1), 0);
            CHECK_EQ(tree_truncate(&t[which], f, SIZE, 1), 0);
            memset(model[which] + off, 0, SIZE - off);
            break;
        case 2:
        case 3:
            CHECK_EQ(tree_punch(&t[which], f, off, len, 1), 0);
            memset(model[which] + off, 0, len);
            break;
        default:
            CHECK_EQ(tree_write(&t[which], f, off, buf, len, 1), len);
            memcpy(model[which] + off, buf, len);
        }
        CHECK_EQ(inode_read(tree_find(&t[which], f), 0, got, SIZE), SIZE);
        CHECK(!memcmp(got, model[which], SIZE));
        check_used(&t[which]);
    }
    check_fini(&t[0]);
    check_fini(&t[1]);
}
