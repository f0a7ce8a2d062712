/* References to compiled programs. */
#include "kernel/machine.h"

#include <stdatomic.h>

struct program *
program_get(struct program *p)
{
    atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
    return p;
}

void
program_put(OWN struct program *p)
{
    if (p && atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) == 1)
        p->free(p);
}
