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

/* A flag of mmap, as Linux has it for machines without an MMU: pages that were
 * used before need not be zeroed. */
#define MAP_UNINITIALIZED 0x4000000

/* Is all of this memory mapped? Takes the lock itself. */
hidden int __wpages_are_mapped(const void *addr, size_t len);

/* Every other function is called with this lock, which costs nothing while the
 * program has one thread. */
hidden void __wpages_lock(void);
hidden void __wpages_unlock(void);

/* The first of n free pages in a row, or 0 when the address space is full. */
hidden unsigned __wpages_find(unsigned n);

/* Maps pages [i, i + n), growing the memory where needed, and replaces older
 * mappings there. The pages are zeroed, unless ret_dirty is given: it is then
 * set if some pages were used before and still have their content. Returns -1
 * if memory is exhausted; nothing has changed then. */
hidden int __wpages_claim(unsigned i, unsigned n, int *ret_dirty);

/* Unmaps pages [i, i + n), mapped or not. -1: the kernel cannot split a shared
 * mapping. */
hidden int __wpages_release(unsigned i, unsigned n);

/* As __wpages_find, for pages that the kernel can share. */
hidden unsigned __wpages_find_shared(unsigned n);
/* As __wpages_claim, for pages that the kernel has just mapped. */
hidden int __wpages_claim_shared(unsigned i, unsigned n);
hidden int __wpages_is_shared(unsigned i);

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
