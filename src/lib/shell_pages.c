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

static void
page_put(struct page *p)
{
    if (atomic_fetch_sub(&p->refs, 1) == 1)
        free(p);
}

void
shell_pages_fini(struct shell_pages *p)
{
    for (size_t i = 0; i < p->n; i++)
        page_put(p->v[i].page);
    free(p->v);
    *p = (struct shell_pages){0};
}

int
shell_pages_copy(struct shell_pages *to, const struct shell_pages *from)
{
    *to =
        (struct shell_pages){.n = from->n, .cap = from->n, .size = from->size};
    if (!from->n)
        return 0;
    to->v = malloc(from->n * sizeof *to->v);
    if (!to->v) {
        to->n = to->cap = 0;
        return -ENOMEM;
    }
    for (size_t i = 0; i < from->n; i++) {
        to->v[i] = from->v[i];
        atomic_fetch_add(&to->v[i].page->refs, 1);
    }
    return 0;
}

/* Takes `page` over. */
static int
add(struct shell_pages *p, uint32_t index, OWN struct page *page)
{
    if (page && p->n == p->cap) {
        size_t cap = p->cap ? 2 * p->cap : 64;
        struct shell_page *v = realloc(p->v, cap * sizeof *v);
        if (!v) {
            page_put(page);
            return -ENOMEM;
        }
        p->v = v;
        p->cap = cap;
    }
    if (!page)
        return -ENOMEM;
    p->v[p->n++] = (struct shell_page){index, page};
    return 0;
}

/* The page at `bytes`: the old one of that index, if it is the same. */
static struct page *
page_for(const struct shell_pages *old, size_t *hint, uint32_t index,
         const uint8_t *bytes)
{
    while (*hint < old->n && old->v[*hint].index < index)
        ++*hint;
    if (*hint < old->n && old->v[*hint].index == index) {
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

int
shell_pages_take(struct shell_pages *p, const struct shell_image *image,
                 const uint8_t *memory, uint64_t size)
{
    static const uint8_t zero[SHELL_PAGE_BYTES];
    uint64_t first = image->live_from / SHELL_PAGE_BYTES * SHELL_PAGE_BYTES;
    struct shell_pages now = {.size = size};
    size_t hint = 0;

    for (uint64_t at = first; at < size; at += SHELL_PAGE_BYTES) {
        const uint8_t *was =
            at < image->size ? image->memory + (at - first) : zero;
        if (memcmp(memory + at, was, SHELL_PAGE_BYTES) == 0)
            continue;
        uint32_t index = (uint32_t)(at / SHELL_PAGE_BYTES);
        int r = add(&now, index, page_for(p, &hint, index, memory + at));
        if (r < 0) {
            shell_pages_fini(&now);
            return r;
        }
    }
    shell_pages_fini(p);
    *p = now;
    return 0;
}

void
shell_pages_lay(const struct shell_pages *p, uint8_t *memory)
{
    for (size_t i = 0; i < p->n; i++)
        memcpy(memory + (uint64_t)p->v[i].index * SHELL_PAGE_BYTES,
               p->v[i].page->bytes, SHELL_PAGE_BYTES);
}
