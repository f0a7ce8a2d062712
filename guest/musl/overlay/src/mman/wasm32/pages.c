/* SPDX-License-Identifier: MIT */
/* Page allocator over the one linear memory. Its state is in guest memory, so
 * fork and snapshots carry it along and the host knows nothing of it.
 *
 * A table has four bits for each page of the heap: mapped, used (mapped now, or
 * since it was zeroed last), content of a file, and shared with other processes.
 * The last ones are the kernel's: it maps and unmaps them. The table begins as
 * 1024 static bytes (8 MiB of heap), so that fork copies little in a small process.
 * When the heap outgrows it, it moves into pages of its own and doubles.
 *
 * Large mappings avoid the first MiB, which is for the many small ones: no
 * small mapping should be left above a large one that is gone.
 *
 * Invariants: pages from `top` up and those that are not used read as zero;
 * every page below `hint` is mapped. */
#include <string.h>
#include "libc.h"
#include "lock.h"
#include "pages.h"
#include "syscall.h"

#define PER_WORD     32u
#define STATIC_WORDS 64u
#define LARGE_PAGES  64u
#define LOW_PAGES    256u

/* Below the last 64 KiB of the address space, so that no end address is 0. */
#define LAST_PAGE 0xffff0u

struct word {
    uint32_t mapped;
    uint32_t used;
    uint32_t file;
    uint32_t shared;
};

extern unsigned char __heap_base[];
uintptr_t __wheap_start; /* set at process entry, past the argument block */

static struct word small_table[STATIC_WORDS];
static struct word *table;
static unsigned words; /* in the table */
static unsigned base;  /* the page of the table's first bit */
static unsigned first, hint, top;
static unsigned n_shared; /* pages */
static int is_soiled; /* pages were unmapped since they were zeroed last */

static volatile int lock[1];

void
__wpages_lock(void)
{
    LOCK(lock);
}

void
__wpages_unlock(void)
{
    UNLOCK(lock);
}

static void
init(void)
{
    uintptr_t start = __wheap_start ? __wheap_start : (uintptr_t)__heap_base;

    table = small_table;
    words = STATIC_WORDS;
    first = hint = top = PAGES(start);
    base = first;
}

static struct word *
word_of(unsigned i)
{
    return &table[(i - base) / PER_WORD];
}

static uint32_t
bit_of(unsigned i)
{
    return 1u << (i - base) % PER_WORD;
}

static int
is_mapped(unsigned i)
{
    if (i < first)
        return i != 0;
    return i < top && word_of(i)->mapped & bit_of(i);
}

static void
set_mapped(unsigned i, unsigned n, int on)
{
    while (n) {
        struct word *w = word_of(i);
        unsigned at = (i - base) % PER_WORD;
        unsigned count = n < PER_WORD - at ? n : PER_WORD - at;
        uint32_t bits = ~0u >> (PER_WORD - count) << at;

        w->mapped = on ? w->mapped | bits : w->mapped & ~bits;
        w->used |= w->mapped;
        w->file &= ~bits;
        i += count;
        n -= count;
    }
}

/* Makes the memory reach up to page `end`. */
static int
grow_to(unsigned end)
{
    unsigned have = (unsigned)__builtin_wasm_memory_size(0) * 16;

    if (end <= have)
        return 0;
    if (end > LAST_PAGE)
        return -1;
    return __builtin_wasm_memory_grow(0, (end - have + 15) / 16) == -1ul ? -1
                                                                         : 0;
}

/* Makes the table reach up to page `end`. A larger one is put behind all pages
 * in use and those about to be used, and describes itself too. */
static int
cover(unsigned end)
{
    unsigned more = words, place, n;
    struct word *bigger, *old = table;

    if (end <= base + words * PER_WORD)
        return 0;
    place = end > top ? end : top;
    do {
        more *= 2;
        n = PAGES(more * sizeof *table);
    } while (base + more * PER_WORD < place + n);
    if (grow_to(place + n))
        return -1;

    bigger = (struct word *)PAGE_PTR(place);
    memcpy(bigger, table, words * sizeof *table);
    n = PAGES(words * sizeof *table);
    table = bigger;
    words = more;
    top = place + PAGES(more * sizeof *table);
    set_mapped(place, top - place, 1);
    if (old != small_table)
        __wpages_release(PAGE_OF(old), n);
    return 0;
}

