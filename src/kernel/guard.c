/* Guard pages below the stacks of threads. */
#include "kernel/guard.h"

#include "kernel/guest.h"

#include <errno.h>
#include <string.h>

#define GUARD_BYTES   4096u
#define GUARD_WORDS   (GUARD_BYTES / sizeof(uint64_t))
#define GUARD_PATTERN UINT64_C(0x9e3779b97f4a7c15)

/* Programs align the page; the kernel does not depend on it. */
static gaddr
guard_align(gaddr page)
{
    return page & ~(gaddr)(GUARD_BYTES - 1);
}

int
guard_set(struct thread *th, gaddr page)
{
    page = guard_align(page);
    if (!page)
        return 0;
    uint64_t *v = guest_out(th->owner, page, GUARD_BYTES);
    if (!v)
        return -EFAULT;
    for (size_t i = 0; i < GUARD_WORDS; i++)
        v[i] = GUARD_PATTERN;
    th->guard = page;
    return 0;
}

/* All words are the pattern if the first one is, and each is equal to the next.
 * memcmp is several times as fast as a loop over the words. */
bool
guard_compare(const struct thread *th)
{
    const uint64_t *v = guest_in(th->owner, th->guard, GUARD_BYTES);

    return !v || (v[0] == GUARD_PATTERN &&
                  memcmp(v, v + 1, GUARD_BYTES - sizeof *v) == 0);
}

gaddr
guard_broken_at(const struct thread *th)
{
    const uint64_t *v = guest_in(th->owner, th->guard, GUARD_BYTES);
    size_t n = v ? GUARD_WORDS : 1;

    while (n > 1 && v[n - 1] == GUARD_PATTERN)
        n--;
    return th->guard + (gaddr)((n - 1) * sizeof *v);
}
