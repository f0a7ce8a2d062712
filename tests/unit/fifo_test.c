/* FIFOs: openers wait for each other, and may be lost while they wait. */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>

enum { PATH = 64, BUF = 4096 };

static void
make_fifo(struct task *t)
{
    strcpy(world_at(t, PATH), "/f");
    CHECK_EQ(SYS(t, NR_mknodat, AT_FDCWD, PATH, S_IFIFO | 0600, 0), 0);
}

static int32_t
open_fifo(struct task *t, uint32_t flags)
{
    strcpy(world_at(t, PATH), "/f");
    return SYS(t, NR_openat, AT_FDCWD, PATH, flags, 0);
}

TEST(fifo_reader_and_writer_meet)
{
    struct kernel *k = world_new();
    struct task *rd = world_task(k), *wr = world_task(k);

    make_fifo(rd);
    CHECK_EQ(open_fifo(rd, O_RDONLY), -EWAIT);
    CHECK_EQ(open_fifo(wr, O_WRONLY), 0);
    CHECK(world_is_woken(rd));
    CHECK_EQ(open_fifo(rd, O_RDONLY), 0);
    CHECK_EQ(SYS(wr, NR_write, 0, BUF, 3), 3);
    CHECK_EQ(SYS(rd, NR_read, 0, BUF, 10), 3);
    kernel_free(k);
}

TEST(fifo_writer_that_left_is_still_met)
{
    struct kernel *k = world_new();
    struct task *rd = world_task(k), *wr = world_task(k);

    make_fifo(rd);
    CHECK_EQ(open_fifo(rd, O_RDONLY), -EWAIT);
    CHECK_EQ(open_fifo(wr, O_WRONLY), 0);
    CHECK_EQ(SYS(wr, NR_write, 0, BUF, 3), 3);
    CHECK_EQ(SYS(wr, NR_close, 0), 0);
    CHECK_EQ(open_fifo(rd, O_RDONLY), 0);
    CHECK_EQ(SYS(rd, NR_read, 0, BUF, 10), 3);
    CHECK_EQ(SYS(rd, NR_read, 0, BUF, 10), 0);
    CHECK_EQ(SYS(rd, NR_close, 0), 0);
    CHECK(list_is_empty(&k->fifos));
    kernel_free(k);
}

/* A guest need not make the same call again. */
TEST(fifo_opener_that_comes_back_for_more_is_counted_anew)
{
    struct kernel *k = world_new();
    struct task *rd = world_task(k), *wr = world_task(k);

    make_fifo(rd);
    CHECK_EQ(open_fifo(rd, O_RDONLY), -EWAIT);
    CHECK_EQ(open_fifo(wr, O_WRONLY), 0);
    CHECK_EQ(open_fifo(rd, O_RDWR), 0);
    CHECK_EQ(SYS(rd, NR_close, 0), 0);
    CHECK_EQ(SYS(wr, NR_close, 0), 0);
    CHECK(list_is_empty(&k->fifos));
    kernel_free(k);
}

TEST(fifo_nonblocking_opens_do_not_wait)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    make_fifo(t);
    CHECK_EQ(open_fifo(t, O_WRONLY | O_NONBLOCK), -ENXIO);
    CHECK(list_is_empty(&k->fifos));
    CHECK_EQ(open_fifo(t, O_RDONLY | O_NONBLOCK), 0);
    CHECK_EQ(file_poll(fd_find(t, 0), NULL), 0);
    CHECK_EQ(open_fifo(t, O_WRONLY | O_NONBLOCK), 1);
    CHECK_EQ(SYS(t, NR_close, 1), 0);
    CHECK_EQ(file_poll(fd_find(t, 0), NULL), POLLHUP);
    CHECK_EQ(SYS(t, NR_close, 0), 0);
    CHECK_EQ(open_fifo(t, O_RDWR), 0);
    kernel_free(k);
}

TEST(fifo_killed_opener_is_not_counted)
{
    struct kernel *k = world_new();
    struct task *rd = world_task(k), *wr = world_task(k);

    make_fifo(rd);
    CHECK_EQ(open_fifo(rd, O_RDONLY), -EWAIT);
    CHECK_EQ(open_fifo(wr, O_WRONLY | O_NONBLOCK), 0);
    CHECK_EQ(SYS(wr, NR_close, 0), 0);
    thread_free(STEAL(rd->thread));
    CHECK(list_is_empty(&k->fifos));
    CHECK_EQ(open_fifo(wr, O_WRONLY | O_NONBLOCK), -ENXIO);
    task_exit(rd, 0);
    task_reap(rd);
    kernel_free(k);
}

/* Its thread lives on, and need not make another call soon. */
TEST(fifo_killed_opener_that_borrows_its_thread_is_not_counted)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k), *other = world_task(k);

    make_fifo(t);
    struct task *c = task_find(k, SYS(t, NR_vfork));
    CHECK_EQ(open_fifo(c, O_RDONLY), -EWAIT);
    CHECK_EQ(SYS(other, NR_kill, (uint32_t)c->pid, SIGKILL), 0);
    CHECK_EQ(open_fifo(other, O_WRONLY | O_NONBLOCK), -ENXIO);
    kernel_free(k);
}

TEST(fifo_interrupted_opener_is_not_counted)
{
    struct kernel *k = world_new();
    struct task *rd = world_task(k), *wr = world_task(k);

    make_fifo(rd);
    rd->sig.action[SIGUSR1].handler = 100;
    CHECK_EQ(open_fifo(rd, O_RDONLY), -EWAIT);
    signal_send_kernel(rd, SIGUSR1);
    CHECK(world_is_woken(rd));
    CHECK_EQ(open_fifo(rd, O_RDONLY), -EINTR);
    CHECK(list_is_empty(&k->fifos));
    CHECK_EQ(open_fifo(wr, O_WRONLY | O_NONBLOCK), -ENXIO);
    kernel_free(k);
}

TEST(fifo_open_survives_failing_allocations)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    make_fifo(t);
    EACH_OOM(oom) {
        int32_t fd = open_fifo(t, O_RDWR);
        if (fd >= 0)
            CHECK_EQ(SYS(t, NR_close, fd), 0);
        CHECK(list_is_empty(&k->fifos));
    }
    EACH_OOM(oom) {
        if (open_fifo(t, O_RDONLY) != -EWAIT)
            CHECK(list_is_empty(&k->fifos));
    }
    kernel_free(k);
}
