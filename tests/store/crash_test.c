/* Power that goes, and disks that fail, at any point of random work. */
#include "../unit/test.h"
#include "disk.h"
#include "workload.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

static const struct store_options options = {
    .vfs = DISK_VFS, .log_pages = 60, .cache_bytes = 64 << 10, .boot = 1};

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
    after.options.boot = 2;
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
    for (int i = 0; i < 700; i++) {
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

/* One step on a disk that fails somewhere in it; true if it was refused. */
static bool
step_with_fault(struct workload *w, int result)
{
    uint32_t n = next_random(&w->random);

    w->may_reopen = false;
    disk_fail_at(1 + n % (result == SQLITE_IOERR_FSYNC ? 2 : 25), result,
                 n >> 8 & 1, n >> 9 & 1);
    int r = workload_step(w);
    disk_fail_at(0, 0, false, false);
    w->may_reopen = true;
    CHECK(r == 0 || r == -EIO || r == -ENOSPC);
    CHECK(r == 0 || strlen(store_why(w->world.s)) > 10);
    CHECK(state_is(w->world.s, workload_now(w)));
    return r < 0;
}

static void
work_with_faults(int result)
{
    struct workload w;
    int refused = 0;

    disk_init(17);
    workload_init(&w, &options, (uint32_t)result);
    for (int i = 0; i < 250; i++) {
        refused += step_with_fault(&w, result);
        disk_snap_at(1 + next_random(&w.random) % 5);
        CHECK_EQ(workload_step(&w), 0);
        CHECK(state_is(w.world.s, workload_now(&w)));
        if (i % 4 == 0 && disk_has_snap())
            check_snap(&w, i & 4);
    }
    CHECK(refused > 50);
    CHECK(fsck_is_clean(w.world.s));
    workload_fini(&w);
    disk_fini();
}

TEST(a_full_disk_is_a_refusal_and_no_more)
{
    work_with_faults(SQLITE_FULL);
}

TEST(an_error_of_the_disk_is_a_refusal_and_no_more)
{
    work_with_faults(SQLITE_IOERR);
}

TEST(a_sync_that_fails_is_a_refusal_and_no_more)
{
    work_with_faults(SQLITE_IOERR_FSYNC);
}

/* Each call of an open fails once: it is refused, or it works. */
TEST(a_store_that_cannot_be_opened_can_be_later)
{
    char why[STORE_WHY_BYTES];
    struct workload w;
    struct store *s = NULL;

    disk_init(23);
    workload_init(&w, &options, 29);
    for (int i = 0; i < 60; i++)
        CHECK_EQ(workload_step(&w), 0);
    for (long n = 1;; n++) {
        store_free(STEAL(w.world.s));
        disk_fail_at(n, SQLITE_IOERR, n % 2, true);
        int r = store_open(w.world.dir, &options, why, &s);
        bool has_failed = disk_has_failed();
        disk_fail_at(0, 0, false, false);
        CHECK(r == 0 || (*why && (r == -EIO || r == -EBADMSG)));
        if (r == 0)
            store_free(STEAL(s));
        world_reopen(&w.world);
        CHECK(state_is(w.world.s, workload_now(&w)));
        if (!has_failed)
            break;
    }
    workload_fini(&w);
    disk_fini();
}
