/* Trees through random operations: quotas against recounts, contents against
 * plain arrays, while clones diverge. */
#include "../unit/test.h"
#include "random_tree.h"

#include <stdlib.h>
#include <string.h>

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
    tree_uncharge(&w[0].t);
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
    CHECK_EQ(tree_create(&c[0].t, TREE_ROOT, (struct name){"f", 1}, FILE_ATTR,
                         1, &c[0].f),
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
