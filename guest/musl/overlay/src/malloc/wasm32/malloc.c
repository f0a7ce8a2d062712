/* SPDX-License-Identifier: MIT */
/* malloc.
 *
 * Every block has a 4-byte header in front of its 16-byte aligned payload.
 * Blocks up to 64 KiB belong to size classes: steps of 16 bytes up to 512, then
 * four to each power of two. malloc takes the first of the class's list, or
 * cuts a block off the one fresh area that all classes share. A small process
 * therefore touches few pages, which are all that fork copies and a resident
 * shell keeps. free puts the block back at the front of the list. Only
 * malloc_trim splits, merges and unmaps small blocks. A larger block has pages
 * of its own, which are not from mmap: mmap would zero pages that were used.
 *
 * Fresh areas stay in a list: malloc_trim walks from block to block in each.
 *
 * The header holds the class, or LARGE, or ALIGNED with the distance to the
 * payload whose header counts.
 *
 * Threads: the common paths of malloc and free take no lock. They add a block
 * to a list or remove one in a few instructions without a loop or a call. A
 * thread loses the processor only at loops and calls (atomic_arch.h). All other
 * paths hold the lock of the page map, and change a list in one such step, too,
 * because the common paths do not wait for the lock.
 *
 * All public names are weak aliases, so that a program may bring its own. */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "libc.h"
#include "../../mman/wasm32/pages.h"

#define CLASSES   60
#define MAX_SMALL 65536u /* the last class's blocks, header included */
#define MAX_BYTES 0x7fff0000u
#define LARGE     0x100u
#define ALIGNED   0x80000000u
#define FREE      0x200u /* while malloc_trim works */
#define AREA      65536u
#define LEAD      16u /* from the start of a large block or area to a payload */
#define HOLE      16384u /* the minimum that is unmapped inside an area */

/* wasmsand_trim looks for what it can give back in a heap of so many pages, and
 * among small blocks where so many are free. */
#define WORTH_PAGES  1024u
#define WORTH_BLOCKS 4096u

#define HEADER(p)      (((uint32_t *)(p))[-1])
#define LARGE_BYTES(p) (((uint32_t *)(p))[-2]) /* all its pages */
#define LIKELY(x)      __builtin_expect(!!(x), 1)

struct block {
    struct block *next;
};

static struct block *list[CLASSES];

/* Begins a page; the payload of its first block is LEAD bytes behind. */
struct area {
    struct area *next;
    char *end; /* payload address behind the last block; not of the newest */
};

static struct area *areas; /* the newest first: it holds the fresh area */

/* The fresh area: payload address of the next block, and its end. A block
 * starts 4 bytes before its payload and so ends 4 bytes before the next. */
static char *fresh, *fresh_end;

/* `size` is with header. */
static inline unsigned
class_of(uint32_t size)
{
    unsigned log;

    if (LIKELY(size <= 512))
        return (size - 1) >> 4;
    log = 31 - (unsigned)__builtin_clz(size - 1);
    return 32 + (log - 9) * 4 + ((size - 1) >> (log - 2) & 3);
}

static inline uint32_t
class_size(unsigned class)
{
    unsigned log, quarter;

    if (LIKELY(class < 32))
        return (class + 1) << 4;
    log = (class - 32) / 4 + 9;
    quarter = (class - 32) & 3;
    return (1u << log) + ((quarter + 1) << (log - 2));
}

static inline void
put(void *p, unsigned class)
{
    struct block *b = p;

    b->next = list[class];
    list[class] = b;
}

/* Makes free blocks of the payload addresses [p, end); returns where the last
 * one ends. */
static char *
cut(char *p, char *end)
{
    while (end - p >= 16) {
        uint32_t left = (uint32_t)(end - p);
        unsigned class = class_of(left < MAX_SMALL ? left : MAX_SMALL);

        if (class_size(class) > left)
            class --;
        HEADER(p) = class;
        put(p, class);
        p += class_size(class);
    }
    return p;
}

static void *
claim(unsigned i, unsigned n, int *ret_dirty)
{
    if (!i || __wpages_claim(i, n, ret_dirty)) {
        errno = ENOMEM;
        return NULL;
    }
    return PAGE_PTR(i);
}

