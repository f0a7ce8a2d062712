/* Limits: charging, and the table behind limits.def.
 *
 * `used` may be read by other threads (status of a sandbox), hence the
 * counters. Only the kernel's own thread changes it. */
#include "kernel/limits.h"

#include "base/counter.h"

static const struct limit_info infos[LIMIT_COUNT] = {
#define LIMIT(name, unit, dflt, min, max, at) \
    [LIMIT_##name] = {#name, #unit, at, dflt, min, max},
#include "kernel/limits.def"
#undef LIMIT
};

const struct limit_info *
limit_info(enum limit_id id)
{
    return &infos[id];
}

void
limits_init(struct limits *l)
{
    *l = (struct limits){0};
    for (int i = 0; i < LIMIT_COUNT; i++)
        l->max[i] = infos[i].dflt;
}

/* Written so that no sum can overflow. */
bool
limits_fit(const struct limits *l, enum limit_id id, uint64_t n)
{
    return n <= l->max[id] && l->used[id] <= l->max[id] - n;
}

bool
limits_charge(struct limits *l, enum limit_id id, uint64_t n)
{
    if (!limits_fit(l, id, n)) {
        l->was_hit[id] = true;
        return false;
    }
    limits_settle(l, id, n);
    return true;
}

void
limits_settle(struct limits *l, enum limit_id id, uint64_t n)
{
    COUNTER_ADD(l->used[id], n);
    if (l->used[id] > l->peak[id])
        l->peak[id] = l->used[id];
}

void
limits_uncharge(struct limits *l, enum limit_id id, uint64_t n)
{
    COUNTER_SUB(l->used[id], n);
}
