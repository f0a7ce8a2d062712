/* The limits of a jail: one row of limits.def for each. */
#ifndef SUPERVISOR_LIMITS_H
#define SUPERVISOR_LIMITS_H

#include <stdint.h>

enum limit {
#define LIMIT(name, unit, standard, min, max, what) LIMIT_##name,
#include "supervisor/config/limits.def"
#undef LIMIT
    N_LIMITS
};

/* A row of limits.def. `standard` is the default. */
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

/* Returns the number of files that a sandbox with this disk limit may have:
 * enough for a project with its dependencies. The last block of each file can
 * use more memory, and more space in the store, than the disk limit counts. */
static inline uint64_t
limit_files(uint32_t disk_mb)
{
    uint64_t files = (uint64_t)disk_mb * 64;

    return files < 100000 ? 100000 : files;
}

#endif