/* bytes is a multiple of the page size. */
static void *
take_pages(uint32_t bytes, int *ret_dirty)
{
    unsigned n = PAGES(bytes);

    return claim(__wpages_find(n), n, ret_dirty);
}

/* The rest of the fresh area becomes free blocks. */
static void
end_fresh(void)
{
    if (fresh)
        areas->end = cut(fresh, fresh_end);
    fresh = fresh_end = NULL;
}

/* Maps a fresh area for a block of that size at the first place where it fits,
 * and makes it larger if more pages are free there. */
static int
more_fresh(uint32_t size)
{
    unsigned n = PAGES(size + LEAD), i = __wpages_find(n);
    char *p;

    while (n < PAGES(AREA) && __wpages_none_mapped(i + n, 1))
        n++;
    p = claim(i, n, NULL);
    if (!p)
        return -1;
    if (p == fresh_end) {
        fresh_end += n * PAGE_BYTES;
        return 0;
    }
    end_fresh();
    ((struct area *)p)->next = areas;
    areas = (struct area *)p;
    fresh = p + LEAD;
    fresh_end = p + n * PAGE_BYTES;
    return 0;
}

static inline uint32_t
large_bytes(size_t n)
{
    return (n + LEAD + PAGE_BYTES - 1) & -PAGE_BYTES;
}

/* From here on, *zero is set if the block was never used before and so is still
 * zero. */
static void *
malloc_large(size_t n, int *zero)
{
    uint32_t bytes = large_bytes(n);
    int dirty;
    char *p = take_pages(bytes, &dirty);

    if (!p)
        return NULL;
    p += LEAD;
    LARGE_BYTES(p) = bytes;
    HEADER(p) = LARGE;
    *zero = !dirty;
    return p;
}

static void *
malloc_small(unsigned class, int *zero)
{
    uint32_t size = class_size(class);
    char *p = (char *)list[class];

    if (p) {
        list[class] = list[class]->next;
        return p;
    }
    if ((!fresh || (uint32_t)(fresh_end - fresh) < size) && more_fresh(size))
        return NULL;
    p = fresh;
    fresh += size;
    HEADER(p) = class;
    *zero = 1;
    return p;
}

static __attribute__((noinline)) void *
malloc_slow(size_t n, int *zero)
{
    void *p;

    if (n > MAX_BYTES) {
        errno = ENOMEM;
        return NULL;
    }
    __wpages_lock();
    p = n + 4 > MAX_SMALL ? malloc_large(n, zero)
                          : malloc_small(class_of(n + 4), zero);
    __wpages_unlock();
    return p;
}

static inline __attribute__((always_inline)) void *
allocate(size_t n, int *zero)
{
    if (LIKELY(n <= 508)) {
        unsigned class = (n + 3) >> 4;
        struct block *b = list[class];

        if (LIKELY(b != NULL)) {
            list[class] = b->next;
            return b;
        }
    }
    return malloc_slow(n, zero);
}

void *
__libc_malloc(size_t n)
{
    int zero;

    return allocate(n, &zero);
}

void
__libc_free(void *p)
{
    uint32_t header;

    if (!p)
        return;
    header = HEADER(p);
    if (header & ALIGNED) {
        p = (char *)p - (header & ~ALIGNED);
        header = HEADER(p);
    }
    if (LIKELY(header < CLASSES)) {
        put(p, header);
        return;
    }
    if (header != LARGE) /* not ours, or overwritten */
        __builtin_trap();
    __wpages_lock();
    __wpages_release(PAGE_OF(p), PAGES(LARGE_BYTES(p)));
    __wpages_unlock();
}

size_t
__libc_usable_size(void *p)
{
    uint32_t header, distance = 0;

    if (!p)
        return 0;
    header = HEADER(p);
    if (header & ALIGNED) {
        distance = header & ~ALIGNED;
        p = (char *)p - distance;
        header = HEADER(p);
    }
    if (header == LARGE)
        return LARGE_BYTES(p) - LEAD - distance;
    return class_size(header) - 4 - distance;
}

void *
__libc_calloc(size_t a, size_t b)
{
    int zero = 0;
    size_t n;
    void *p;

    if (__builtin_mul_overflow(a, b, &n)) {
        errno = ENOMEM;
        return NULL;
    }
    p = allocate(n, &zero);
    if (p && !zero)
        memset(p, 0, n);
    return p;
}

