/* The persistent radix tree. */
#include "../unit/test.h"
#include "tree/radix.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct leaf {
    struct shared ref;
    uint64_t value;
};

static void
leaf_free(struct shared *s, struct free_list *g)
{
    (void)g;
    free(s);
}

static const struct radix_ops ops = {.free = leaf_free};

static struct shared *
leaf_new(uint64_t value)
{
    struct leaf *l = malloc(sizeof *l);
    if (!l)
        return NULL;
    shared_init(&l->ref);
    l->value = value;
    return &l->ref;
}

static int
put(struct radix *r, uint64_t key, uint64_t value)
{
    struct shared *l = leaf_new(value);
    return l ? radix_set(r, &ops, key, l, NULL) : -ENOMEM;
}

static uint64_t
value_of(const struct radix *r, uint64_t key)
{
    struct leaf *l = (struct leaf *)radix_find(r, key);
    return l ? l->value : 0;
}

static uint64_t
next_of(const struct radix *r, uint64_t key)
{
    return radix_next(r, &key) ? key : UINT64_MAX;
}

static int
cut(struct radix *r, uint64_t first, uint64_t last)
{
    struct free_list g = {0};
    int res = radix_cut(r, &ops, first, last, &g);

    CHECK(radix_drain_deferred(&g, SIZE_MAX));
    return res;
}

TEST(radix_key_zero_needs_no_node)
{
    struct radix r = {0};

    CHECK(!radix_find(&r, 0));
    CHECK_EQ(put(&r, 0, 7), 0);
    CHECK_EQ(r.height, 0);
    CHECK_EQ(value_of(&r, 0), 7);
    CHECK(!radix_find(&r, 1));
    CHECK_EQ(radix_remove(&r, &ops, 0, NULL), 0);
    CHECK(radix_is_empty(&r));
}

TEST(radix_holds_the_largest_key)
{
    struct radix r = {0};

    CHECK_EQ(put(&r, 0, 1), 0);
    CHECK_EQ(put(&r, UINT64_MAX, 2), 0);
    CHECK_EQ(value_of(&r, 0), 1);
    CHECK_EQ(value_of(&r, UINT64_MAX), 2);
    CHECK_EQ(next_of(&r, 1), UINT64_MAX);
    CHECK_EQ(radix_remove(&r, &ops, UINT64_MAX, NULL), 0);
    CHECK_EQ(r.height, 0);
    CHECK_EQ(next_of(&r, 1), UINT64_MAX);
    CHECK(!radix_find(&r, UINT64_MAX));
    radix_fini(&r, &ops);
}

TEST(radix_next_skips_what_is_missing)
{
    static const uint64_t keys[] = {3, 63, 64, 4095, 4096, 1u << 20};
    struct radix r = {0};
    uint64_t key = 0;

    for (size_t i = 0; i < 6; i++)
        CHECK_EQ(put(&r, keys[i], i), 0);
    for (size_t i = 0; i < 6; i++, key++) {
        CHECK(radix_next(&r, &key) != NULL);
        CHECK_EQ(key, keys[i]);
    }
    CHECK(!radix_next(&r, &key));
    radix_fini(&r, &ops);
}

TEST(radix_slot_left_empty_is_given_back)
{
    struct radix r = {0};

    CHECK(*radix_slot(&r, 100000) == NULL);
    CHECK_EQ(next_of(&r, 0), UINT64_MAX);
    CHECK_EQ(radix_remove(&r, &ops, 100000, NULL), 0);
    CHECK(radix_is_empty(&r));
    CHECK_EQ(r.height, 0);
}

TEST(radix_clones_do_not_see_each_others_changes)
{
    struct radix a = {0}, b;

    for (uint64_t i = 0; i < 1000; i++)
        CHECK_EQ(put(&a, i, i + 1), 0);
    radix_clone(&a, &b);
    CHECK_EQ(put(&a, 5, 100), 0);
    CHECK_EQ(radix_remove(&b, &ops, 6, NULL), 0);
    CHECK_EQ(put(&b, 5000, 200), 0);
    CHECK_EQ(value_of(&a, 5), 100);
    CHECK_EQ(value_of(&b, 5), 6);
    CHECK_EQ(value_of(&a, 6), 7);
    CHECK_EQ(value_of(&b, 6), 0);
    CHECK_EQ(value_of(&a, 5000), 0);
    radix_fini(&a, &ops);
    CHECK_EQ(value_of(&b, 7), 8);
    CHECK_EQ(value_of(&b, 5000), 200);
    radix_fini(&b, &ops);
}

TEST(radix_change_after_a_clone_copies_one_path)
{
    struct radix a = {0}, b;

    for (uint64_t i = 0; i < 10000; i++)
        CHECK_EQ(put(&a, i, i), 0);
    radix_clone(&a, &b);
    struct shared *same = radix_find(&a, 9000);
    CHECK_EQ(put(&b, 1, 5), 0);
    CHECK(radix_find(&b, 9000) == same);
    CHECK(shared_is_single(same)); /* through one node that both share */
    radix_fini(&a, &ops);
    radix_fini(&b, &ops);
}