/* Finds n free pages from page `low` on. */
static unsigned
find_from(unsigned n, unsigned low)
{
    unsigned run = 0, i, from;

    if (!table)
        init();
    from = low > hint ? low : hint;
    if (n >= LARGE_PAGES && from < first + LOW_PAGES)
        from = first + LOW_PAGES;
    for (i = from; i < top; i++) {
        int at_word = (i - base) % PER_WORD == 0;
        uint32_t mapped = word_of(i)->mapped;

        if (at_word && mapped == ~0u) {
            run = 0;
            i += PER_WORD - 1;
        } else if (at_word && !mapped && run + PER_WORD < n &&
                   i + PER_WORD <= top) {
            run += PER_WORD;
            i += PER_WORD - 1;
        } else if (mapped & bit_of(i)) {
            run = 0;
        } else if (++run == n) {
            return i + 1 - n;
        }
    }
    i = from > top ? from : top - run;
    return n > LAST_PAGE - i ? 0 : i;
}

unsigned
__wpages_find(unsigned n)
{
    return find_from(n, 0);
}

/* The kernel is asked each time: a program that was frozen begins with more
 * memory than it had before. */
unsigned
__wpages_find_shared(unsigned n)
{
    return find_from(n, PAGE_OF(__syscall(SYS_mmap2, 0, 0, 0, 0, 0, 0)));
}

/* The first page from i on, below `end`, that may hold something; or `end`. */
static unsigned
next_used(unsigned i, unsigned end)
{
    while (i >= first && i < end && !(word_of(i)->used & bit_of(i)))
        i++;
    return i;
}

int
__wpages_is_shared(unsigned i)
{
    return i >= first && i < top && word_of(i)->shared & bit_of(i);
}

static void
set_private(unsigned i, unsigned end)
{
    for (; n_shared && i < end; i++)
        if (__wpages_is_shared(i)) {
            word_of(i)->shared &= ~bit_of(i);
            n_shared--;
        }
}

/* Gives shared pages back to the kernel, which leaves zeros there. */
static int
unshare(unsigned i, unsigned n)
{
    unsigned end = i + n, j;

    for (; n_shared && i < end; i = j) {
        int is_shared = __wpages_is_shared(i);

        for (j = i + 1; j < end && __wpages_is_shared(j) == is_shared; j++)
            ;
        if (!is_shared)
            continue;
        if (__syscall(SYS_munmap, PAGE_PTR(i), (j - i) * PAGE_BYTES))
            return -1;
        set_private(i, j);
    }
    return 0;
}

int
__wpages_claim(unsigned i, unsigned n, int *ret_dirty)
{
    unsigned j, end = i + n;

    if (!table)
        init();
    if (grow_to(end) || cover(end) || unshare(i, n))
        return -1;
    j = next_used(i, end);
    if (ret_dirty)
        *ret_dirty = j < end;
    else
        for (; j < end; j = next_used(j + 1, end))
            memset(PAGE_PTR(j), 0, PAGE_BYTES);
    if (end > top)
        top = end;
    if (i < first) { /* over the program's own data */
        n = end > first ? end - first : 0;
        i = first;
    }
    set_mapped(i, n, 1);
    if (i <= hint && hint < end)
        hint = end;
    return 0;
}

int
__wpages_release(unsigned i, unsigned n)
{
    unsigned end = i + n;

    if (!table)
        init();
    if (i < first)
        i = first;
    if (end > top)
        end = top;
    if (i >= end)
        return 0;
    if (unshare(i, end - i))
        return -1;
    set_mapped(i, end - i, 0);
    is_soiled = 1;
    if (i < hint)
        hint = i;
    return 0;
}

