/* Pipes: counts, ends, sizes, wake-ups. */
#include "world.h"

#include "kernel/pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>

enum { BUF = 4096, FDS = 64, CAP = 65536 };

static void
make_pipe(struct task *t, uint32_t flags, int32_t fds[2])
{
    CHECK_EQ(SYS(t, NR_pipe2, FDS, flags), 0);
    memcpy(fds, world_at(t, FDS), 2 * sizeof *fds);
}

static short
poll_fd(struct task *t, int fd)
{
    return file_poll(fd_find(t, fd), NULL);
}

TEST(pipe_moves_bytes_in_order)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    int32_t p[2];

    make_pipe(t, 0, p);
    memcpy(world_at(t, BUF), "hello", 5);
    for (int i = 0; i < 30000; i++) {
        CHECK_EQ(SYS(t, NR_write, p[1], BUF, 5), 5);
        if (i == 0)
            CHECK_EQ(world_memory(k), CAP);
        memset(world_at(t, 2 * BUF), 0, 5);
        CHECK_EQ(SYS(t, NR_read, p[0], 2 * BUF, BUF), 5);
        CHECK(memcmp(world_at(t, 2 * BUF), "hello", 5) == 0);
    }
    kernel_free(k);
}

TEST(pipe_read_waits_for_a_writer_and_ends_with_it)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    int32_t p[2];

    make_pipe(t, 0, p);
    CHECK_EQ(SYS(t, NR_read, p[0], BUF, 10), -EWAIT);
    CHECK(!world_is_woken(t));
    struct task *w = t;
    struct file *f = fd_find(w, p[1]);
    CHECK_EQ(f->ops->write(f, w, "abc", 3, NULL), 3);
    CHECK(world_is_woken(t));
    CHECK_EQ(SYS(t, NR_read, p[0], BUF, 10), 3);
    CHECK_EQ(SYS(t, NR_read, p[0], BUF, 10), -EWAIT);
    CHECK_EQ(fd_close(t, p[1]), 0);
    CHECK(world_is_woken(t));
    CHECK_EQ(SYS(t, NR_read, p[0], BUF, 10), 0);
    CHECK_EQ(poll_fd(t, p[0]), POLLHUP);
    kernel_free(k);
}

TEST(pipe_write_without_reader_is_epipe)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    int32_t p[2];

    make_pipe(t, 0, p);
    t->sig.action[13].handler = GUEST_SIG_IGN;
    CHECK_EQ(SYS(t, NR_close, p[0]), 0);
    CHECK(poll_fd(t, p[1]) & POLLERR);
    CHECK_EQ(SYS(t, NR_write, p[1], BUF, 1), -EPIPE);
    kernel_free(k);
}

TEST(pipe_small_writes_are_atomic_and_large_ones_partial)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    int32_t p[2];

    make_pipe(t, O_NONBLOCK, p);
    CHECK_EQ(SYS(t, NR_write, p[1], BUF, CAP - 100), CAP - 100);
    CHECK(!(poll_fd(t, p[1]) & POLLOUT));
    CHECK_EQ(SYS(t, NR_write, p[1], BUF, 101), -EAGAIN);
    CHECK_EQ(SYS(t, NR_write, p[1], BUF, 5000), 100);
    CHECK_EQ(SYS(t, NR_write, p[1], BUF, 5000), -EAGAIN);
    CHECK_EQ(SYS(t, NR_read, p[0], BUF, 4095), 4095);
    CHECK(!(poll_fd(t, p[1]) & POLLOUT));
    CHECK_EQ(SYS(t, NR_read, p[0], BUF, 1), 1);
    CHECK(poll_fd(t, p[1]) & POLLOUT);
    kernel_free(k);
}

TEST(pipe_blocking_write_continues_where_it_was)
{
    struct kernel *k = world_new();
    struct task *w = world_task(k);
    int32_t p[2];

    make_pipe(w, 0, p);
    struct file *rd = fd_find(w, p[0]);
    static uint8_t got[3 * CAP];
    uint8_t *src = world_at(w, BUF);
    for (size_t i = 0; i < sizeof got; i++)
        src[i] = (uint8_t)(i * 7 + i / 251);
    size_t n = 0;
    int32_t r;
    while ((r = SYS(w, NR_write, p[1], BUF, sizeof got)) == -EWAIT) {
        int64_t part = rd->ops->read(rd, w, got + n, sizeof got - n, NULL);
        CHECK(part > 0);
        n += (size_t)part;
        CHECK(world_is_woken(w));
    }
    CHECK_EQ(r, sizeof got);
    while (n < sizeof got)
        n += (size_t)rd->ops->read(rd, w, got + n, sizeof got - n, NULL);
    CHECK(memcmp(got, src, sizeof got) == 0);
    kernel_free(k);
}

