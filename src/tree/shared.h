/* The reference count that every structurally shared object begins with.
 *
 * Clones of a tree may be used by different OS threads, so counts are atomic.
 * Only the holder of the single reference changes an object in place. */
#ifndef TREE_SHARED_H
#define TREE_SHARED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* The count. Objects start with one reference, which their creator owns. */
struct shared {
    _Atomic uint32_t refs;
};

static inline void
shared_init(struct shared *s)
{
    atomic_init(&s->refs, 1);
}

static inline void
shared_get(struct shared *s)
{
    atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
}

/* True when the caller holds the only reference. */
static inline bool
shared_is_single(struct shared *s)
{
    return atomic_load_explicit(&s->refs, memory_order_acquire) == 1;
}

/* Releases a reference. Returns true if it was the last; then the caller frees
 * the object. */
static inline bool
shared_put(struct shared *s)
{
    if (shared_is_single(s))
        return true;
    return atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) == 1;
}

#endif
