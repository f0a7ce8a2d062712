/* The file-system state: names, contents, quotas, clones. */
#include "../unit/test.h"
#include "record/record.h"
#include "tree/tree.h"

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
    CHECK_EQ(t.used.bytes, 1);
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
    CHECK_EQ(tree_tmpfile(&t, FILE_ATTR, true, 1, &f), 0);
    CHECK_EQ(tree_tmpfile(&t, FILE_ATTR, true, 1, &g), 0);
    CHECK_EQ(nlink_of(&t, f), 0);
    CHECK_EQ(tree_link(&t, TREE_ROOT, name_of("f"), f, 1), 0);
    CHECK_EQ(t.used.inodes, 2);
    tree_release(&t, f);
    tree_release(&t, g);
    CHECK_EQ(lookup(&t, TREE_ROOT, "f"), f);
    CHECK_EQ(t.used.inodes, 1);
    check_fini(&t);
}

TEST(tree_removed_directory_is_empty_and_leads_to_its_parent)
{
    const struct quota full = {1 << 20, 1};
    struct tree t, c;
    uint64_t d, f;

    CHECK_EQ(tree_init(&t, &full, 0), 0);
    uint64_t parent = make(&t, TREE_ROOT, "d", DIR_ATTR);
    CHECK_EQ(tree_removed_dir(&t, parent, DIR_ATTR, 1, &d), 0);
    CHECK_EQ(nlink_of(&t, d), 0);
    CHECK_EQ(tree_find(&t, d)->parent, parent);
    CHECK_EQ(tree_create(&t, d, name_of("f"), FILE_ATTR, 1, &f), -ENOENT);
    CHECK_EQ(t.used.inodes, 1);
    CHECK_EQ(tree_clone(&t, &c), 0);
    CHECK(!tree_find(&c, d));
    tree_release(&t, d);
    CHECK(!tree_find(&t, d));
    check_fini(&c);
    check_fini(&t);
}

