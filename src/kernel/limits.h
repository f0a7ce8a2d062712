/* Limits of a sandbox: one row for each in limits.def, and one counter. Things
 * that a guest can create are charged at creation, and released when they are
 * destroyed. */
#ifndef KERNEL_LIMITS_H
#define KERNEL_LIMITS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum limit_id {
#define LIMIT(name, unit, dflt, min, max, at) LIMIT_##name,
#include "kernel/limits.def"
#undef LIMIT
    LIMIT_COUNT
};

/* A row of limits.def. */
struct limit_info {
    const char *name, *unit, *at_limit;
    uint64_t dflt, min, max;
};

struct limits {
    uint64_t max[LIMIT_COUNT], used[LIMIT_COUNT];
    uint64_t peak[LIMIT_COUNT]; /* of used, since limits_mark */
    bool was_hit[LIMIT_COUNT];  /* since limits_mark */
};

/* Returns the row of a limit; a constant. */
const struct limit_info *limit_info(enum limit_id id);
void limits_init(struct limits *l); /* the defaults */
/* Returns true if n more would be within the limit. */
bool limits_fit(const struct limits *l, enum limit_id id, uint64_t n);
/* Returns false, and records a hit, if the limit would be exceeded. */
bool limits_charge(struct limits *l, enum limit_id id, uint64_t n);
/* Charges without a check: something that exists counts from now on. */
void limits_settle(struct limits *l, enum limit_id id, uint64_t n);
/* Releases a charge; the peak stays. */
void limits_uncharge(struct limits *l, enum limit_id id, uint64_t n);
/* Starts counting peaks and hits again. */
static inline void
limits_mark(struct limits *l)
{
    memcpy(l->peak, l->used, sizeof l->peak);
    memset(l->was_hit, 0, sizeof l->was_hit);
}

#endif
