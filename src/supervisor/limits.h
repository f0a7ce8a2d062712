/* What can be limited: one row of limits.def each. */
#ifndef SUPERVISOR_LIMITS_H
#define SUPERVISOR_LIMITS_H

#include <stdint.h>

enum limit {
#define LIMIT(name, unit, standard, min, max, what) LIMIT_##name,
#include "supervisor/limits.def"
#undef LIMIT
    N_LIMITS
};

struct limit_row {
    const char *name, *unit, *what;
    uint32_t standard, min, max;
};
extern const struct limit_row limit_rows[N_LIMITS];

static inline uint64_t
mb_bytes(uint32_t mb)
{
    return (uint64_t)mb << 20;
}

#endif
