/* Objects with an atomic count that free themselves, for an owner that keeps a
 * reference without knowing the type. Embedded as the first member. */
#ifndef BASE_COUNTED_H
#define BASE_COUNTED_H

#include "base/own.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* `free` is called once, by the thread that drops the last reference. */
struct counted {
    _Atomic uint32_t refs;
    void (*free)(struct counted *c);
};

static inline struct counted *
counted_get(struct counted *c)
{
    atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
    return c;
}

/* NULL is fine. */
static inline void
counted_put(OWN struct counted *c)
{
    if (c && atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) == 1)
        c->free(c);
}

#endif
