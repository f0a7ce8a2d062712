/* The rows of limits.def as a table. These are the limits of jails; those
 * inside of a sandbox are in kernel/limits.def. */
#include "supervisor/config/limits.h"

const struct limit_row limit_rows[N_LIMITS] = {
#define LIMIT(name, unit, standard, min, max, what) \
    {#name, unit, what, standard, min, max},
#include "supervisor/config/limits.def"
#undef LIMIT
};
