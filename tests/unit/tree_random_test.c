/* Trees through random operations: quotas against recounts, contents against
 * plain arrays, while clones diverge. */
#include "kernel/vfs/tree.h"
#include "test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static struct name
name_of(const char *s)
{
    return (struct name){s, strlen(s)};
}

static void
check_used(const struct tree *t)
{
    struct quota q;

    tree_recount(t, &q);
    CHECK_EQ(t->used.bytes, q.bytes);
    CHECK_EQ(t->used.inodes, q.inodes);
}

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
    uint64_t ino = any_ino(t, seed), off = dice(seed, 600000);
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
        (void)tree_tmpfile(&w->t, FILE_ATTR, true, 1, h);
    } else {
        *h = any_ino(&w->t, seed);
        tree_hold(&w->t, *h);
    }
}

/* The sums in the nodes are those of the leaves below them. */
static void
check_sums(const struct inode *i, uint64_t first, uint64_t last)
{
    struct tally sum = radix_tally(&i->chunks, &content_ops, first, last);
    struct shared *s;

    for (uint64_t key = first;
         (s = radix_next(&i->chunks, &key)) && key <= last; key++) {
        sum.leaves--;
        sum.weight -= !((struct chunk *)s)->is_free;
    }
    CHECK_EQ(sum.leaves, 0);
    CHECK_EQ(sum.weight, 0);
}

static void
check_blocks(const struct tree *t)
{
    uint64_t ino = 0;
    const struct inode *i;

    for (; (i = (const struct inode *)radix_next(&t->inodes, &ino)); ino++) {
        if (inode_is_dir(i))
            continue;
        check_sums(i, 0, UINT64_MAX);
        check_sums(i, ino % 8, 8 + ino % 64);
        CHECK_EQ(i->chunks.sum.leaves,
                 radix_tally(&i->chunks, &content_ops, 0, UINT64_MAX).leaves);
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
            CHECK(!is_dir || (child->parent == ino && child->seq == e->seq));
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
        if (step % 16 == 0) {
            check_links(&a->t);
            check_blocks(&a->t);
        }
    }
    for (int i = 0; i < 3; i++)
        tree_fini(&w[i].t);
}

enum { SIZE = 50000 };

/* A file in a tree, and what it should hold. */
struct copy {
    struct tree t;
    uint64_t f;
    char want[SIZE];
};

static void
random_change(struct copy *c, unsigned *seed)
{
    static char buf[SIZE];
    unsigned off = dice(seed, SIZE), len = dice(seed, SIZE - off) % 9000;

    switch (dice(seed, 10)) {
    case 0:
        CHECK_EQ(tree_truncate(&c->t, c->f, off, 1), 0);
        CHECK_EQ(tree_truncate(&c->t, c->f, SIZE, 1), 0);
        memset(c->want + off, 0, SIZE - off);
        break;
    case 1:
    case 2:
        CHECK_EQ(tree_punch(&c->t, c->f, off, len, 1), 0);
        memset(c->want + off, 0, len);
        break;
    default:
        memset(buf, (int)dice(seed, 256), len);
        CHECK_EQ(tree_write(&c->t, c->f, off, buf, len, 1), len);
        memcpy(c->want + off, buf, len);
    }
}

static void
check_content(const struct copy *c)
{
    static char got[SIZE];

    CHECK_EQ(inode_read(tree_find(&c->t, c->f), 0, got, SIZE), SIZE);
    CHECK(!memcmp(got, c->want, SIZE));
    check_used(&c->t);
}

TEST(tree_content_agrees_with_an_array)
{
    static const struct quota plenty = {UINT64_C(1) << 40, 10};
    static struct copy c[2];
    unsigned seed = 7;

    memset(c, 0, sizeof c);
    CHECK_EQ(tree_init(&c[0].t, &plenty, 0), 0);
    CHECK_EQ(
        tree_create(&c[0].t, TREE_ROOT, name_of("f"), FILE_ATTR, 1, &c[0].f),
        0);
    CHECK_EQ(tree_truncate(&c[0].t, c[0].f, SIZE, 1), 0);
    for (int step = 0; step < 3000; step++) {
        unsigned i = step < 10 ? 0 : dice(&seed, 2);
        if (step >= 9 && (step == 9 || dice(&seed, 12) == 0)) {
            tree_fini(&c[!i].t);
            c[!i] = c[i];
            CHECK_EQ(tree_clone(&c[i].t, &c[!i].t), 0);
        }
        random_change(&c[i], &seed);
        check_content(&c[i]);
    }
    tree_fini(&c[0].t);
    tree_fini(&c[1].t);
}