TEST(pipe_size_changes_and_keeps_what_it_holds)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    int32_t p[2];

    make_pipe(t, O_NONBLOCK, p);
    CHECK_EQ(SYS(t, NR_fcntl64, p[0], F_GETPIPE_SZ), CAP);
    CHECK_EQ(SYS(t, NR_write, p[1], BUF, 60000), 60000);
    CHECK_EQ(SYS(t, NR_read, p[0], BUF, 50000), 50000);
    memcpy(world_at(t, BUF), "wrapped around", 14);
    CHECK_EQ(SYS(t, NR_write, p[1], BUF, 14000), 14000);
    CHECK_EQ(SYS(t, NR_fcntl64, p[0], F_SETPIPE_SZ, 4096), -EBUSY);
    CHECK_EQ(SYS(t, NR_fcntl64, p[0], F_SETPIPE_SZ, 30000), 32768);
    CHECK_EQ(world_memory(k), 32768);
    CHECK_EQ(SYS(t, NR_fcntl64, p[0], F_SETPIPE_SZ, 2 << 20), -EPERM);
    CHECK_EQ(SYS(t, NR_read, p[0], 2 * BUF, 10000), 10000);
    CHECK_EQ(SYS(t, NR_read, p[0], 2 * BUF, 14000), 14000);
    CHECK(memcmp(world_at(t, 2 * BUF), "wrapped around", 14) == 0);
    CHECK_EQ(pipe_get_size(fd_find(t, p[0])), 32768);
    kernel_free(k);
}

TEST(pipe_at_the_memory_limit_gives_enomem)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    int32_t p[2];

    make_pipe(t, 0, p);
    k->limits.max[LIMIT_memory] = 1000;
    CHECK_EQ(SYS(t, NR_write, p[1], BUF, 1), -ENOMEM);
    CHECK(k->limits.was_hit[LIMIT_memory]);
    kernel_free(k);
}

TEST(pipe_new_survives_failing_allocations)
{
    struct kernel *k = world_new();
    struct file *rd, *wr;

    EACH_OOM(oom) {
        if (pipe_new(k, 0, &rd, &wr) < 0)
            continue;
        file_put(rd);
        file_put(wr);
    }
    CHECK_EQ(k->limits.used[LIMIT_open_files], 0);
    kernel_free(k);
}

TEST(pipe_with_packets_keeps_them_apart)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    const uint32_t iov[4] = {BUF, 2, 3 * BUF, 50};
    int32_t p[2];

    make_pipe(t, O_DIRECT | O_NONBLOCK, p);
    memcpy(world_at(t, BUF), "abcdef", 6);
    CHECK_EQ(SYS(t, NR_write, p[1], BUF, 6), 6);
    CHECK_EQ(SYS(t, NR_write, p[1], BUF, 4), 4);
    CHECK_EQ(SYS(t, NR_write, p[1], BUF, 0), 0);
    CHECK_EQ(SYS(t, NR_write, p[1], BUF + 3, 3), 3);
    CHECK_EQ(SYS(t, NR_read, p[0], 2 * BUF, 3), 3); /* the rest is lost */
    memcpy(world_at(t, FDS), iov, sizeof iov);
    CHECK_EQ(SYS(t, NR_readv, p[0], FDS, 2), 4);
    CHECK(memcmp(world_at(t, 3 * BUF), "cd", 2) == 0);
    CHECK_EQ(SYS(t, NR_read, p[0], 2 * BUF, 100), 3);
    CHECK(memcmp(world_at(t, 2 * BUF), "def", 3) == 0);
    CHECK_EQ(SYS(t, NR_read, p[0], 2 * BUF, 100), -EAGAIN);
    kernel_free(k);
}

TEST(pipe_with_packets_cuts_long_writes_and_fills_up)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    int32_t p[2];

    make_pipe(t, O_DIRECT | O_NONBLOCK, p);
    CHECK_EQ(SYS(t, NR_write, p[1], BUF, 5000), 5000);
    CHECK_EQ(SYS(t, NR_read, p[0], BUF, 9999), 4096);
    CHECK_EQ(SYS(t, NR_read, p[0], BUF, 9999), 5000 - 4096);
    CHECK_EQ(SYS(t, NR_write, p[1], BUF, 2 * CAP), CAP);
    CHECK_EQ(SYS(t, NR_write, p[1], BUF, 1), -EAGAIN);
    CHECK(!(poll_fd(t, p[1]) & POLLOUT));
    for (int i = 0; i < 16; i++)
        CHECK_EQ(SYS(t, NR_read, p[0], BUF, 9999), 4096);
    for (int i = 0; i < 16; i++)
        CHECK_EQ(SYS(t, NR_write, p[1], BUF, 1), 1);
    CHECK_EQ(SYS(t, NR_write, p[1], BUF, 1), -EAGAIN);
    CHECK(!(poll_fd(t, p[1]) & POLLOUT));
    kernel_free(k);
}
