/* Power that goes, and disks that fail, at any point of random work. */
#include "../unit/test.h"
#include "disk.h"
#include "workload.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

static const struct store_options options = {
    .vfs = DISK_VFS, .log_pages = 60, .cache_bytes = 64 << 10};

TEST(random_work_is_what_it_should_be)
{
    struct workload w;

    disk_init(5);
    workload_init(&w, &options, 7);
    for (int i = 0; i < 1500; i++) {
        CHECK_EQ(workload_step(&w), 0);
        if (i % 50 == 0)
            CHECK(state_is(w.world.s, workload_now(&w)));
    }
    CHECK(fsck_is_clean(w.world.s));
    world_tidy(&w.world);
    CHECK(state_is(w.world.s, workload_now(&w)));
    CHECK(fsck_is_clean(w.world.s));
    workload_fini(&w);
    disk_fini();
}

/* What the power left is a state that may be there, and works. */
static void
check_snap(const struct workload *w, bool is_torn)
{
    struct world after;

    memset(&after, 0, sizeof after);
    (void)snprintf(after.dir, sizeof after.dir, "%.40s-after", w->world.dir);
    after.options = options;
    disk_from_snap(w->world.dir, after.dir, is_torn);
    world_reopen(&after);
    if (!after.s)
        return;
    CHECK(workload_has(w, after.s));
    CHECK(fsck_is_clean(after.s));
    world_tidy(&after);
    CHECK(workload_has(w, after.s));
    CHECK(fsck_is_clean(after.s));
    world_fini(&after);
}

TEST(what_was_acknowledged_survives_loss_of_power)
{
    struct workload w;
    int points = 0;

    disk_init(11);
    workload_init(&w, &options, 13);
    for (int i = 0; i < 900; i++) {
        disk_snap_at(1 + next_random(&w.random) % 30);
        int r = workload_step(&w);
        if (r < 0)
            printf("  step %d: %s\n", i, store_why(w.world.s));
        CHECK_EQ(r, 0);
        if (!disk_has_snap())
            continue;
        points++;
        check_snap(&w, i & 1);
    }
    CHECK(points > 300);
    workload_fini(&w);
    disk_fini();
}
