/* Pages that a program has locked (mlock). Nothing is ever paged out, so locks
 * are only counted, against RLIMIT_MEMLOCK. */
#ifndef KERNEL_PAGE_LOCKS_H
#define KERNEL_PAGE_LOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct page_range_k {
    uint32_t from, to; /* page numbers; `to` is not included */
};

/* Ranges in order of address, apart from each other. Zeroed: none. */
struct page_locks {
    struct page_range_k *v;
    size_t n;
};

/* Removes all. */
void page_locks_fini(struct page_locks *l);
/* Returns the number of locked pages. */
uint64_t page_locks_count(const struct page_locks *l);
/* Locks or unlocks a range. -ENOMEM: no memory, or too many ranges; nothing has
 * changed. */
int page_locks_set(struct page_locks *l, struct page_range_k r, bool is_locked);

#endif
