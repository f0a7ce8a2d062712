/* Lists of the pages of shells.
 *
 * A list contains the pages that differ from the frozen image of the shell.
 * Lists are immutable and share pages, so a fork, a snapshot or a checkpoint
 * costs one reference, and comparing two lists means comparing pointers. */
#include "lib/shell_pages_impl.h"

#include "base/vec.h"
#include "lib/runtime.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_BYTES = 4 * SHELL_PAGE_BYTES }; /* compared at once */

struct page *
shell_page_new(const void *bytes, size_t len)
{
    struct page *p = malloc(sizeof *p);

    if (!p)
        return NULL;
    p->refs = 1;
    memcpy(p->bytes, bytes, len);
    memset(p->bytes + len, 0, sizeof p->bytes - len);
    return p;
}

void
shell_page_put(struct page *p)
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
        shell_page_put(p->v[i].page);
    shell_page_file_free(p->file);
    free(p->v);
    free(p);
}

uint64_t
shell_pages_size(const struct shell_pages *p)
{
    return p ? p->size : 0;
}

int
shell_pages_append(struct shell_pages *p, uint32_t index, OWN struct page *page)
{
    if (!page)
        return -ENOMEM;
    if (!VEC_ROOM(p->v, p->n)) {
        shell_page_put(page);
        return -ENOMEM;
    }
    p->v[p->n++] = (struct page_entry){index, page};
    return 0;
}

int
shell_pages_share(struct shell_pages *p, uint32_t index, struct page *page)
{
    atomic_fetch_add(&page->refs, 1);
    return shell_pages_append(p, index, page);
}

struct page *
shell_pages_find(const struct shell_pages *p, size_t *hint, uint32_t index)
{
    while (p && *hint < p->n && p->v[*hint].index < index)
        ++*hint;
    bool is_there = p && *hint < p->n && p->v[*hint].index == index;
    return is_there ? p->v[*hint].page : NULL;
}

/* Returns a page with these bytes: the old one of that index, if it is equal.
 */
static struct page *
pages_page_for(const struct shell_pages *old, size_t *hint, uint32_t index,
               const uint8_t *bytes)
{
    struct page *p = shell_pages_find(old, hint, index);

    if (p && memcmp(p->bytes, bytes, SHELL_PAGE_BYTES) == 0) {
        atomic_fetch_add(&p->refs, 1);
        return p;
    }
    return shell_page_new(bytes, SHELL_PAGE_BYTES);
}

/* Returns the number of bytes from `at` that equal the frozen image or are
 * unused, or 0 if the page at `at` differs. Comparing four pages at once is
 * faster, because most pages are unchanged. Blocks do not cross the end of a
 * memory, whose size is a multiple of 64 KiB. */
static uint64_t
shell_pages_unchanged(const struct shell_image *image, const uint8_t *memory,
                      const uint8_t *was, uint64_t at)
{
    if (at >= image->dead_from && at + SHELL_PAGE_BYTES <= image->dead_to)
        return (image->dead_to - at) / SHELL_PAGE_BYTES * SHELL_PAGE_BYTES;
    if (at % BLOCK_BYTES == 0 && !memcmp(memory + at, was, BLOCK_BYTES))
        return BLOCK_BYTES;
    return memcmp(memory + at, was, SHELL_PAGE_BYTES) ? 0 : SHELL_PAGE_BYTES;
}

/* Appends the pages of `memory` that differ from the image. Memory beyond the
 * image's size started as zeros. */
static int
pages_add_changed(struct shell_pages *p, const struct shell_pages *last,
                  const struct shell_image *image, const uint8_t *memory)
{
    static const uint8_t zero[BLOCK_BYTES];
    uint64_t first = image->live_from / SHELL_PAGE_BYTES * SHELL_PAGE_BYTES;
    size_t hint = 0;

    for (uint64_t at = first, same; at < p->size; at += same) {
        const uint8_t *was =
            at < image->size ? image->memory + (at - first) : zero;
        same = shell_pages_unchanged(image, memory, was, at);
        if (same)
            continue;
        uint32_t index = (uint32_t)(at / SHELL_PAGE_BYTES);
        int r = shell_pages_append(
            p, index, pages_page_for(last, &hint, index, memory + at));
        if (r < 0)
            return r;
        same = SHELL_PAGE_BYTES;
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
    return shell_pages_append(p, index, shell_page_new(bytes, len));
}

/* A merge of two sorted lists. */
bool
shell_page_pair_next(struct page_pair *p)
{
    bool has_a = p->a && p->i < p->a->n, has_b = p->b && p->j < p->b->n;
    uint32_t of_a = has_a ? p->a->v[p->i].index : UINT32_MAX;
    uint32_t of_b = has_b ? p->b->v[p->j].index : UINT32_MAX;

    p->index = of_a < of_b ? of_a : of_b;
    p->x = has_a && of_a <= of_b ? p->a->v[p->i++].page : NULL;
    p->y = has_b && of_b <= of_a ? p->b->v[p->j++].page : NULL;
    return has_a || has_b;
}

/* Pages are compared by reference. Equal pages of unrelated lists count as
 * different, so the result is an upper bound. */
uint64_t
shell_pages_lost(const struct shell_pages *p, const struct shell_pages *other)
{
    struct page_pair at = {.a = p, .b = other};
    uint64_t bytes = 0;

    while (p != other && shell_page_pair_next(&at))
        bytes += at.x && at.x != at.y ? SHELL_PAGE_BYTES : 0;
    return bytes;
}

/* The pages of the last checkpoint are the candidates for sharing: most of them
 * are still the same. */
int
shell_pages_take(const struct shell_pages *last,
                 const struct shell_image *image, const uint8_t *memory,
                 uint64_t size, OWN struct shell_pages **ret)
{
    struct shell_pages *p = NULL;

    int r = shell_pages_new(size, &p);
    if (r < 0)
        return r;
    r = pages_add_changed(p, last, image, memory);
    if (r < 0) {
        shell_pages_put(p);
        return r;
    }
    *ret = p;
    return 0;
}