/* Resizes a large block; NULL with errno. */
static void *
realloc_large(char *p, size_t n)
{
    uint32_t old = LARGE_BYTES(p), new = large_bytes(n);
    unsigned end = PAGE_OF(p) + PAGES(old);
    int dirty;
    char *q;

    if (new < old) {
        __wpages_release(PAGE_OF(p) + PAGES(new), PAGES(old - new));
    } else if (new > old && (!__wpages_none_mapped(end, PAGES(new - old)) ||
                             __wpages_claim(end, PAGES(new - old), &dirty))) {
        q = take_pages(new, &dirty);
        if (!q)
            return NULL;
        memcpy(q, p - LEAD, old);
        __wpages_release(PAGE_OF(p), PAGES(old));
        p = q + LEAD;
    }
    LARGE_BYTES(p) = new;
    return p;
}

/* Grows the block that was cut off the fresh area last, unless the wanted class
 * has a free block. Without this condition, a program that repeats malloc,
 * realloc and free would use up fresh memory: free would put each block into
 * another class than that of the next malloc. */
static int
grow_in_place(char *p, size_t n)
{
    unsigned class = HEADER(p), wanted;
    uint32_t more;

    if (class >= CLASSES || p + class_size(class) != fresh || n + 4 > MAX_SMALL)
        return -1;
    wanted = class_of(n + 4);
    more = class_size(wanted) - class_size(class);
    if (list[wanted] || (uint32_t)(fresh_end - fresh) < more)
        return -1;
    fresh += more;
    HEADER(p) = wanted;
    return 0;
}

void *
__libc_realloc(void *p, size_t n)
{
    size_t old = __libc_usable_size(p);
    void *q;

    if (!p)
        return __libc_malloc(n);
    if (n > MAX_BYTES) {
        errno = ENOMEM;
        return NULL;
    }
    if (HEADER(p) == LARGE && n > MAX_SMALL / 2) {
        __wpages_lock();
        p = realloc_large(p, n);
        __wpages_unlock();
        return p;
    }
    if (n <= old && (n >= old / 2 || old <= 128)) /* not worth a copy */
        return p;
    if (n > old && (char *)p + old + 4 == fresh) {
        __wpages_lock();
        int r = grow_in_place(p, n);
        __wpages_unlock();
        if (!r)
            return p;
    }

    q = __libc_malloc(n);
    if (!q)
        return NULL;
    memcpy(q, p, n < old ? n : old);
    __libc_free(p);
    return q;
}

void *
__libc_aligned_alloc(size_t align, size_t n)
{
    char *p, *q;

    if (!align || align & (align - 1)) {
        errno = EINVAL;
        return NULL;
    }
    if (align <= 16)
        return __libc_malloc(n);
    if (n > MAX_BYTES || align > MAX_BYTES / 2 || n + align > MAX_BYTES) {
        errno = ENOMEM;
        return NULL;
    }
    p = __libc_malloc(n + align - 16);
    if (!p)
        return NULL;
    q = (char *)(((uintptr_t)p + align - 1) & -align);
    if (q != p)
        HEADER(q) = ALIGNED | (uint32_t)(q - p);
    return q;
}

static int
posix_memalign_(void **ret_p, size_t align, size_t n)
{
    int error = errno;
    void *p;

    if (align < sizeof(void *) || align & (align - 1))
        return EINVAL;
    p = __libc_aligned_alloc(align, n);
    errno = error;
    if (!p)
        return ENOMEM;
    *ret_p = p;
    return 0;
}

static void *
reallocarray_(void *p, size_t a, size_t b)
{
    size_t n;

    if (__builtin_mul_overflow(a, b, &n)) {
        errno = ENOMEM;
        return NULL;
    }
    return __libc_realloc(p, n);
}

/* --- giving memory back */

#define PAGE_UP(p)   ((char *)(((uintptr_t)(p) + PAGE_BYTES - 1) & -PAGE_BYTES))
#define PAGE_DOWN(p) ((char *)((uintptr_t)(p) & -PAGE_BYTES))
#define FIRST_IN(a)  ((char *)(a) + LEAD)

static int
is_free_block(const char *p)
{
    return (HEADER(p) & FREE) != 0;
}

static char *
after_block(char *p)
{
    return p + class_size(HEADER(p) & ~FREE);
}

