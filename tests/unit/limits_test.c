/* Limits. */
#include "kernel/limits.h"

#include "test.h"

#include <string.h>

TEST(limits_begin_with_defaults_within_their_range)
{
    struct limits l;

    limits_init(&l);
    for (int i = 0; i < LIMIT_COUNT; i++) {
        const struct limit_info *info = limit_info((enum limit_id)i);
        CHECK(info->name && *info->name && *info->unit && *info->at_limit);
        CHECK(info->min <= info->dflt && info->dflt <= info->max);
        CHECK_EQ(l.max[i], info->dflt);
        CHECK_EQ(l.used[i], 0);
        CHECK(!l.was_hit[i]);
    }
}

TEST(limits_charge_up_to_the_limit_and_no_further)
{
    struct limits l;

    limits_init(&l);
    l.max[LIMIT_locks] = 10;
    CHECK(limits_charge(&l, LIMIT_locks, 4));
    CHECK(limits_charge(&l, LIMIT_locks, 6));
    CHECK(!l.was_hit[LIMIT_locks]);
    CHECK(!limits_charge(&l, LIMIT_locks, 1));
    CHECK(l.was_hit[LIMIT_locks]);
    CHECK(limits_charge(&l, LIMIT_locks, 0));
    CHECK_EQ(l.used[LIMIT_locks], 10);
    limits_uncharge(&l, LIMIT_locks, 1);
    CHECK(limits_charge(&l, LIMIT_locks, 1));
}

TEST(limits_huge_amounts_do_not_wrap_around)
{
    struct limits l;

    limits_init(&l);
    l.max[LIMIT_memory] = UINT64_MAX;
    CHECK(limits_charge(&l, LIMIT_memory, UINT64_MAX - 1));
    CHECK(!limits_charge(&l, LIMIT_memory, 2));
    CHECK(!limits_charge(&l, LIMIT_memory, UINT64_MAX));
    CHECK(limits_charge(&l, LIMIT_memory, 1));
    CHECK_EQ(l.used[LIMIT_memory], UINT64_MAX);
}

TEST(limits_lowered_below_what_is_used_refuse)
{
    struct limits l;

    limits_init(&l);
    CHECK(limits_charge(&l, LIMIT_locks, 5));
    l.max[LIMIT_locks] = 3;
    CHECK(!limits_charge(&l, LIMIT_locks, 1));
    CHECK_EQ(l.used[LIMIT_locks], 5);
}

TEST(peaks_and_hits_are_counted_from_a_mark)
{
    struct limits l;

    limits_init(&l);
    CHECK(limits_charge(&l, LIMIT_locks, 10));
    limits_uncharge(&l, LIMIT_locks, 7);
    CHECK(!limits_charge(&l, LIMIT_locks, UINT64_MAX));
    CHECK_EQ(l.peak[LIMIT_locks], 10);
    limits_mark(&l);
    CHECK_EQ(l.peak[LIMIT_locks], 3);
    CHECK(!l.was_hit[LIMIT_locks]);
}
