/* A hash table with linear probing; at least a quarter of it is empty.
 *
 * Holds come and go with every open file, so there are no tombstones: removing
 * an entry moves later ones back. Inode numbers are small and dense.
 * Multiplication by the golden ratio (Fibonacci hashing) spreads them. */
#include "tree/holds.h"

#include <stdlib.h>

void
holds_fini(struct holds *h)
{
    free(h->v);
    *h = (struct holds){0};
}

static size_t
holds_home_of(const struct holds *h, uint64_t ino)
{
    return (size_t)((ino * UINT64_C(0x9E3779B97F4A7C15)) >> 20) & (h->cap - 1);
}

/* Returns the slot of ino, or the empty slot where it would go. The search
 * ends, because the table is never full. */
static struct hold *
holds_slot_of(const struct holds *h, uint64_t ino)
{
    size_t i = holds_home_of(h, ino);

    while (h->v[i].ino && h->v[i].ino != ino)
        i = (i + 1) & (h->cap - 1);
    return &h->v[i];
}

struct hold *
holds_find(const struct holds *h, uint64_t ino)
{
    if (!h->n)
        return NULL;
    struct hold *p = holds_slot_of(h, ino);
    return p->ino ? p : NULL;
}

static bool
holds_grow(struct holds *h)
{
    struct holds bigger = *h;

    bigger.cap = h->cap ? 2 * h->cap : 16;
    bigger.v = calloc(bigger.cap, sizeof *bigger.v);
    if (!bigger.v)
        return false;
    for (size_t i = 0; i < h->cap; i++)
        if (h->v[i].ino)
            *holds_slot_of(&bigger, h->v[i].ino) = h->v[i];
    free(h->v);
    *h = bigger;
    return true;
}

struct hold *
holds_add(struct holds *h, uint64_t ino)
{
    struct hold *p = holds_find(h, ino);

    if (!p) {
        if (4 * h->n >= 3 * h->cap && !holds_grow(h))
            return NULL;
        p = holds_slot_of(h, ino);
        *p = (struct hold){.ino = ino};
        h->n++;
    }
    p->n++;
    return p;
}

/* Moves entries back that linear probing had pushed past the new gap; otherwise
 * a search would stop at the gap and miss them. */
void
holds_remove(struct holds *h, struct hold *hold)
{
    size_t mask = h->cap - 1, gap = (size_t)(hold - h->v);

    h->n--;
    h->n_orphans -= hold->is_orphan;
    for (size_t i = (gap + 1) & mask; h->v[i].ino; i = (i + 1) & mask) {
        size_t home = holds_home_of(h, h->v[i].ino);
        if (((i - home) & mask) >= ((i - gap) & mask)) {
            h->v[gap] = h->v[i];
            gap = i;
        }
    }
    h->v[gap] = (struct hold){0};
}
