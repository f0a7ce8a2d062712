/* The arena of shared memory: see shares.h.
 *
 * Blocks have sizes of a power of two, and a list of free ones for each size.
 * Only address space is wasted by that, of which there is plenty: the pages
 * that a user does not touch do not exist. A block that goes to another sandbox
 * must not show what the last one left in it. Its pages are therefore removed
 * when it is freed; if the host refuses that, the block is never used again.
 *
 * Removing a page and adding it again costs more than clearing it. A few small
 * blocks of each size therefore keep their pages, and are used again first. */
#include "engine/shares.h"

#include "base/vec.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#define ARENA_PAGES (UINT64_C(1) << 30) /* 4 TiB */

enum {
    WARM_CLASSES = 5, /* blocks of up to 64 KiB can keep their pages, */
    WARM_BLOCKS = 16, /* that many of each size */
};

void
shares_init(struct shares *s)
{
    pthread_mutex_init(&s->lock, NULL);
}

void
shares_fini(struct shares *s)
{
    for (size_t i = 0; i < SHARE_CLASSES; i++)
        free(s->free[i].v);
    if (s->base)
        (void)munmap(s->base, ARENA_PAGES * SHARE_PAGE_BYTES);
    pthread_mutex_destroy(&s->lock);
}

/* Processes that this one forks, such as compilers, do not get the arena. */
static int
shares_reserve_locked(struct shares *s)
{
    const size_t len = ARENA_PAGES * SHARE_PAGE_BYTES;

    if (s->base)
        return 0;
    uint8_t *p = mmap(NULL, len, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return -ENOMEM;
    if (madvise(p, len, MADV_DONTFORK) < 0 ||
        madvise(p, len, MADV_DONTDUMP) < 0) {
        (void)munmap(p, len);
        return -ENOMEM;
    }
    s->base = p;
    return 0;
}

int
shares_reserve(struct shares *s)
{
    pthread_mutex_lock(&s->lock);
    int r = shares_reserve_locked(s);
    pthread_mutex_unlock(&s->lock);
    return r;
}

/* Returns the smallest size that is enough; SHARE_CLASSES if none is. */
static unsigned
shares_class(uint64_t len)
{
    unsigned c = 0;

    while (c < SHARE_CLASSES && (uint64_t)SHARE_PAGE_BYTES << c < len)
        c++;
    return c;
}

static int
shares_take(struct shares *s, unsigned c, uint64_t *ret_page)
{
    struct share_class *k = &s->free[c];

    int r = shares_reserve_locked(s);
    if (r < 0)
        return r;
    if (k->n) {
        *ret_page = k->v[--k->n];
        k->warm -= k->warm > 0;
        return 0;
    }
    if (s->next + (UINT64_C(1) << c) > ARENA_PAGES)
        return -ENOMEM;
    *ret_page = s->next;
    s->next += UINT64_C(1) << c;
    return 0;
}

int
shares_alloc(struct shares *s, uint64_t len, uint8_t **ret)
{
    unsigned c = shares_class(len);
    uint64_t page;

    if (c == SHARE_CLASSES)
        return -ENOMEM;
    pthread_mutex_lock(&s->lock);
    int r = shares_take(s, c, &page);
    pthread_mutex_unlock(&s->lock);
    if (r == 0)
        *ret = s->base + page * SHARE_PAGE_BYTES;
    return r;
}

/* Inserts a free block: behind the warm ones, or before them. */
static void
shares_insert(struct share_class *k, uint32_t page, bool is_warm)
{
    size_t at = k->n - (is_warm ? 0 : k->warm);

    if (at < k->n)
        k->v[k->n] = k->v[at];
    k->v[at] = page;
    k->n++;
    k->warm += is_warm;
}

static bool
shares_may_stay_warm(struct shares *s, unsigned c)
{
    pthread_mutex_lock(&s->lock);
    bool may = c < WARM_CLASSES && s->free[c].warm < WARM_BLOCKS;
    pthread_mutex_unlock(&s->lock);
    return may;
}

/* Without memory for the list, the block is lost: only address space. */
void
shares_free(struct shares *s, uint8_t *bytes, uint64_t len)
{
    unsigned c = shares_class(len);
    struct share_class *k = &s->free[c];
    bool is_warm = shares_may_stay_warm(s, c);

    if (is_warm)
        memset(bytes, 0, len);
    else if (madvise(bytes, (size_t)SHARE_PAGE_BYTES << c, MADV_REMOVE) < 0)
        return;
    pthread_mutex_lock(&s->lock);
    if (VEC_ROOM(k->v, k->n))
        shares_insert(
            k, (uint32_t)((uint64_t)(bytes - s->base) / SHARE_PAGE_BYTES),
            is_warm);
    pthread_mutex_unlock(&s->lock);
}

/* With an old length of 0, mremap duplicates a shared mapping. */
int
shares_map(uint8_t *bytes, uint64_t len, uint8_t *to)
{
    void *p = mremap(bytes, 0, len, MREMAP_MAYMOVE | MREMAP_FIXED, to);

    return p == MAP_FAILED ? -errno : 0;
}