TEST(tree_has_the_seed_of_the_tree_that_it_was_cloned_from)
{
    struct tree t, c, other;

    CHECK_EQ(tree_init(&t, &big, 0), 0);
    (void)make(&t, TREE_ROOT, "a", FILE_ATTR);
    CHECK_EQ(tree_clone(&t, &c), 0);
    c.seed = 5;
    (void)make(&c, TREE_ROOT, "b", FILE_ATTR);
    CHECK_EQ(tree_find(&t, TREE_ROOT)->dir.seed, 0);
    CHECK_EQ(tree_find(&c, TREE_ROOT)->dir.seed, 5);
    CHECK_EQ(lookup(&c, TREE_ROOT, "a"), lookup(&t, TREE_ROOT, "a"));
    CHECK_EQ(tree_clone(&c, &other), 0);
    CHECK_EQ(other.seed, 5);
    tree_replace(&t, &other);
    CHECK_EQ(t.seed, 5);
    CHECK_EQ(lookup(&t, TREE_ROOT, "b"), lookup(&c, TREE_ROOT, "b"));
    check_fini(&t);
    check_fini(&c);
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

TEST(tree_is_full_when_no_number_is_left)
{
    struct tree t;
    uint64_t ino;

    CHECK_EQ(tree_init(&t, &big, 1), 0);
    t.next_ino = RECORD_INODE_MAX - 1;
    CHECK_EQ(tree_create(&t, TREE_ROOT, name_of("a"), FILE_ATTR, 1, &ino), 0);
    CHECK_EQ(tree_create(&t, TREE_ROOT, name_of("b"), FILE_ATTR, 1, &ino),
             -ENOSPC);
    CHECK_EQ(tree_used(&t).inodes, 1);
    check_fini(&t);
}

static bool
purse_fits(void *arg, uint64_t bytes)
{
    return *(int64_t *)arg + (int64_t)bytes <= 8192;
}

static void
purse_settle(void *arg, int64_t bytes)
{
    *(int64_t *)arg += bytes;
}

TEST(tree_charges_its_bytes_to_a_budget)
{
    static const struct tree_budget budget = {purse_fits, purse_settle};
    static const char text[8193];
    int64_t used = 0;
    struct tree t, copy;
    CHECK_EQ(tree_init(&t, &big, 1), 0);
    uint64_t f = make(&t, TREE_ROOT, "f", FILE_ATTR);
    CHECK_EQ(tree_write(&t, f, 0, text, 100, 2), 100);
    tree_set_budget(&t, &budget, &used);
    CHECK_EQ(used, 100);
    CHECK_EQ(tree_clone(&t, &copy), 0);
    CHECK_EQ(tree_write(&t, f, 0, text, 8192, 2), 8192);
    CHECK_EQ(tree_write(&t, f, 8192, text, 1, 2), -ENOSPC);
    CHECK(!t.hit_bytes); /* the budget was hit, not the quota */
    CHECK_EQ(used, 8192);
    tree_replace(&t, &copy);
    CHECK_EQ(used, 100);
    CHECK_EQ(unlink_name(&t, TREE_ROOT, "f"), 0);
    CHECK_EQ(used, 0);
    make(&t, TREE_ROOT, "g", FILE_ATTR);
    CHECK_EQ(tree_write(&t, lookup(&t, TREE_ROOT, "g"), 0, text, 50, 2), 50);
    tree_fini(&t);
    CHECK_EQ(used, 0);
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
    CHECK_EQ(tree_write(&t, f, 8192, buf, 4096, 1), -ENOSPC);
    CHECK(t.hit_bytes && !t.hit_inodes);
    CHECK_EQ(tree_write(&t, f, 8192, buf, 4095, 1), 4095);
    CHECK_EQ(t.used.bytes, max.bytes);
    CHECK_EQ(tree_truncate(&t, f, 8192, 1), 0);
    CHECK_EQ(tree_write(&t, f, 0, buf, 8192, 1), 8192);
    CHECK_EQ(tree_write(&t, f, FILE_BYTES_MAX, buf, 1, 1), -EFBIG);
    CHECK_EQ(tree_truncate(&t, f, FILE_BYTES_MAX + 1, 1), -EFBIG);
    CHECK_EQ(tree_truncate(&t, f, FILE_BYTES_MAX, 1), 0);
    check_fini(&t);
}

TEST(tree_file_without_holes_costs_its_size)
{
    struct tree t;
    const struct quota max = {5000, 10};
    char buf[5000] = "x";

    CHECK_EQ(tree_init(&t, &max, 0), 0);
    uint64_t f = make(&t, TREE_ROOT, "f", FILE_ATTR);
    uint64_t g = make(&t, TREE_ROOT, "g", FILE_ATTR);
    CHECK_EQ(tree_write(&t, f, 0, buf, 800, 1), 800);
    CHECK_EQ(tree_write(&t, g, 0, buf, 4201, 1), 4096);
    CHECK_EQ(tree_write(&t, g, 4096, buf, 104, 1), 104);
    CHECK_EQ(t.used.bytes, 5000);
    CHECK_EQ(tree_write(&t, f, 800, buf, 1, 1), -ENOSPC);
    CHECK_EQ(tree_write(&t, f, 799, buf, 1, 1), 1);
    check_used(&t);
    CHECK_EQ(tree_truncate(&t, g, 300, 1), 0);
    CHECK_EQ(t.used.bytes, 1100);
    CHECK_EQ(tree_punch(&t, f, 700, 4000, 1), 0);
    CHECK_EQ(t.used.bytes, 1100);
    CHECK_EQ(tree_punch(&t, f, 0, 4096, 1), 0);
    CHECK_EQ(t.used.bytes, 300);
    check_fini(&t);
}

TEST(tree_block_that_is_not_the_last_any_more_costs_all_of_it)
{
    struct tree t;
    const struct quota max = {6000, 10};

    CHECK_EQ(tree_init(&t, &max, 0), 0);
    uint64_t f = make(&t, TREE_ROOT, "f", FILE_ATTR);
    uint64_t g = make(&t, TREE_ROOT, "g", FILE_ATTR);
    CHECK_EQ(tree_write(&t, f, 0, "x", 1, 1), 1);
    CHECK_EQ(tree_write(&t, g, 0, "x", 1, 1), 1);
    CHECK_EQ(tree_truncate(&t, f, 10000, 1), 0);
    CHECK_EQ(t.used.bytes, 4097);
    CHECK_EQ(tree_truncate(&t, g, 10000, 1), -ENOSPC);
    CHECK_EQ(tree_write(&t, g, 10000, "x", 1, 1), -ENOSPC);
    CHECK_EQ(tree_allocate(&t, g, 4096, 1, false, 1), -ENOSPC);
    CHECK_EQ(tree_find(&t, g)->size, 1);
    CHECK_EQ(t.used.bytes, 4097);
    CHECK_EQ(tree_write(&t, f, 10000, "x", 1, 1), 1);
    CHECK_EQ(t.used.bytes, 4097 + 10001 % 4096);
    check_fini(&t);
}

TEST(tree_sparse_file_pays_for_more_nodes_than_blocks)
{
    const uint64_t step = UINT64_C(1) << 43;
    struct tree t, image;

    CHECK_EQ(tree_init(&t, &big, 0), 0);
    uint64_t f = make(&t, TREE_ROOT, "f", FILE_ATTR);
    for (unsigned n = 1; n <= 30; n++)
        CHECK_EQ(tree_write(&t, f, n * step - 1, "x", 1, 1), 1);
    /* A root and five nodes for each block, two of them under one parent. */
    uint64_t nodes = tree_find(&t, f)->chunks.sum.nodes;
    CHECK(nodes > 120 && nodes < 155);
    CHECK_EQ(t.used.bytes,
             UINT64_C(30) * 4096 + (nodes - 30) * RADIX_NODE_BYTES);
    check_used(&t);
    CHECK_EQ(tree_clone(&t, &image), 0);
    CHECK_EQ(tree_punch(&t, f, 0, 29 * step, 1), 0);
    CHECK_EQ(t.used.bytes, 4096 + 5 * RADIX_NODE_BYTES);
    CHECK_EQ(tree_truncate(&t, f, 4096, 1), 0);
    CHECK_EQ(tree_write(&t, f, 0, "x", 1, 1), 1);
    CHECK_EQ(t.used.bytes, 4096);
    check_fini(&t);
    check_fini(&image);
}

TEST(tree_sparse_file_is_refused_what_its_nodes_cost)
{
    const uint64_t far = UINT64_C(1) << 46;
    const struct quota max = {4096 + 5 * RADIX_NODE_BYTES, 10};
    struct tree t;

    CHECK_EQ(tree_init(&t, &max, 0), 0);
    uint64_t f = make(&t, TREE_ROOT, "f", FILE_ATTR);
    uint64_t g = make(&t, TREE_ROOT, "g", FILE_ATTR);
    CHECK_EQ(tree_write(&t, g, 0, "x", 1, 1), 1);
    CHECK_EQ(tree_write(&t, f, far - 4096, "x", 1, 1), 1);
    CHECK_EQ(tree_write(&t, f, far - 1, "x", 1, 1), -ENOSPC);
    CHECK_EQ(unlink_name(&t, TREE_ROOT, "g"), 0);
    CHECK_EQ(tree_write(&t, f, far - 1, "x", 1, 1), 1);
    CHECK_EQ(t.used.bytes, max.bytes);
    CHECK_EQ(tree_truncate(&t, f, 0, 1), 0);
    CHECK_EQ(t.used.bytes, 0);
    CHECK_EQ(tree_allocate(&t, f, far - 4096, 4096, false, 1), 4096);
    CHECK_EQ(t.used.bytes, max.bytes);
    CHECK_EQ(tree_allocate(&t, f, 0, 1, false, 1), -ENOSPC);
    check_fini(&t);
}

TEST(tree_sparse_file_of_the_image_is_free)
{
    struct tree t;

    CHECK_EQ(tree_init(&t, &big, 0), 0);
    uint64_t f = make(&t, TREE_ROOT, "f", FILE_ATTR);
    CHECK_EQ(tree_write(&t, f, UINT64_C(1) << 46, "x", 1, 1), 1);
    tree_uncharge(&t);
    check_used(&t);
    CHECK_EQ(t.used.bytes, 0);
    CHECK_EQ(tree_write(&t, f, 0, "x", 1, 1), 1);
    CHECK_EQ(t.used.bytes, 4096 + 3 * RADIX_NODE_BYTES);
    check_used(&t);
    CHECK_EQ(unlink_name(&t, TREE_ROOT, "f"), 0);
    CHECK_EQ(t.used.bytes, 0);
    check_fini(&t);
}

TEST(tree_holes_read_as_zeros)
{
    struct tree t;
    char buf[3] = "xyz";

    CHECK_EQ(tree_init(&t, &big, 0), 0);
    uint64_t f = make(&t, TREE_ROOT, "f", FILE_ATTR);
    CHECK_EQ(tree_write(&t, f, UINT64_C(1) << 40, "end", 3, 1), 3);
    CHECK_EQ(t.used.bytes, 3 + 4 * RADIX_NODE_BYTES);
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
    CHECK_EQ(t.used.bytes, 10);
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
    CHECK_EQ(tree_allocate(&t, f, 0, 9 * 4096, true, 1), 9 * 4096);
    CHECK_EQ(tree_find(&t, f)->size, 0);
    CHECK_EQ(t.used.bytes, 9 * 4096);
    CHECK_EQ(tree_allocate(&t, f, 4096, 8 * 4096, false, 1), 8 * 4096);
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

/* A file of N blocks. */
static uint64_t
make_large(struct tree *t, const char *name, uint64_t n)
{
    uint64_t f = make(t, TREE_ROOT, name, FILE_ATTR);

    for (uint64_t i = 0; i < n; i++)
        CHECK_EQ(tree_write(t, f, i * CHUNK_BYTES, "x", 1, 1), 1);
    return f;
}

enum { LARGE = 20000, AT_ONCE = 150 };

TEST(tree_gives_a_large_file_back_at_once_and_frees_it_in_steps)
{
    struct tree t;

    CHECK_EQ(tree_init(&t, &big, 0), 0);
    uint64_t f = make_large(&t, "f", LARGE);
    CHECK_EQ(tree_truncate(&t, f, LARGE / 2 * CHUNK_BYTES + 1, 1), 0);
    CHECK_EQ(t.used.bytes, LARGE / 2 * CHUNK_BYTES + 1);
    CHECK_EQ(tree_punch(&t, f, 5000, LARGE / 4 * CHUNK_BYTES, 1), 0);
    check_used(&t);
    CHECK(t.deferred.freed < AT_ONCE);
    tree_hold(&t, f);
    CHECK_EQ(unlink_name(&t, TREE_ROOT, "f"), 0);
    tree_release(&t, f);
    CHECK_EQ(t.used.bytes, 0);
    CHECK(t.deferred.top && t.deferred.freed < AT_ONCE);
    check_fini(&t);
}

TEST(tree_frees_what_was_removed_faster_than_it_adds)
{
    struct tree t;

    CHECK_EQ(tree_init(&t, &big, 0), 0);
    make_large(&t, "f", LARGE);
    CHECK_EQ(unlink_name(&t, TREE_ROOT, "f"), 0);
    CHECK(t.deferred.top != NULL);
    make_large(&t, "g", LARGE / 50);
    CHECK(!t.deferred.top);
    CHECK(t.deferred.freed > LARGE);
    check_fini(&t);
}

TEST(tree_is_replaced_at_once_and_freed_in_steps)
{
    struct tree t, empty, now;

    CHECK_EQ(tree_init(&t, &big, 0), 0);
    CHECK_EQ(tree_init(&empty, &big, 0), 0);
    make_large(&t, "f", LARGE);
    CHECK_EQ(tree_clone(&empty, &now), 0);
    tree_replace(&t, &now);
    CHECK_EQ(t.used.bytes, 0);
    CHECK_EQ(t.deferred.freed, 0);
    while (!radix_drain_deferred(&t.deferred, AT_ONCE))
        CHECK(t.deferred.freed < 2 * LARGE);
    CHECK(t.deferred.freed > LARGE);
    check_fini(&t);
    tree_fini(&empty);
}

TEST(tree_allocates_in_steps)
{
    enum { STEP = ALLOCATE_STEP_BYTES };
    struct tree t;

    CHECK_EQ(tree_init(&t, &big, 0), 0);
    uint64_t f = make(&t, TREE_ROOT, "f", FILE_ATTR);
    CHECK_EQ(tree_allocate(&t, f, 100, 3 * STEP, false, 1), STEP - 100);
    CHECK_EQ(t.used.bytes, STEP);
    CHECK_EQ(tree_find(&t, f)->size, 0);
    CHECK_EQ(tree_allocate(&t, f, STEP, 2 * STEP + 100, false, 1), STEP);
    CHECK_EQ(tree_allocate(&t, f, 2 * STEP, STEP + 100, false, 1), STEP);
    CHECK_EQ(tree_allocate(&t, f, 3 * STEP, 100, false, 1), 100);
    CHECK_EQ(t.used.bytes, 3 * STEP + 100);
    CHECK_EQ(tree_find(&t, f)->size, 3 * STEP + 100);
    check_fini(&t);
}

TEST(tree_searches_for_holes_in_steps)
{
    struct tree t;

    CHECK_EQ(tree_init(&t, &big, 0), 0);
    uint64_t f = make_large(&t, "f", LARGE);
    const struct inode *i = tree_find(&t, f);
    int64_t pos = 5, r;
    int steps = 0;
    for (; (r = inode_seek(i, (uint64_t)pos, SEEK_HOLE)) == -EAGAIN; steps++)
        pos += SEEK_STEP_BYTES;
    CHECK_EQ(r, (LARGE - 1) * INT64_C(4096) + 1);
    CHECK_EQ(steps, LARGE / 4096);
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
    CHECK_EQ(b.used.bytes, 1);
    CHECK_EQ(a.used.bytes, 2);
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
    tree_uncharge(&a);
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
    EACH_OOM(oom) {
        struct tree t = {0}, c = {0};
        uint64_t d = 0, f = 0, l;
        if (tree_init(&t, &big, 0) < 0)
            continue;
        (void)tree_create(&t, TREE_ROOT, name_of("d"), DIR_ATTR, 1, &d);
        (void)tree_create(&t, TREE_ROOT, name_of("f"), FILE_ATTR, 1, &f);
        (void)tree_symlink(&t, TREE_ROOT, name_of("l"), "f", 1, FILE_ATTR, 1,
                           &l);
        (void)tree_write(&t, f, 4090, "0123456789", 10, 1);
        (void)tree_tmpfile(&t, FILE_ATTR, true, 1, &l);
        (void)tree_removed_dir(&t, d, DIR_ATTR, 1, &l);
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