TEST(radix_cut_drops_the_rest)
{
    struct radix a = {0}, b;

    for (uint64_t i = 0; i < 9000; i++)
        CHECK_EQ(put(&a, i, i + 1), 0);
    radix_clone(&a, &b);
    CHECK_EQ(cut(&a, 100000000, UINT64_MAX), 0);
    CHECK_EQ(cut(&a, 4161, UINT64_MAX), 0);
    CHECK_EQ(value_of(&a, 4160), 4161);
    CHECK_EQ(next_of(&a, 4161), UINT64_MAX);
    CHECK_EQ(value_of(&b, 8999), 9000);
    CHECK_EQ(cut(&a, 1, UINT64_MAX), 0);
    CHECK_EQ(a.height, 0);
    CHECK_EQ(cut(&a, 0, UINT64_MAX), 0);
    CHECK(radix_is_empty(&a));
    radix_fini(&b, &ops);
}

TEST(radix_survives_each_allocation_failure)
{
    EACH_OOM(oom) {
        struct radix a = {0}, b;
        bool ok = !put(&a, 1, 1) && !put(&a, 70, 2);
        radix_clone(&a, &b);
        int r = put(&b, 1u << 20, 3);
        CHECK(r == 0 || !radix_find(&b, 1u << 20));
        int was_cut = cut(&a, 2, UINT64_MAX);
        CHECK(was_cut == 0 || value_of(&a, 70) == 2 || !ok);
        int rm = radix_remove(&b, &ops, 1, NULL);
        CHECK(rm == 0 || value_of(&b, 1) == 1 || !ok);
        CHECK(!ok || value_of(&b, 70) == 2);
        radix_fini(&a, &ops);
        radix_fini(&b, &ops);
    }
}

/* A few keys that are close together and far apart. */
#define KEYS 64
static uint64_t
key_number(unsigned i)
{
    return (uint64_t)(i % 8) << (8 * (i / 8));
}

struct model {
    struct radix r;
    uint64_t value[KEYS]; /* 0: missing */
};

static void
model_check(const struct model *m)
{
    for (unsigned i = 0; i < KEYS; i++)
        if (i % 8 || !i)
            CHECK_EQ(value_of(&m->r, key_number(i)), m->value[i]);
    uint64_t n = 0, want = 0, key = 0;
    for (; radix_next(&m->r, &key) && key < UINT64_MAX; key++)
        n++;
    for (unsigned i = 0; i < KEYS; i++)
        want += m->value[i] != 0;
    CHECK_EQ(n, want);
}

static void
model_cut(struct model *m, uint64_t key)
{
    CHECK_EQ(cut(&m->r, key, UINT64_MAX), 0);
    for (unsigned i = 0; i < KEYS; i++)
        if (key_number(i) >= key)
            m->value[i] = 0;
}

TEST(radix_agrees_with_a_model_through_random_clones)
{
    struct model m[4];
    unsigned seed = 1;

    memset(m, 0, sizeof m);
    for (uint64_t step = 1; step <= 20000; step++) {
        struct model *a = &m[rand_r(&seed) % 4], *b = &m[rand_r(&seed) % 4];
        unsigned i = (unsigned)rand_r(&seed) % KEYS, what = rand_r(&seed) % 16;
        if (i && i % 8 == 0)
            continue;
        if (what < 8) {
            CHECK_EQ(put(&a->r, key_number(i), step), 0);
            a->value[i] = step;
        } else if (what < 14) {
            CHECK_EQ(radix_remove(&a->r, &ops, key_number(i), NULL), 0);
            a->value[i] = 0;
        } else if (what == 14) {
            model_cut(a, key_number(i));
        } else if (a != b) {
            radix_fini(&b->r, &ops);
            *b = *a;
            radix_clone(&a->r, &b->r);
        }
        if (step % 16 == 0)
            model_check(a);
    }
    for (unsigned i = 0; i < 4; i++)
        radix_fini(&m[i].r, &ops);
}

static void
note_difference(void *arg, uint64_t key, struct shared *a, struct shared *b)
{
    uint64_t *sum = arg;

    sum[0] += a ? ((struct leaf *)a)->value : 0;
    sum[1] += b ? ((struct leaf *)b)->value : 0;
    sum[2] += key;
}

static void
check_diff(const struct radix *a, const struct radix *b, uint64_t of_a,
           uint64_t of_b, uint64_t keys)
{
    uint64_t sum[3] = {0};

    radix_diff(a, b, note_difference, sum);
    CHECK_EQ(sum[0], of_a);
    CHECK_EQ(sum[1], of_b);
    CHECK_EQ(sum[2], keys);
}