int
__wpages_claim_shared(unsigned i, unsigned n)
{
    int dirty;

    set_private(i, i + n);
    if (__wpages_claim(i, n, &dirty))
        return -1;
    n_shared += n;
    for (; n; i++, n--)
        word_of(i)->shared |= bit_of(i);
    return 0;
}

unsigned
__wpages_end(void)
{
    if (!table)
        init();
    return top;
}

unsigned
__wpages_span(void)
{
    return __wpages_end() - first;
}

unsigned
__wpages_mapped(void)
{
    unsigned n = 0, i;

    if (!table)
        init();
    for (i = 0; i < words && base + i * PER_WORD < top; i++)
        n += (unsigned)__builtin_popcount(table[i].mapped);
    return n;
}

/* The page behind the last mapped one below `end`. */
static unsigned
mapped_end(unsigned end)
{
    while (end > first && !is_mapped(end - 1))
        end--;
    return end;
}

/* Makes the table as small as can be, and puts it as low as can be; then `top`
 * is the end of what is mapped. */
static void
shrink(void)
{
    unsigned at = PAGE_OF(table), n = PAGES(words * sizeof *table);
    unsigned less = words, to;

    if (table != small_table)
        __wpages_release(at, n);
    top = mapped_end(top);
    if (table == small_table)
        return;
    if (top <= base + STATIC_WORDS * PER_WORD) {
        memcpy(small_table, table, sizeof small_table);
        table = small_table;
        words = STATIC_WORDS;
        return;
    }
    while (base + less / 2 * PER_WORD >= top + PAGES(less / 2 * sizeof *table))
        less /= 2;
    to = __wpages_find(PAGES(less * sizeof *table));
    if (!to || to > at) {
        to = at;
        less = words;
    }
    table = memmove(PAGE_PTR(to), table, less * sizeof *table);
    words = less;
    n = PAGES(less * sizeof *table);
    set_mapped(to, n, 1);
    if (to + n > top)
        top = to + n;
}

/* Writes only into a page that is not zero already: others stay untouched. */
static void
clear(unsigned i)
{
    const uint64_t *p = (const uint64_t *)PAGE_PTR(i);

    for (unsigned j = 0; j < PAGE_BYTES / sizeof *p; j++)
        if (p[j]) {
            memset(PAGE_PTR(i), 0, PAGE_BYTES);
            return;
        }
}

void
__wpages_trim(void)
{
    unsigned i, end = top;

    if (!is_soiled || __wpages_mapped() > (end - first) / 2)
        return;
    shrink();
    for (i = next_used(first, top); i < top; i = next_used(i + 1, top))
        if (!is_mapped(i)) {
            clear(i);
            word_of(i)->used &= ~bit_of(i);
        }
    for (; i < end; i++)
        clear(i);
    is_soiled = 0;
}

void
__wpages_set_file(unsigned i, unsigned n)
{
    for (; n; i++, n--)
        if (i >= first)
            word_of(i)->file |= bit_of(i);
}

int
__wpages_is_file(unsigned i)
{
    return i >= first && i < top && word_of(i)->file & bit_of(i);
}

int
__wpages_all_mapped(unsigned i, unsigned n)
{
    if (!table)
        init();
    for (; n; i++, n--)
        if (!is_mapped(i))
            return 0;
    return 1;
}

int
__wpages_none_mapped(unsigned i, unsigned n)
{
    if (!table)
        init();
    for (; n && i < top; i++, n--)
        if (is_mapped(i))
            return 0;
    return 1;
}

int
__wpages_in_space(const void *addr, size_t len)
{
    return len <= LAST_PAGE * PAGE_BYTES &&
           (uintptr_t)addr <= LAST_PAGE * PAGE_BYTES - len;
}

int
__wpages_are_mapped(const void *addr, size_t len)
{
    int is_mapped;

    __wpages_lock();
    is_mapped = __wpages_in_space(addr, len) &&
                __wpages_all_mapped(PAGE_OF(addr), PAGES(len));
    __wpages_unlock();
    return is_mapped;
}
