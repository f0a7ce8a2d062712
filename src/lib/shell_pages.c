/* Pages of shells. */
#include "lib/shell_pages.h"

#include "lib/lib.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct page {
    _Atomic uint32_t refs;
    uint8_t bytes[SHELL_PAGE_BYTES];
};

struct entry {
    uint32_t index; /* its address is index * SHELL_PAGE_BYTES */
    struct page *page;
};

struct shell_pages {
    _Atomic uint32_t refs;
    uint64_t size;   /* of the memory */
    struct entry *v; /* by index */
    size_t n, cap;
};

static void
page_put(struct page *p)
{
    if (atomic_fetch_sub(&p->refs, 1) == 1)
        free(p);
}

struct shell_pages *
shell_pages_get(struct shell_pages *p)
{
    if (p)
        atomic_fetch_add(&p->refs, 1);
    return p;
}

void
shell_pages_put(OWN struct shell_pages *p)
{
    if (!p || atomic_fetch_sub(&p->refs, 1) != 1)
        return;
    for (size_t i = 0; i < p->n; i++)
        page_put(p->v[i].page);
    free(p->v);
    free(p);
}

static size_t
shell_pages_n(const struct shell_pages *p)
{
    return p ? p->n : 0;
}

uint64_t
shell_pages_size(const struct shell_pages *p)
{
    return p ? p->size : 0;
}

/* Takes `page` over. */
static int
add(struct shell_pages *p, uint32_t index, OWN struct page *page)
{
    if (page && p->n == p->cap) {
        size_t cap = p->cap ? 2 * p->cap : 64;
        struct entry *v = realloc(p->v, cap * sizeof *v);
        if (!v) {
            page_put(page);
            return -ENOMEM;
        }
        p->v = v;
        p->cap = cap;
    }
    if (!page)
        return -ENOMEM;
    p->v[p->n++] = (struct entry){index, page};
    return 0;
}

/* The page at `bytes`: the old one of that index, if it is the same. */
static struct page *
page_for(const struct shell_pages *old, size_t *hint, uint32_t index,
         const uint8_t *bytes)
{
    while (old && *hint < old->n && old->v[*hint].index < index)
        ++*hint;
    if (old && *hint < old->n && old->v[*hint].index == index) {
        struct page *p = old->v[*hint].page;
        if (memcmp(p->bytes, bytes, SHELL_PAGE_BYTES) == 0) {
            atomic_fetch_add(&p->refs, 1);
            return p;
        }
    }
    struct page *p = malloc(sizeof *p);
    if (p) {
        p->refs = 1;
        memcpy(p->bytes, bytes, SHELL_PAGE_BYTES);
    }
    return p;
}

/* Adds the pages of `memory` that differ from the image. */
static int
add_changed(struct shell_pages *p, const struct shell_pages *last,
            const struct shell_image *image, const uint8_t *memory)
{
    static const uint8_t zero[SHELL_PAGE_BYTES];
    uint64_t first = image->live_from / SHELL_PAGE_BYTES * SHELL_PAGE_BYTES;
    size_t hint = 0;

    for (uint64_t at = first; at < p->size; at += SHELL_PAGE_BYTES) {
        if (at >= image->dead_from && at + SHELL_PAGE_BYTES <= image->dead_to)
            continue;
        const uint8_t *was =
            at < image->size ? image->memory + (at - first) : zero;
        if (memcmp(memory + at, was, SHELL_PAGE_BYTES) == 0)
            continue;
        uint32_t index = (uint32_t)(at / SHELL_PAGE_BYTES);
        int r = add(p, index, page_for(last, &hint, index, memory + at));
        if (r < 0)
            return r;
    }
    return 0;
}

int
shell_pages_new(uint64_t size, OWN struct shell_pages **ret)
{
    struct shell_pages *p = calloc(1, sizeof *p);

    if (!p)
        return -ENOMEM;
    p->refs = 1;
    p->size = size;
    *ret = p;
    return 0;
}

int
shell_pages_add(struct shell_pages *p, uint32_t index, const void *bytes,
                size_t len)
{
    if ((p->n && index <= p->v[p->n - 1].index) ||
        index >= p->size / SHELL_PAGE_BYTES || len > SHELL_PAGE_BYTES)
        return -EINVAL;
    struct page *page = calloc(1, sizeof *page);
    if (page) {
        page->refs = 1;
        memcpy(page->bytes, bytes, len);
    }
    return add(p, index, page);
}

int
shell_pages_diff(const struct shell_pages *a, const struct shell_pages *b,
                 int (*fn)(void *arg, uint32_t index, const uint8_t *a,
                           const uint8_t *b),
                 void *arg)
{
    size_t i = 0, j = 0, n = shell_pages_n(a), m = shell_pages_n(b);
    int r = 0;

    while (r == 0 && a != b && (i < n || j < m)) {
        uint32_t of_a = i < n ? a->v[i].index : UINT32_MAX;
        uint32_t of_b = j < m ? b->v[j].index : UINT32_MAX;
        const struct page *x = NULL, *y = NULL;
        if (i < n && of_a <= of_b)
            x = a->v[i++].page;
        if (j < m && of_b <= of_a)
            y = b->v[j++].page;
        if (x != y)
            r = fn(arg, of_a < of_b ? of_a : of_b, x ? x->bytes : NULL,
                   y ? y->bytes : NULL);
    }
    return r;
}

static int
count_lost(void *arg, uint32_t index, const uint8_t *a, const uint8_t *b)
{
    (void)index;
    (void)b;
    *(uint64_t *)arg += a ? SHELL_PAGE_BYTES : 0;
    return 0;
}

uint64_t
shell_pages_lost(const struct shell_pages *p, const struct shell_pages *other)
{
    uint64_t bytes = 0;

    (void)shell_pages_diff(p, other, count_lost, &bytes);
    return bytes;
}

int
shell_pages_take(const struct shell_pages *last,
                 const struct shell_image *image, const uint8_t *memory,
                 uint64_t size, OWN struct shell_pages **ret)
{
    struct shell_pages *p = NULL;

    int r = shell_pages_new(size, &p);
    if (r < 0)
        return r;
    r = add_changed(p, last, image, memory);
    if (r < 0) {
        shell_pages_put(p);
        return r;
    }
    *ret = p;
    return 0;
}

void
shell_pages_lay(const struct shell_pages *p, uint8_t *memory)
{
    for (size_t i = 0; p && i < p->n; i++)
        memcpy(memory + (uint64_t)p->v[i].index * SHELL_PAGE_BYTES,
               p->v[i].page->bytes, SHELL_PAGE_BYTES);
}