TEST(radix_diff_finds_what_is_not_the_same)
{
    struct radix a = {0}, b = {0}, none = {0};
    struct free_list g = {0};

    CHECK_EQ(put(&a, 0, 1), 0);
    CHECK_EQ(put(&a, 70, 10), 0);
    CHECK_EQ(put(&a, 5000, 100), 0);
    radix_clone(&a, &b);
    check_diff(&a, &b, 0, 0, 0);
    check_diff(&a, &none, 111, 0, 5070);
    check_diff(&none, &a, 0, 111, 5070);
    CHECK_EQ(put(&b, 70, 20), 0);
    CHECK_EQ(put(&b, UINT64_MAX, 1000), 0);
    check_diff(&a, &b, 10, 1020, 70 + UINT64_MAX);
    check_diff(&b, &a, 1020, 10, 70 + UINT64_MAX);
    CHECK_EQ(radix_cut(&b, &ops, 1, UINT64_MAX, &g), 0);
    (void)radix_drain_deferred(&g, SIZE_MAX);
    check_diff(&a, &b, 110, 0, 5070);
    check_diff(&b, &a, 0, 110, 5070);
    CHECK_EQ(put(&b, 0, 3), 0);
    check_diff(&a, &b, 111, 3, 5070);
    radix_fini(&a, &ops);
    radix_fini(&b, &ops);
}

/* --- counted leaves */

static bool
leaf_weighs(const struct shared *s)
{
    return ((const struct leaf *)s)->value % 2;
}

static const struct radix_ops counted_ops = {leaf_free, leaf_weighs};

static void
put_counted(struct radix *r, uint64_t key, uint64_t value)
{
    struct shared **at = radix_slot(r, key);
    struct leaf *old = (struct leaf *)*at;
    bool is_new = !old, weighed = old && leaf_weighs(&old->ref);

    CHECK_EQ(radix_set(r, &counted_ops, key, leaf_new(value), NULL), 0);
    radix_count(r, key, is_new, (int)(value % 2) - weighed);
}

static void
check_tally(const struct radix *r, uint64_t first, uint64_t last)
{
    struct tally want = {0};
    struct tally got = radix_tally(r, &counted_ops, first, last);
    struct shared *s;

    for (uint64_t key = first; (s = radix_next(r, &key)) && key <= last;
         key++) {
        want.leaves++;
        want.weight += leaf_weighs(s);
        if (key == UINT64_MAX)
            break;
    }
    CHECK_EQ(got.leaves, want.leaves);
    CHECK_EQ(got.weight, want.weight);
}

/* Keys of all sizes, many of them close together. */
static uint64_t
any_key(unsigned *seed)
{
    uint64_t k = (uint64_t)rand_r(seed) << 33 ^ (uint64_t)rand_r(seed) << 16 ^
                 (uint64_t)rand_r(seed);
    static const unsigned shift[] = {0, 40, 50, 54, 54, 54, 58, 58};

    return k >> shift[rand_r(seed) % 8];
}

TEST(radix_counts_ranges_through_clones_and_cuts)
{
    struct radix r[2] = {{0}};
    unsigned seed = 7;

    for (int step = 0; step < 20000; step++) {
        struct radix *a = &r[rand_r(&seed) % 2], *b = &r[a == r];
        uint64_t x = any_key(&seed), y = any_key(&seed);
        unsigned what = rand_r(&seed) % 64;
        uint64_t first = x < y ? x : y, last = x < y ? y : x;
        if (what == 0) {
            radix_fini(b, &counted_ops);
            radix_clone(a, b);
        } else if (what < 8) {
            struct free_list g = {0};
            if (what < 6)
                last =
                    first + (last & 127) < first ? last : first + (last & 127);
            CHECK_EQ(radix_cut(a, &counted_ops, first, last, &g), 0);
            (void)radix_drain_deferred(&g, SIZE_MAX);
            check_tally(a, first, last);
        } else {
            uint64_t nodes =
                a->sum.nodes + (radix_find(a, x) ? 0 : radix_missing(a, x));
            put_counted(a, x, (uint64_t)step);
            CHECK_EQ(a->sum.nodes, nodes);
        }
        check_tally(a, first, last);
        CHECK_EQ(a->sum.leaves,
                 radix_tally(a, &counted_ops, 0, UINT64_MAX).leaves);
        CHECK_EQ(a->sum.nodes, radix_count_nodes(a));
    }
    radix_fini(&r[0], &counted_ops);
    radix_fini(&r[1], &counted_ops);
}

TEST(radix_is_buried_at_once_and_freed_in_steps)
{
    enum { N = 100000, STEP = 100 };
    struct radix r = {0};
    struct free_list g = {0};

    for (uint64_t i = 0; i < N; i++)
        CHECK_EQ(put(&r, i, i), 0);
    CHECK_EQ(radix_cut(&r, &ops, 5, N - 5, &g), 0);
    CHECK(g.freed < 200);
    radix_defer_free(&r, &ops, &g);
    CHECK(g.freed < 200);
    CHECK(radix_is_empty(&r));
    uint64_t before = g.freed;
    CHECK(!radix_drain_deferred(&g, STEP));
    CHECK(g.freed - before >= STEP && g.freed - before < STEP + 65);
    while (!radix_drain_deferred(&g, STEP))
        ;
    CHECK(g.freed > N);
}
