/* Directories as persistent maps. */
#include "tree/dir.h"

#include "../unit/test.h"
#include "record/record.h"
#include "tree/name_hash.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED UINT64_C(7)

static void
fini(struct dir *d)
{
    struct free_list g = {0};

    dir_defer_free(d, &g);
    CHECK(radix_drain_deferred(&g, SIZE_MAX));
}

static struct name
name_of(const char *s)
{
    return (struct name){s, strlen(s)};
}

static uint64_t
ino_of(const struct dir *d, const char *s)
{
    const struct dir_entry *e = dir_find(d, name_of(s));
    return e ? e->ino : 0;
}

static int
remove_name(struct dir *d, const char *s)
{
    struct dir_entry *e;
    int r = dir_unshare(d, name_of(s), &e);
    if (!r)
        dir_remove(d, e);
    return r;
}

TEST(dir_finds_what_was_inserted)
{
    struct dir d = {0};

    CHECK(!dir_find(&d, name_of("a")));
    CHECK_EQ(dir_insert(&d, SEED, name_of("a"), 5, 8), 0);
    CHECK_EQ(dir_insert(&d, SEED, name_of("ab"), 6, 4), 0);
    CHECK_EQ(ino_of(&d, "a"), 5);
    CHECK_EQ(ino_of(&d, "ab"), 6);
    CHECK_EQ(dir_find(&d, name_of("ab"))->type, 4);
    CHECK_EQ(ino_of(&d, "b"), 0);
    CHECK_EQ(remove_name(&d, "a"), 0);
    CHECK_EQ(remove_name(&d, "a"), -ENOENT);
    CHECK_EQ(d.n, 1);
    fini(&d);
}

TEST(dir_is_full_when_no_number_is_left)
{
    struct dir d = {0};
    const uint64_t last = RECORD_INODE_MAX - 1;

    CHECK_EQ(dir_insert_at(&d, SEED, name_of("a"), 5, 8, last), 0);
    CHECK_EQ(dir_insert(&d, SEED, name_of("b"), 6, 8), -ENOSPC);
    CHECK_EQ(d.n, 1);
    fini(&d);
}

TEST(dir_names_have_up_to_255_bytes)
{
    struct dir d = {0};
    char s[256];

    memset(s, 'n', 255);
    s[255] = 0;
    CHECK_EQ(dir_insert(&d, SEED, name_of(s), 1, 8), 0);
    s[254] = 'm';
    CHECK_EQ(ino_of(&d, s), 0);
    CHECK_EQ(dir_insert(&d, SEED, name_of(s), 2, 8), 0);
    CHECK_EQ(ino_of(&d, s), 2);
    fini(&d);
}

TEST(dir_positions_stay_good_while_entries_come_and_go)
{
    struct dir d = {0};
    uint64_t pos = 0;

    CHECK_EQ(dir_insert(&d, SEED, name_of("a"), 1, 8), 0);
    CHECK_EQ(dir_insert(&d, SEED, name_of("b"), 2, 8), 0);
    CHECK_EQ(dir_insert(&d, SEED, name_of("c"), 3, 8), 0);
    CHECK_EQ(dir_next(&d, &pos)->ino, 1);
    pos++;
    CHECK_EQ(remove_name(&d, "a"), 0);
    CHECK_EQ(remove_name(&d, "b"), 0);
    CHECK_EQ(dir_insert(&d, SEED, name_of("a"), 4, 8), 0);
    CHECK_EQ(dir_next(&d, &pos)->ino, 3);
    pos++;
    CHECK_EQ(dir_next(&d, &pos)->ino, 4);
    pos++;
    CHECK(!dir_next(&d, &pos));
    fini(&d);
}

TEST(dir_own_entry_can_be_changed_beside_a_clone)
{
    struct dir a = {0}, b;
    struct dir_entry *e;

    CHECK_EQ(dir_insert(&a, SEED, name_of("x"), 1, 8), 0);
    dir_clone(&a, &b);
    CHECK_EQ(dir_unshare(&a, name_of("x"), &e), 0);
    e->ino = 9;
    CHECK_EQ(ino_of(&a, "x"), 9);
    CHECK_EQ(ino_of(&b, "x"), 1);
    dir_remove(&a, e);
    CHECK_EQ(ino_of(&b, "x"), 1);
    fini(&a);
    fini(&b);
}

