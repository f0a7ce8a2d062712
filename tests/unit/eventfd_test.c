/* Event counters and signal files. */
#include "world.h"

#include "kernel/eventfd.h"
#include "kernel/signalfd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>

enum { BUF = 4096 };

static void
put64(struct task *t, uint64_t v)
{
    memcpy(world_at(t, BUF), &v, sizeof v);
}

static uint64_t
get64(struct task *t)
{
    uint64_t v;

    memcpy(&v, world_at(t, BUF), sizeof v);
    return v;
}

TEST(eventfd_adds_up_and_is_taken_at_once)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    CHECK_EQ(SYS(t, NR_eventfd2, 3, 0), 0);
    put64(t, 4);
    CHECK_EQ(SYS(t, NR_write, 0, BUF, 8), 8);
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 7), -EINVAL);
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 8), 8);
    CHECK_EQ(get64(t), 7);
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 8), -EWAIT);
    kernel_free(k);
}

TEST(eventfd_semaphore_gives_one_each)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    CHECK_EQ(SYS(t, NR_eventfd2, 2, EFD_SEMAPHORE | EFD_NONBLOCK), 0);
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 8), 8);
    CHECK_EQ(get64(t), 1);
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 8), 8);
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 8), -EAGAIN);
    kernel_free(k);
}

TEST(eventfd_never_overflows)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    CHECK_EQ(SYS(t, NR_eventfd2, 1, EFD_NONBLOCK), 0);
    put64(t, UINT64_MAX);
    CHECK_EQ(SYS(t, NR_write, 0, BUF, 8), -EINVAL);
    put64(t, UINT64_MAX - 2);
    CHECK_EQ(SYS(t, NR_write, 0, BUF, 8), 8);
    CHECK_EQ(file_poll(fd_find(t, 0), NULL), POLLIN | POLLRDNORM);
    put64(t, 1);
    CHECK_EQ(SYS(t, NR_write, 0, BUF, 8), -EAGAIN);
    kernel_free(k);
}

TEST(signalfd_takes_blocked_signals)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    uint32_t signo;

    signals_set_mask(t, SIG_BIT(SIGUSR1));
    put64(t, SIG_BIT(SIGUSR1));
    CHECK_EQ(SYS(t, NR_signalfd4, -1, BUF, 8, 0), 0);
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 128), -EWAIT);
    signal_send_kernel(t, SIGUSR1);
    CHECK(world_is_woken(t));
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 300), 128);
    memcpy(&signo, world_at(t, BUF), sizeof signo);
    CHECK_EQ(signo, SIGUSR1);
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 100), -EINVAL);
    kernel_free(k);
}

TEST(signalfd_outlives_the_tasks_it_watches)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k), *u = world_task(k);

    put64(t, SIG_BIT(SIGUSR1));
    CHECK_EQ(SYS(t, NR_signalfd4, -1, BUF, 8, 0), 0);
    CHECK_EQ(fd_install(u, file_get(fd_find(t, 0)), 0, false), 0);
    CHECK_EQ(SYS(u, NR_read, 0, BUF, 128), -EWAIT);
    thread_free(STEAL(u->thread));
    task_exit(u, 0);
    task_reap(u);
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 128), -EWAIT);
    kernel_free(k);
}

TEST(event_files_survive_failing_allocations)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    struct file *f;

    EACH_OOM(oom) {
        if (eventfd_new(k, 0, false, 0, &f) == 0)
            file_put(f);
    }
    EACH_OOM(oom) {
        if (signalfd_new(t, 0, 0, &f) == 0)
            file_put(f);
    }
    CHECK_EQ(k->limits.used[LIMIT_open_files], 0);
    kernel_free(k);
}
