/* File locks: ranges, owners, waiting, deadlocks. */
#include "world.h"

#include "kernel/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>

enum { PATH = 64, FL = 128 };

struct guest_flock {
    int16_t type, whence;
    int32_t pad;
    int64_t start, len;
    int32_t pid, pad2;
};

static int
open_file(struct task *t, const char *path)
{
    strcpy(world_at(t, PATH), path);
    return SYS(t, NR_openat, AT_FDCWD, PATH, O_CREAT | O_RDWR, 0600);
}

static int32_t
lock(struct task *t, int fd, uint32_t cmd, int16_t type, int64_t start,
     int64_t len)
{
    struct guest_flock fl = {.type = type, .start = start, .len = len};

    memcpy(world_at(t, FL), &fl, sizeof fl);
    return SYS(t, NR_fcntl64, fd, cmd, FL);
}

/* What conflicts with a write lock of t on one byte: its holder, or 0. */
static int
holder(struct task *t, int fd, int64_t at)
{
    struct guest_flock fl;

    CHECK_EQ(lock(t, fd, 12, F_WRLCK, at, 1), 0);
    memcpy(&fl, world_at(t, FL), sizeof fl);
    return fl.type == F_UNLCK ? 0 : fl.pid;
}

TEST(lock_ranges_split_and_merge)
{
    struct kernel *k = world_new();
    struct task *a = world_task(k), *b = world_task(k);

    CHECK_EQ(open_file(a, "/f"), 0);
    CHECK_EQ(open_file(b, "/f"), 0);
    CHECK_EQ(lock(a, 0, 13, F_WRLCK, 0, 100), 0);
    CHECK_EQ(lock(a, 0, 13, F_UNLCK, 40, 20), 0);
    CHECK_EQ(k->limits.used[LIMIT_locks], 2);
    CHECK_EQ(holder(b, 0, 39), a->pid);
    CHECK_EQ(holder(b, 0, 40), 0);
    CHECK_EQ(holder(b, 0, 59), 0);
    CHECK_EQ(holder(b, 0, 60), a->pid);
    CHECK_EQ(lock(b, 0, 13, F_RDLCK, 45, 5), 0);
    CHECK_EQ(lock(b, 0, 13, F_UNLCK, 0, 0), 0);
    CHECK_EQ(lock(a, 0, 13, F_WRLCK, 40, 20), 0);
    CHECK_EQ(k->limits.used[LIMIT_locks], 1);
    CHECK_EQ(lock(a, 0, 13, F_RDLCK, 10, 10), 0);
    CHECK_EQ(k->limits.used[LIMIT_locks], 3);
    CHECK_EQ(lock(b, 0, 13, F_RDLCK, 10, 10), 0);
    CHECK_EQ(lock(b, 0, 13, F_RDLCK, 9, 1), -EAGAIN);
    CHECK_EQ(lock(a, 0, 13, F_UNLCK, 0, 0), 0);
    CHECK_EQ(SYS(b, NR_close, 0), 0);
    CHECK_EQ(k->limits.used[LIMIT_locks], 0);
    kernel_free(k);
}

TEST(lock_any_close_ends_posix_locks)
{
    struct kernel *k = world_new();
    struct task *a = world_task(k), *b = world_task(k);

    CHECK_EQ(open_file(a, "/f"), 0);
    CHECK_EQ(open_file(a, "/f"), 1);
    CHECK_EQ(open_file(b, "/f"), 0);
    CHECK_EQ(lock(a, 0, 6, F_WRLCK, 0, 0), 0);
    CHECK_EQ(lock(b, 0, 7, F_WRLCK, 5, 5), -EWAIT);
    CHECK_EQ(SYS(a, NR_close, 1), 0);
    CHECK(world_is_woken(b));
    CHECK_EQ(lock(b, 0, 7, F_WRLCK, 5, 5), 0);
    kernel_free(k);
}