static void
release(char *from, char *to)
{
    __wpages_release(PAGE_OF(from), (unsigned)(to - from) / PAGE_BYTES);
}

/* The blocks [p, end) are free: gives the pages among them back, if they are
 * many, so that the area ends there. Returns the area that goes on at `end`:
 * another one then, if any blocks follow. */
static struct area *
give_back(struct area *a, char *p, char *end)
{
    int is_tail = end == a->end;
    char *from = PAGE_UP(p),
         *to = is_tail ? PAGE_UP(end) : PAGE_DOWN(end - LEAD);
    struct area *rest = (struct area *)to;

    if (to < from + HOLE) {
        (void)cut(p, end);
        return a;
    }
    (void)cut(p, from);
    if (is_tail) {
        rest = a;
    } else {
        (void)cut(to + LEAD, end);
        rest->next = a->next;
        rest->end = a->end;
        a->next = rest;
    }
    a->end = from;
    release(from, to);
    return rest;
}

/* Puts what is free in an area into the lists, or gives it back; the area as
 * well, if all is free. Returns the link to the area after it. */
static struct area **
sweep(struct area **link)
{
    struct area *a = *link;
    char *p = FIRST_IN(a), *run;

    while (p < a->end) {
        run = p;
        while (p < a->end && is_free_block(p))
            p = after_block(p);
        if (run == FIRST_IN(a) && p == a->end) {
            *link = a->next;
            release((char *)a, PAGE_UP(p));
            return link;
        }
        if (p != run)
            a = give_back(a, run, p);
        while (p < a->end && !is_free_block(p))
            p = after_block(p);
    }
    return &a->next;
}

/* Each list is emptied as a whole before its blocks are marked. Blocks that
 * other threads free in the meantime count as in use. */
static void
give_back_small(void)
{
    struct area **link = &areas;
    struct block *b;

    end_fresh();
    for (unsigned i = 0; i < CLASSES; i++) {
        b = list[i];
        list[i] = NULL;
        for (; b; b = b->next)
            HEADER(b) |= FREE;
    }
    while (*link)
        link = sweep(link);
}

static int
malloc_trim_(size_t pad)
{
    unsigned before, end;
    int less;

    (void)pad;
    __wpages_lock();
    before = __wpages_mapped();
    end = __wpages_end();
    give_back_small();
    __wpages_trim();
    less = __wpages_mapped() < before || __wpages_end() < end;
    __wpages_unlock();
    return less;
}

/* Worth the walk: at least `many` small blocks are free. */
static int
has_many_free(unsigned many)
{
    struct block *b;

    for (unsigned i = 0; i < CLASSES; i++)
        for (b = list[i]; b; b = b->next)
            if (!many--)
                return 1;
    return 0;
}

/* Walks in vain, one after the other, are made ever more seldom. For a program
 * with one thread: a resident shell. */
size_t
wasmsand_trim(void)
{
    static unsigned skip, pause;
    unsigned mapped, end;

    if (__wpages_span() < WORTH_PAGES)
        return 0;
    mapped = __wpages_mapped();
    end = __wpages_end();
    if (skip) {
        skip--;
        __wpages_trim();
    } else if (mapped < __wpages_span() / 2 || has_many_free(WORTH_BLOCKS)) {
        give_back_small();
        __wpages_trim();
        if (__wpages_end() < end || __wpages_mapped() < mapped / 2)
            pause = 0;
        else if (pause < 1024)
            pause = 2 * pause + 1;
        skip = pause;
    }
    return (size_t)__wpages_end() * PAGE_BYTES;
}

/* Around fork: -1 before it, 0 behind it in the parent, 1 in the child. */
void
__malloc_atfork(int who)
{
    if (who < 0)
        __wpages_lock();
    else
        __wpages_unlock();
}

weak_alias(__libc_malloc, malloc);
weak_alias(__libc_malloc, __libc_malloc_impl);
weak_alias(__libc_free, free);
weak_alias(__libc_calloc, calloc);
weak_alias(__libc_realloc, realloc);
weak_alias(__libc_usable_size, malloc_usable_size);
weak_alias(__libc_aligned_alloc, aligned_alloc);
weak_alias(__libc_aligned_alloc, memalign);
weak_alias(posix_memalign_, posix_memalign);
weak_alias(reallocarray_, reallocarray);
weak_alias(malloc_trim_, malloc_trim);