TEST(dir_of_100000_entries_is_found_cloned_and_emptied)
{
    struct dir d = {0}, c;
    char s[32];

    for (uint64_t i = 1; i <= 100000; i++) {
        (void)snprintf(s, sizeof s, "file-%llu", (unsigned long long)i);
        CHECK_EQ(dir_insert(&d, SEED, name_of(s), i, 8), 0);
    }
    dir_clone(&d, &c);
    CHECK_EQ(dir_insert(&c, SEED, name_of("new"), 7, 8), 0);
    CHECK_EQ(ino_of(&d, "new"), 0);
    CHECK_EQ(ino_of(&c, "file-77777"), 77777);
    for (uint64_t i = 1; i <= 100000; i++) {
        (void)snprintf(s, sizeof s, "file-%llu", (unsigned long long)i);
        CHECK_EQ(ino_of(&d, s), i);
        CHECK_EQ(remove_name(&d, s), 0);
    }
    CHECK_EQ(d.n, 0);
    CHECK(radix_is_empty(&d.order) && radix_is_empty(&d.buckets));
    CHECK_EQ(ino_of(&c, "file-1"), 1);
    fini(&d);
    fini(&c);
}

TEST(dir_survives_each_allocation_failure)
{
    EACH_OOM(oom) {
        struct dir d = {0}, c;
        struct dir_entry *e;
        char s[8];
        for (uint64_t i = 0; i < 20; i++) {
            (void)snprintf(s, sizeof s, "n%d", (int)i);
            int r = dir_insert(&d, SEED, name_of(s), i + 1, 8);
            CHECK_EQ(ino_of(&d, s), r ? 0 : i + 1);
        }
        dir_clone(&d, &c);
        uint32_t n = d.n;
        int r = dir_unshare(&c, name_of("n1"), &e);
        if (!r)
            dir_remove(&c, e);
        CHECK_EQ(c.n, r ? n : n - 1);
        CHECK_EQ(d.n, n);
        uint64_t n19 = ino_of(&c, "n19");
        r = dir_insert(&c, SEED + 1, name_of("more"), 1, 8);
        CHECK_EQ(ino_of(&c, "more"), r ? 0 : 1);
        CHECK_EQ(ino_of(&c, "n19"), n19);
        fini(&d);
        fini(&c);
    }
}

TEST(dir_keeps_its_entries_with_a_new_seed)
{
    struct dir d = {0}, c;
    struct dir_entry *e;
    uint64_t at = 0, seq = 0;
    char s[16];

    for (uint64_t i = 1; i <= 1000; i++) {
        (void)snprintf(s, sizeof s, "file-%d", (int)i);
        CHECK_EQ(dir_insert(&d, SEED, name_of(s), i, 8), 0);
    }
    dir_clone(&d, &c);
    CHECK_EQ(dir_unshare(&c, name_of("file-500"), &e), 0);
    CHECK_EQ(dir_insert(&c, ~SEED, name_of("new"), 2000, 8), 0);
    dir_remove(&c, e); /* was unshared before the new seed */
    CHECK(d.seed == SEED && c.seed == ~SEED);
    for (uint64_t i = 1; i <= 1000; i++) {
        (void)snprintf(s, sizeof s, "file-%d", (int)i);
        CHECK_EQ(ino_of(&d, s), i);
        CHECK_EQ(ino_of(&c, s), i == 500 ? 0 : i);
    }
    for (; dir_next(&c, &at); at++, seq++) {
        const struct dir_entry *was = dir_next(&d, &seq);
        seq += was && was->ino == 500;
        CHECK_EQ(at, seq); /* the order and the positions have not changed */
    }
    CHECK_EQ(at, 1001);
    fini(&d);
    fini(&c);
}

/* --- names that were chosen to collide */

enum { PAIRS = 12, COLLIDING = 1 << PAIRS, BUCKETS = COLLIDING / 8 };

/* A hash without a seed, as this product had before. */
static uint32_t
plain_hash(struct name name)
{
    const uint64_t m = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t h = name.len * m, w;

    for (size_t i = 0; i < name.len; i += 8) {
        memcpy(&w, name.s + i, 8);
        h = (h ^ w) * m;
        h ^= h >> 29;
    }
    h *= m;
    h ^= h >> 32;
    return (uint32_t)(h * m >> 32);
}

/* One bit for each pair of words: the highest bit of the first word survives
 * the multiplication, and two bits of the second word cancel it. A seed that is
 * only mixed in at the start would not change that. */