TEST(lock_deadlock_is_found)
{
    struct kernel *k = world_new();
    struct task *t[3];

    for (int i = 0; i < 3; i++) {
        t[i] = world_task(k);
        CHECK_EQ(open_file(t[i], "/f"), 0);
        CHECK_EQ(lock(t[i], 0, 13, F_WRLCK, i, 1), 0);
    }
    CHECK_EQ(lock(t[0], 0, 14, F_WRLCK, 1, 1), -EWAIT);
    CHECK_EQ(lock(t[1], 0, 14, F_WRLCK, 2, 1), -EWAIT);
    CHECK_EQ(lock(t[2], 0, 14, F_WRLCK, 0, 1), -EDEADLK);
    CHECK_EQ(lock(t[2], 0, 13, F_UNLCK, 2, 1), 0);
    /* t[1] is woken but has not run: it waits for nobody. */
    CHECK_EQ(lock(t[2], 0, 14, F_WRLCK, 1, 1), -EWAIT);
    CHECK_EQ(lock(t[1], 0, 14, F_WRLCK, 2, 1), 0);
    kernel_free(k);
}

/* Threads let a process wait for several locks, so that waits of others can
 * form a cycle: here a and b wait for each other. The search for a deadlock of
 * c ends all the same. */
TEST(lock_deadlock_search_ends_in_a_cycle_of_others)
{
    struct kernel *k = world_new();
    struct task *a = world_task(k), *b = world_task(k), *c = world_task(k);
    struct task *const t[] = {a, b, c};
    struct thread *first = a->thread, *second = world_thread(a);

    for (int i = 0; i < 3; i++) {
        CHECK_EQ(open_file(t[i], "/a"), 0);
        CHECK_EQ(open_file(t[i], "/b"), 1);
        CHECK_EQ(open_file(t[i], "/c"), 2);
        CHECK_EQ(lock(t[i], i, 13, F_WRLCK, 0, 1), 0);
    }
    CHECK_EQ(lock(a, 2, 14, F_WRLCK, 0, 1), -EWAIT); /* for c */
    thread_switch(second);
    CHECK_EQ(lock(a, 1, 14, F_WRLCK, 0, 1), -EWAIT); /* for b */
    CHECK_EQ(lock(b, 0, 14, F_WRLCK, 0, 1), -EWAIT); /* for a */
    CHECK_EQ(lock(c, 2, 13, F_UNLCK, 0, 1), 0);
    thread_switch(first);
    CHECK_EQ(lock(a, 2, 14, F_WRLCK, 0, 1), 0);
    CHECK_EQ(lock(c, 0, 14, F_WRLCK, 0, 1), -EWAIT);
    CHECK_EQ(lock(a, 1, 14, F_WRLCK, 0, 1), -EDEADLK);
    kernel_free(k);
}

TEST(lock_wait_ends_with_the_waiter)
{
    struct kernel *k = world_new();
    struct task *a = world_task(k), *b = world_task(k);

    CHECK_EQ(open_file(a, "/f"), 0);
    CHECK_EQ(open_file(b, "/f"), 0);
    CHECK_EQ(lock(a, 0, 13, F_WRLCK, 0, 1), 0);
    CHECK_EQ(lock(b, 0, 13, F_WRLCK, 1, 1), 0);
    CHECK_EQ(lock(b, 0, 14, F_WRLCK, 0, 1), -EWAIT);
    b->sig.action[10].handler = 100;
    signal_send_kernel(b, 10);
    CHECK_EQ(lock(b, 0, 14, F_WRLCK, 0, 1), -EINTR);
    CHECK_EQ(lock(a, 0, 14, F_WRLCK, 1, 1), -EWAIT); /* no deadlock */
    kernel_free(k);
}

