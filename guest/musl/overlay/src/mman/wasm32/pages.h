/* SPDX-License-Identifier: MIT */
/* The map of 4 KiB pages behind mmap. Page numbers are addresses / 4096. The
 * program's own stack and data, below the heap, always count as mapped. */
#ifndef PAGES_H
#define PAGES_H

#include <features.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE_BYTES   4096u
#define PAGES(len)   ((unsigned)(((len) + PAGE_BYTES - 1) / PAGE_BYTES))
#define PAGE_OF(p)   ((unsigned)((uintptr_t)(p) / PAGE_BYTES))
#define PAGE_PTR(i)  ((char *)((uintptr_t)(i)*PAGE_BYTES))
#define UNALIGNED(x) ((uintptr_t)(x) & (PAGE_BYTES - 1))

/* The first of n free pages in a row, or 0 when the address space is full. */
hidden unsigned __wpages_find(unsigned n);

/* Maps pages [i, i + n), growing the memory where needed. What was mapped there
 * is replaced. The pages are zeroed, unless ret_dirty is given: it then tells
 * whether some were used before and hold what they held. -1: no memory, and
 * nothing has changed. */
hidden int __wpages_claim(unsigned i, unsigned n, int *ret_dirty);

/* Unmaps pages [i, i + n), mapped or not. */
hidden void __wpages_release(unsigned i, unsigned n);

/* Marks mapped pages as holding the content of a file. */
hidden void __wpages_set_file(unsigned i, unsigned n);
hidden int __wpages_is_file(unsigned i);

/* Is every page, is no page, of [i, i + n) mapped? */
hidden int __wpages_all_mapped(unsigned i, unsigned n);
hidden int __wpages_none_mapped(unsigned i, unsigned n);

/* How many pages of the heap are mapped; how many it has up to the page behind
 * the last that was used; that page. */
hidden unsigned __wpages_mapped(void);
hidden unsigned __wpages_span(void);
hidden unsigned __wpages_end(void);

/* If half of the heap was unmapped: zeroes those pages, and lets those at the
 * end of the heap count as never used. */
hidden void __wpages_trim(void);

/* Does [addr, addr + len) end inside the address space we use? */
hidden int __wpages_in_space(const void *addr, size_t len);

#endif