static struct name
colliding_name(unsigned bits, char buf[PAIRS * 16])
{
    memset(buf, 'a', PAIRS * 16);
    for (unsigned i = 0; i < PAIRS; i++) {
        char *first = buf + 16 * i, *second = first + 8;
        if (bits >> i & 1) {
            first[7] ^= (char)0x80;
            second[7] ^= (char)0x80;
            second[4] ^= 4;
        }
    }
    return (struct name){buf, PAIRS * 16};
}

static unsigned
longest_bucket(uint64_t seed)
{
    unsigned n[BUCKETS] = {0}, max = 0;
    char buf[PAIRS * 16];

    uint32_t same = plain_hash(colliding_name(0, buf));
    for (unsigned i = 0; i < COLLIDING; i++) {
        struct name name = colliding_name(i, buf);
        CHECK_EQ(plain_hash(name), same);
        unsigned *b = &n[name_hash(seed, name) % BUCKETS];
        if (++*b > max)
            max = *b;
    }
    return max;
}

TEST(names_that_collide_without_a_seed_do_not_with_any)
{
    for (uint64_t seed = 0; seed < 4; seed++)
        CHECK(longest_bucket(seed) < 4 * COLLIDING / BUCKETS);
}

TEST(names_that_collide_with_one_seed_do_not_with_another)
{
    const uint64_t one = UINT64_C(0x123456789abcdef), other = one + 1;
    char buf[PAIRS * 16];
    unsigned both = 0;

    uint32_t first = name_hash(one, colliding_name(0, buf)) % BUCKETS;
    uint32_t second = name_hash(other, colliding_name(0, buf)) % BUCKETS;
    for (unsigned i = 0; i < COLLIDING; i++) {
        struct name name = colliding_name(i, buf);
        both += name_hash(one, name) % BUCKETS == first &&
                name_hash(other, name) % BUCKETS == second;
    }
    CHECK_EQ(both, 1); /* itself */
}

TEST(dir_finds_names_that_were_chosen_to_collide)
{
    struct dir d = {0};
    char buf[PAIRS * 16];

    for (unsigned i = 0; i < COLLIDING; i++)
        CHECK_EQ(dir_insert(&d, SEED, colliding_name(i, buf), i + 1, 8), 0);
    for (unsigned i = 0; i < COLLIDING; i++)
        CHECK_EQ(dir_find(&d, colliding_name(i, buf))->ino, i + 1);
    for (unsigned i = 0; i < COLLIDING; i++) {
        struct dir_entry *e;
        CHECK_EQ(dir_unshare(&d, colliding_name(i, buf), &e), 0);
        dir_remove(&d, e);
    }
    CHECK_EQ(d.n, 0);
    fini(&d);
}

#define NAMES 200

struct model {
    struct dir d;
    uint64_t ino[NAMES];
};

static void
model_check(const struct model *m)
{
    uint64_t n = 0, pos = 0;
    char s[16];

    for (unsigned i = 0; i < NAMES; i++) {
        (void)snprintf(s, sizeof s, "%u", i * 7919);
        CHECK_EQ(ino_of(&m->d, s), m->ino[i]);
        n += m->ino[i] != 0;
    }
    CHECK_EQ(m->d.n, n);
    for (; dir_next(&m->d, &pos); pos++)
        n--;
    CHECK_EQ(n, 0);
}

TEST(dir_agrees_with_a_model_through_random_clones)
{
    struct model m[3];
    unsigned seed = 1;
    char s[16];

    memset(m, 0, sizeof m);
    for (uint64_t step = 1; step <= 20000; step++) {
        struct model *a = &m[rand_r(&seed) % 3], *b = &m[rand_r(&seed) % 3];
        unsigned i = (unsigned)rand_r(&seed) % NAMES;
        (void)snprintf(s, sizeof s, "%u", i * 7919);
        if (rand_r(&seed) % 100 == 0 && a != b) {
            fini(&b->d);
            *b = *a;
            dir_clone(&a->d, &b->d);
        } else if (a->ino[i]) {
            CHECK_EQ(remove_name(&a->d, s), 0);
            a->ino[i] = 0;
        } else {
            CHECK_EQ(dir_insert(&a->d, step / 500, name_of(s), step, 8), 0);
            a->ino[i] = step;
        }
        if (step % 64 == 0)
            model_check(a);
    }
    for (unsigned i = 0; i < 3; i++)
        fini(&m[i].d);
}