TEST(lock_ofd_belongs_to_the_open_file)
{
    struct kernel *k = world_new();
    struct task *a = world_task(k);

    CHECK_EQ(open_file(a, "/f"), 0);
    CHECK_EQ(open_file(a, "/f"), 1);
    CHECK_EQ(SYS(a, NR_dup, 0), 2);
    CHECK_EQ(lock(a, 0, 37, F_WRLCK, 0, 10), 0);
    CHECK_EQ(lock(a, 1, 37, F_WRLCK, 5, 1), -EAGAIN);
    CHECK_EQ(lock(a, 2, 37, F_WRLCK, 5, 1), 0);
    CHECK_EQ(SYS(a, NR_close, 0), 0);
    CHECK_EQ(lock(a, 1, 37, F_WRLCK, 5, 1), -EAGAIN);
    CHECK_EQ(holder(a, 1, 5), -1);
    CHECK_EQ(SYS(a, NR_close, 2), 0);
    CHECK_EQ(lock(a, 1, 37, F_WRLCK, 5, 1), 0);
    kernel_free(k);
}

TEST(lock_flock_belongs_to_the_open_file)
{
    struct kernel *k = world_new();
    struct task *a = world_task(k), *b = world_task(k), *c = world_task(k);

    CHECK_EQ(open_file(a, "/f"), 0);
    CHECK_EQ(open_file(b, "/f"), 0);
    CHECK_EQ(open_file(c, "/f"), 0);
    CHECK_EQ(SYS(a, NR_flock, 0, LOCK_SH), 0);
    CHECK_EQ(SYS(b, NR_flock, 0, LOCK_SH), 0);
    CHECK_EQ(SYS(b, NR_flock, 0, LOCK_EX | LOCK_NB), -EAGAIN);
    CHECK_EQ(SYS(b, NR_flock, 0, LOCK_EX), -EWAIT);
    CHECK_EQ(SYS(c, NR_flock, 0, LOCK_EX), -EWAIT);
    CHECK(!world_is_woken(b)); /* a new waiter disturbs nobody */
    CHECK_EQ(SYS(a, NR_close, 0), 0);
    CHECK(world_is_woken(b) && world_is_woken(c));
    CHECK_EQ(SYS(b, NR_flock, 0, LOCK_EX), 0);
    CHECK_EQ(SYS(c, NR_flock, 0, LOCK_EX), -EWAIT);
    CHECK_EQ(SYS(b, NR_flock, 0, LOCK_UN), 0);
    CHECK_EQ(SYS(c, NR_flock, 0, LOCK_EX), 0);
    CHECK_EQ(SYS(c, NR_flock, 0, 77), -EINVAL);
    kernel_free(k);
}

TEST(lock_limit_gives_enolck)
{
    struct kernel *k = world_new();
    struct task *a = world_task(k);

    CHECK_EQ(open_file(a, "/f"), 0);
    k->limits.max[LIMIT_locks] = 2;
    CHECK_EQ(lock(a, 0, 13, F_WRLCK, 0, 10), 0);
    CHECK_EQ(lock(a, 0, 13, F_WRLCK, 20, 10), 0);
    CHECK_EQ(lock(a, 0, 13, F_WRLCK, 40, 10), -ENOLCK);
    CHECK_EQ(lock(a, 0, 13, F_UNLCK, 5, 1), -ENOLCK);
    CHECK_EQ(lock(a, 0, 13, F_UNLCK, 5, 5), 0);
    kernel_free(k);
}

TEST(lock_survives_failing_allocations)
{
    struct kernel *k = world_new();
    struct task *a = world_task(k);

    CHECK_EQ(open_file(a, "/f"), 0);
    EACH_OOM(oom) {
        (void)lock(a, 0, 13, F_WRLCK, 0, 10);
        (void)lock(a, 0, 13, F_RDLCK, 4, 1);
        CHECK_EQ(lock(a, 0, 13, F_UNLCK, 0, 0), 0);
        CHECK_EQ(k->limits.used[LIMIT_locks], 0);
    }
    kernel_free(k);
}
