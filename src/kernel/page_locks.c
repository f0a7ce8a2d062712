/* Locked pages, and the system calls on them. The libc passes on only pages
 * that are mapped, which it knows alone. */
#include "kernel/page_locks.h"

#include "kernel/kernel.h"
#include "kernel/syscall.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>

enum { PAGE_SHIFT = 12, RANGES_MAX = 1024 };
#define ALL_PAGES ((struct page_range_k){0, 1u << (32 - PAGE_SHIFT)})

void
page_locks_fini(struct page_locks *l)
{
    free(l->v);
    *l = (struct page_locks){0};
}

uint64_t
page_locks_count(const struct page_locks *l)
{
    uint64_t pages = 0;

    for (size_t i = 0; i < l->n; i++)
        pages += l->v[i].to - l->v[i].from;
    return pages;
}

/* Appends a range, which may be empty or continue the last one. */
static void
page_locks_put(struct page_locks *l, uint32_t from, uint32_t to)
{
    if (from >= to)
        return;
    if (l->n && l->v[l->n - 1].to == from)
        l->v[l->n - 1].to = to;
    else
        l->v[l->n++] = (struct page_range_k){from, to};
}

/* The new list is what lies below the range, the range, and what lies above. */
int
page_locks_set(struct page_locks *l, struct page_range_k r, bool is_locked)
{
    struct page_locks out = {.v = malloc((l->n + 2) * sizeof *out.v)};

    if (!out.v)
        return -ENOMEM;
    for (size_t i = 0; i < l->n; i++) {
        const struct page_range_k *o = &l->v[i];
        page_locks_put(&out, o->from, o->to < r.from ? o->to : r.from);
    }
    if (is_locked)
        page_locks_put(&out, r.from, r.to);
    for (size_t i = 0; i < l->n; i++) {
        const struct page_range_k *o = &l->v[i];
        page_locks_put(&out, o->from > r.to ? o->from : r.to, o->to);
    }
    if (out.n > RANGES_MAX) {
        free(out.v);
        return -ENOMEM;
    }
    free(l->v);
    *l = out;
    return 0;
}

/* --- system calls */

/* Returns the pages that t may lock, or UINT64_MAX. */
static uint64_t
page_locks_limit(const struct task *t)
{
    uint64_t bytes = t->rlimits[RLIMIT_MEMLOCK].cur;

    return t->as.cred.uid == 0 || bytes == RLIM_INFINITY ? UINT64_MAX
                                                         : bytes >> PAGE_SHIFT;
}

/* -EINVAL: the range wraps around. */
static int
page_locks_range(const union sysarg *a, struct page_range_k *ret)
{
    uint64_t end = (uint64_t)a[0].addr + a[1].u + (1u << PAGE_SHIFT) - 1;

    if (end >> 32 > 1)
        return -EINVAL;
    ret->from = a[0].addr >> PAGE_SHIFT;
    ret->to = (uint32_t)(end >> PAGE_SHIFT);
    return 0;
}

/* Pages that are locked already do not count again. */
static int
page_locks_add(struct task *t, struct page_range_k range)
{
    uint64_t limit = page_locks_limit(t);
    uint64_t pages = page_locks_count(&t->locks) + (range.to - range.from);

    if (!limit)
        return -EPERM;
    for (size_t i = 0; i < t->locks.n; i++) {
        const struct page_range_k *o = &t->locks.v[i];
        uint32_t from = o->from > range.from ? o->from : range.from;
        uint32_t to = o->to < range.to ? o->to : range.to;
        pages -= from < to ? to - from : 0;
    }
    return pages > limit ? -ENOMEM : page_locks_set(&t->locks, range, true);
}

/* mlock(addr, len) */
int64_t
sys_mlock(struct task *t, const union sysarg *a)
{
    struct page_range_k range;

    int r = page_locks_range(a, &range);
    return r < 0 ? r : page_locks_add(t, range);
}

/* munlock(addr, len) */
int64_t
sys_munlock(struct task *t, const union sysarg *a)
{
    struct page_range_k range;

    int r = page_locks_range(a, &range);
    return r < 0 ? r : page_locks_set(&t->locks, range, false);
}

/* mlockall(flags): all current pages must be allowed. Future ones are not
 * counted. */
int64_t
sys_mlockall(struct task *t, const union sysarg *a)
{
    uint32_t flags = a[0].u;
    uint64_t limit = page_locks_limit(t);
    uint64_t pages = t->memory_bytes >> PAGE_SHIFT;

    if (!flags || flags == MCL_ONFAULT ||
        flags & ~(uint32_t)(MCL_CURRENT | MCL_FUTURE | MCL_ONFAULT))
        return -EINVAL;
    if (!limit)
        return -EPERM;
    if (!(flags & MCL_CURRENT))
        return 0;
    if (pages > limit)
        return -ENOMEM;
    return page_locks_set(&t->locks, (struct page_range_k){0, (uint32_t)pages},
                          true);
}

/* munlockall() */
int64_t
sys_munlockall(struct task *t, const union sysarg *a)
{
    (void)a;
    return page_locks_set(&t->locks, ALL_PAGES, false);
}
