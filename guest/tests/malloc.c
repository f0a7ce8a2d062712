/* SPDX-License-Identifier: MIT */
/* Random use of the allocator: contents survive, blocks do not overlap,
 * alignment and zeroing hold, impossible sizes fail. */
#define _GNU_SOURCE
#include <limits.h>
#include <malloc.h>
#include <string.h>
#include "check.h"

#ifdef __wasm__
#include <wasmsand.h>
int malloc_trim(size_t pad); /* not in musl's headers */
#endif

#define SLOTS  1500
#define ROUNDS 300000

static struct slot {
    unsigned char *p;
    size_t n;
    unsigned char fill;
} slots[SLOTS];

static size_t
random_size(void)
{
    unsigned k = random32() % 100;

    if (k < 70)
        return random32() % 200;
    if (k < 90)
        return random32() % 3000;
    if (k < 98)
        return random32() % 70000;
    return random32() % 400000;
}

static void
check_filled(const unsigned char *p, size_t n, unsigned char fill)
{
    for (size_t i = 0; i < n; i++)
        CHECK(p[i] == fill);
}

static void
drop(struct slot *s)
{
    check_filled(s->p, s->n, s->fill);
    free(s->p);
    s->p = NULL;
    s->n = 0;
}

static void
replace_aligned(struct slot *s, size_t n)
{
    size_t align = (size_t)1 << random32() % 14;

    drop(s);
    s->p = memalign(align, n);
    CHECK(((uintptr_t)s->p & (align - 1)) == 0);
}

static void
replace(struct slot *s, size_t n)
{
    switch (random32() % 7) {
    case 0:
    case 1:
    case 2:
        drop(s);
        s->p = malloc(n);
        break;
    case 3:
        drop(s);
        s->p = calloc(1, n);
        CHECK(s->p);
        check_filled(s->p, n, 0);
        break;
    case 4:
        replace_aligned(s, n);
        break;
    default:
        s->p = realloc(s->p, n ? n : 1);
        CHECK(s->p);
        check_filled(s->p, n < s->n ? n : s->n, s->fill);
    }
    CHECK(s->p);
    CHECK(((uintptr_t)s->p & 15) == 0);
    CHECK(malloc_usable_size(s->p) >= n);
    s->n = random32() % 4 ? n : malloc_usable_size(s->p);
    s->fill = (unsigned char)random32();
    memset(s->p, s->fill, s->n);
}

static void
grow_step_by_step(void)
{
    char *p = malloc(1);

    for (size_t n = 1; n < 300000; n += 7) {
        p = realloc(p, n);
        CHECK(p);
        p[n - 1] = 1;
        CHECK(n < 8 || p[n - 8] == 1);
    }
    free(p);
}

static size_t
memory_size(void)
{
#ifdef __wasm__
    return __builtin_wasm_memory_size(0);
#else
    return 0;
#endif
}

/* A block that begins small, grows and is freed finds its memory again. */
static void
grow_again_and_again(void)
{
    size_t before = 0;

    for (int i = 0; i < 300; i++) {
        char *volatile p = malloc(100);

        for (size_t n = 100; n < 60000; n += 500) {
            p = realloc(p, n);
            CHECK(p);
        }
        free(p);
        if (i == 100)
            before = memory_size();
    }
    CHECK(memory_size() <= before);
}

/* Blocks that are kept stay whole where those between them are given back. */
static void
trim(void)
{
    enum { MANY = 200000, KEPT = 4001 };
    static char *v[MANY];
    size_t peak;

    for (int i = 0; i < MANY; i++) {
        v[i] = malloc(20 + i % 300);
        CHECK(v[i]);
        memset(v[i], i & 0xff, 20 + i % 300);
    }
    peak = memory_size();
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < MANY; i++)
            if (i % KEPT != round) {
                free(v[i]);
                v[i] = NULL;
            }
        CHECK(malloc_trim(0));
        for (int i = 0; i < MANY; i++)
            if (v[i])
                check_filled((unsigned char *)v[i], 20 + i % 300, i & 0xff);
        for (int i = 0; i < MANY; i++)
            if (!v[i]) {
                v[i] = calloc(1, 20 + i % 300);
                check_filled((unsigned char *)v[i], 20 + i % 300, 0);
                memset(v[i], i & 0xff, 20 + i % 300);
            }
        CHECK(memory_size() <= peak + peak / 8);
    }
    for (int i = 0; i < MANY; i++)
        free(v[i]);
    CHECK(malloc_trim(0));
}

#ifdef __wasm__
/* Memory beyond the end that a resident program reports reads as zero. */
static size_t
check_end(void)
{
    size_t end = wasmsand_trim(), size = memory_size() << 16;

    for (size_t at = end ? end : size; at < size; at += 8)
        CHECK(*(volatile uint64_t *)at == 0);
    return end;
}

static void
end_comes_down(void)
{
    enum { SMALL = 200000, LARGE = 40 };
    static char *small[SMALL], *large[LARGE];
    char *kept = malloc(100);
    size_t high;

    for (int i = 0; i < SMALL; i++)
        memset(small[i] = malloc(100), 1, 100);
    for (int i = 0; i < LARGE; i++)
        memset(large[i] = malloc(1000000), 2, 1000000);
    high = check_end();
    CHECK(high > 60000000);
    for (int i = 0; i < LARGE; i++)
        free(large[i]);
    CHECK(check_end() < high - 39000000);
    for (int i = 0; i < SMALL; i++)
        free(small[i]);
    CHECK(check_end() < high - 58000000);
    free(kept);
}
#else
static void
check_end(void)
{
}

static void
end_comes_down(void)
{
}
#endif

/* A compiler may take it that malloc succeeds where nobody looks. */
static int
refused(void *volatile p)
{
    return p == NULL && errno == ENOMEM;
}

static void
refuse(void)
{
    volatile size_t huge = SIZE_MAX - 15, half = (size_t)PTRDIFF_MAX + 1;
    void *volatile p = malloc(100);
    void *q = NULL;

    CHECK(refused(malloc(huge)));
    CHECK(refused(malloc(half)));
    CHECK(refused(calloc(huge / 2, 16)));
    CHECK(refused(realloc(p, huge)));
    CHECK(refused(memalign(4096, huge)));
    CHECK(posix_memalign(&q, 3, 8) == EINVAL);
    CHECK(posix_memalign(&q, 4096, 100000) == 0);
    CHECK(((uintptr_t)q & 4095) == 0);
    free(p);
    free(q);
    free(NULL);
}

static void
free_keeps_errno(void)
{
    void *p = malloc(200000);

    errno = 77;
    free(p);
    CHECK(errno == 77);
}

int
main(void)
{
    grow_again_and_again();
    end_comes_down();
    trim();
    for (int i = 0; i < ROUNDS; i++) {
        struct slot *s = &slots[random32() % SLOTS];

        if (i % 10000 == 0)
            (void)malloc_trim(0);
        if (i % 10000 == 5000)
            check_end();

        if (random32() % 8 == 0)
            drop(s);
        else
            replace(s, random_size());
    }
    for (int i = 0; i < SLOTS; i++)
        drop(&slots[i]);
    grow_step_by_step();
    refuse();
    free_keeps_errno();
    return 0;
}
