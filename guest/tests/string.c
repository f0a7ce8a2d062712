/* SPDX-License-Identifier: MIT */
/* String and memory functions against byte loops: every alignment, many
 * lengths, also hard against the end of memory. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>
#include "check.h"

#define ROUNDS 200000

static unsigned char *area; /* 128 KiB; nothing readable follows */
static unsigned char *end;

static void
make_area(void)
{
#ifdef __wasm__
    size_t page = __builtin_wasm_memory_grow(0, 2);

    CHECK(page != (size_t)-1);
    area = (unsigned char *)(page << 16);
#else
    area = mmap(NULL, 131072 + 4096, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(area != MAP_FAILED);
    CHECK(mprotect(area + 131072, 4096, PROT_NONE) == 0);
#endif
    end = area + 131072;
}

static int
sign(int x)
{
    return (x > 0) - (x < 0);
}

/* A string of n bytes, mostly without c. */
static void
fill_string(unsigned char *p, size_t n, int c)
{
    for (size_t i = 0; i < n; i++)
        p[i] = (unsigned char)('a' + random32() % 3);
    p[n] = 0;
    if (n && random32() % 2) {
        memset(p, 'x', n);
        p[random32() % n] = (unsigned char)(c ? c : 'x');
    }
}

static void
check_search(unsigned char *p, size_t n, int c)
{
    unsigned char *first = NULL, *last = NULL;
    size_t limit = random32() % 50;
    const char *s = (const char *)p;

    for (size_t i = 0; i < n; i++)
        if (p[i] == c) {
            last = p + i;
            if (!first)
                first = last;
        }
    CHECK(memchr(p, c, n) == first);
    CHECK(memchr(p, 0, n + 1) == p + n);
    CHECK(memrchr(p, c, n) == last);
    CHECK(!first || rawmemchr(p, c) == first);
    CHECK(strlen(s) == n);
    CHECK(strnlen(s, limit) == (limit < n ? limit : n));
    if (c) {
        CHECK((unsigned char *)strchr(s, c) == first);
        CHECK((unsigned char *)strrchr(s, c) == last);
        CHECK((unsigned char *)strchrnul(s, c) == (first ? first : p + n));
    } else {
        CHECK((unsigned char *)strchr(s, 0) == p + n);
        CHECK((unsigned char *)strrchr(s, 0) == p + n);
    }
}

static int
compare(const unsigned char *a, const unsigned char *b, size_t n, int string)
{
    for (size_t i = 0; i < n; i++) {
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
        if (string && !a[i])
            return 0;
    }
    return 0;
}

static void
check_compare(unsigned char *p, size_t n)
{
    unsigned char *b = area + 16384 + random32() % 70;
    size_t limit = random32() % 50;
    const char *x = (const char *)p, *y;

    if (random32() % 4 == 0)
        b = area + 20480 - random32() % 20;
    memcpy(b, p, n + 1);
    if (n && random32() % 4)
        b[random32() % n] ^= (unsigned char)(1 + random32() % 255);
    y = (const char *)b;
    CHECK(sign(memcmp(p, b, n)) == compare(p, b, n, 0));
    CHECK(sign(strcmp(x, y)) == compare(p, b, n + 1, 1));
    if (limit > n + 1)
        limit = n + 1;
    CHECK(sign(strncmp(x, y, limit)) == compare(p, b, limit, 1));
}

static void
check_copy(const unsigned char *p, size_t n, int c)
{
    static unsigned char want[400], tmp[400];
    unsigned char *d = area + 32768;
    size_t to = random32() % 100, from = random32() % 100;
    size_t len = random32() % 290 % (random32() % 290 + 1);

    for (size_t i = 0; i < sizeof want; i++)
        want[i] = d[i] = (unsigned char)random32();
    for (size_t i = 0; i < len; i++)
        tmp[i] = want[from + i];
    for (size_t i = 0; i < len; i++)
        want[to + i] = tmp[i];
    CHECK(memmove(d + to, d + from, len) == d + to);
    CHECK(compare(d, want, sizeof want, 0) == 0);

    for (size_t i = 0; i < len; i++)
        want[to + i] = (unsigned char)c;
    CHECK(memset(d + to, c, len) == d + to);
    CHECK(compare(d, want, sizeof want, 0) == 0);

    CHECK(mempcpy(d, p, n + 1) == d + n + 1);
    CHECK(compare(d, p, n + 1, 0) == 0);
    CHECK(stpcpy((char *)d, (const char *)p) == (char *)d + n);
    CHECK(compare(d, p, n + 1, 0) == 0);
}

int
main(void)
{
    make_area();
    for (int round = 0; round < ROUNDS; round++) {
        size_t n = random32() % (random32() % 4 ? 40 : 300);
        unsigned char *p =
            round & 1 ? end - n - 1 : area + 4096 + random32() % 70;
        int c = random32() % 8 ? "abcd"[random32() % 4] : 0;

        fill_string(p, n, c);
        check_search(p, n, c);
        check_compare(p, n);
        check_copy(p, n, c);
    }
    memset(area, 7, 131072);
    memmove(area + 1000, area, 60000);
    CHECK(!memchr(area, 0, 131072));
    return 0;
}
