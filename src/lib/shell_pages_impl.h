/* The lists of pages, for the files that copy and record them. */
#ifndef LIB_SHELL_PAGES_IMPL_H
#define LIB_SHELL_PAGES_IMPL_H

#include "lib/shell_pages.h"

#include <stdatomic.h>
#include <stdbool.h>

/* An immutable page, shared by lists. The last reference frees it. */
struct page {
    _Atomic uint32_t refs;
    uint8_t bytes[SHELL_PAGE_BYTES];
};

/* A page and its position in the memory. */
struct page_entry {
    uint32_t index; /* its address is index * SHELL_PAGE_BYTES */
    struct page *page;
};

/* The memory of a shell as a list of pages that differ from its program. It is
 * immutable once it is complete, and shared by counting. */
struct shell_pages {
    _Atomic uint32_t refs;
    uint64_t size;        /* of the memory */
    struct page_entry *v; /* by index */
    size_t n;
    atomic_bool was_used;             /* shell_pages_restore was called */
    _Atomic(struct page_file *) file; /* NULL: not created */
};

/* Creates a page with these bytes. NULL: no memory. */
struct page *shell_page_new(const void *bytes, size_t len);
void shell_page_put(struct page *p);

/* Appends an entry; consumes `page`, also on failure. NULL gives -ENOMEM. */
int shell_pages_append(struct shell_pages *p, uint32_t index,
                       OWN struct page *page);
/* Appends a page of another list. -ENOMEM. */
int shell_pages_share(struct shell_pages *p, uint32_t index, struct page *page);
/* Returns the page of that index, or NULL. Must be called with increasing
 * indexes; *hint is 0 at first. */
struct page *shell_pages_find(const struct shell_pages *p, size_t *hint,
                              uint32_t index);

/* Two lists side by side: pages with the same index. */
struct page_pair {
    const struct shell_pages *a, *b;
    size_t i, j;
    uint32_t index;
    struct page *x, *y; /* NULL: no page of this index */
};

/* Moves to the next index; false: there is none. */
bool shell_page_pair_next(struct page_pair *p);

/* --- shell_pages_file.c */

void shell_page_file_free(OWN struct page_file *f); /* NULL is fine */

#endif
