/* Reading and writing: partial transfers, gathering, progress, limits. */
#include "kernel/io.h"

#include "kernel/vfs/tmpfs.h"
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { IOV = 256, BUF = 0x10000 };

/* A file that transfers at most `step` bytes at once and has room for `room`
 * more; it notes what it was asked for. */
struct slow {
    size_t step, room;
    int calls;
    size_t last_len;
    char got[256];
    size_t n_got;
};

static int64_t
slow_write(struct file *f, struct task *t, const void *buf, size_t len,
           uint64_t *pos)
{
    struct slow *s = f->obj;
    size_t n = len < s->step ? len : s->step;

    (void)t;
    s->calls++;
    s->last_len = len;
    n = n < s->room ? n : s->room;
    if (!n)
        return -EAGAIN;
    size_t kept = sizeof s->got - s->n_got < n ? sizeof s->got - s->n_got : n;
    memcpy(s->got + s->n_got, buf, kept);
    s->n_got += kept;
    s->room -= n;
    if (pos)
        *pos += n;
    return (int64_t)n;
}

static int64_t
slow_read(struct file *f, struct task *t, void *buf, size_t len, uint64_t *pos)
{
    struct slow *s = f->obj;
    size_t n = len < s->step ? len : s->step;

    (void)t;
    s->calls++;
    n = n < s->room ? n : s->room;
    if (!n)
        return -EAGAIN;
    memset(buf, 'r', n);
    s->room -= n;
    if (pos)
        *pos += n;
    return (int64_t)n;
}

static short
slow_poll(struct file *f, struct poll_table *pt)
{
    struct slow *s = f->obj;

    (void)pt;
    return s->room ? POLLIN | POLLOUT : 0;
}

static const struct file_ops slow_ops = {
    .read = slow_read, .write = slow_write, .poll = slow_poll};

static int
install(struct task *t, struct slow *s, uint32_t flags, bool has_pos)
{
    struct file *f;

    CHECK_EQ(file_new(&t->kernel->vfs, &slow_ops, s, flags, &f), 0);
    f->has_pos = has_pos;
    return fd_install(t, f, 0, false);
}

static void
put_iov(struct task *t, uint32_t i, gaddr at, uint32_t len)
{
    const uint32_t v[2] = {at, len};

    memcpy(world_at(t, IOV + 8 * i), v, sizeof v);
}

TEST(io_write_goes_on_until_all_is_written)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    struct slow s = {.step = 10, .room = 30};

    CHECK_EQ(install(t, &s, O_WRONLY, false), 0);
    CHECK_EQ(SYS(t, NR_write, 0, BUF, 25), -EWAIT);
    CHECK_EQ(t->thread->call.progress, 10);
    CHECK_EQ(SYS(t, NR_write, 0, BUF, 25), -EWAIT);
    CHECK_EQ(SYS(t, NR_write, 0, BUF, 25), 25);
    CHECK_EQ(t->thread->call.progress, 0);
    CHECK_EQ(s.room, 5);
    kernel_free(k);
}

TEST(io_nonblocking_write_gives_what_went)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    struct slow s = {.step = 10, .room = 10};

    CHECK_EQ(install(t, &s, O_WRONLY | O_NONBLOCK, false), 0);
    CHECK_EQ(SYS(t, NR_write, 0, BUF, 25), 10);
    CHECK_EQ(SYS(t, NR_write, 0, BUF, 25), -EAGAIN);
    kernel_free(k);
}

TEST(io_interrupted_write_gives_its_progress)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    struct slow s = {.step = 10, .room = 10};
    struct siginfo_k si = {.signo = SIGUSR1};

    t->sig.action[SIGUSR1].handler = 100;
    CHECK_EQ(install(t, &s, O_WRONLY, false), 0);
    CHECK_EQ(SYS(t, NR_write, 0, BUF, 25), -EWAIT);
    CHECK_EQ(SYS(t, NR_write, 0, BUF, 25), -EWAIT);
    CHECK_EQ(signal_send(t, &si), 0);
    CHECK_EQ(SYS(t, NR_write, 0, BUF, 25), 10);
    kernel_free(k);
}

TEST(io_small_pieces_go_out_as_one)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    struct slow s = {.step = 100, .room = 100};

    CHECK_EQ(install(t, &s, O_WRONLY, false), 0);
    world_str(t, BUF, "abc");
    world_str(t, BUF + 100, "defgh");
    put_iov(t, 0, BUF, 3);
    put_iov(t, 1, BUF, 0);
    put_iov(t, 2, BUF + 100, 5);
    CHECK_EQ(SYS(t, NR_writev, 0, IOV, 3), 8);
    CHECK_EQ(s.calls, 1);
    CHECK(!memcmp(s.got, "abcdefgh", 8));
    kernel_free(k);
}

TEST(io_gathered_write_goes_on_where_it_was)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    struct slow s = {.step = 4, .room = 100};

    CHECK_EQ(install(t, &s, O_WRONLY, false), 0);
    world_str(t, BUF, "abc");
    world_str(t, BUF + 100, "defgh");
    put_iov(t, 0, BUF, 3);
    put_iov(t, 1, BUF + 100, 5);
    CHECK_EQ(SYS(t, NR_writev, 0, IOV, 2), -EWAIT);
    CHECK_EQ(SYS(t, NR_writev, 0, IOV, 2), 8);
    CHECK(!memcmp(s.got, "abcdefgh", 8));
    kernel_free(k);
}

TEST(io_write_without_memory_to_gather_goes_piece_by_piece)
{
    EACH_OOM(oom) {
        test_fail_alloc(0);
        struct kernel *k = world_new();
        struct task *t = world_task(k);
        struct slow s = {.step = 100, .room = 100};
        CHECK_EQ(install(t, &s, O_WRONLY, false), 0);
        put_iov(t, 0, BUF, 3);
        put_iov(t, 1, BUF, 5);
        test_fail_alloc(oom);
        CHECK_EQ(SYS(t, NR_writev, 0, IOV, 2), 8);
        CHECK_EQ(s.calls, oom == 1 ? 2 : 1);
        bool failed = test_alloc_failed();
        kernel_free(k);
        if (!failed)
            break;
    }
}

TEST(io_long_transfers_look_up_after_each_step)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    struct slow s = {.step = SIZE_MAX, .room = SIZE_MAX};

    CHECK_EQ(install(t, &s, O_RDWR, true), 0);
    for (uint32_t i = 0; i < 3; i++)
        put_iov(t, i, BUF, 900000);
    CHECK_EQ(SYS(t, NR_writev, 0, IOV, 3), -EWAIT);
    CHECK(t->thread->is_ready);
    CHECK_EQ(t->thread->call.progress, 1 << 20);
    CHECK_EQ(SYS(t, NR_writev, 0, IOV, 3), -EWAIT);
    CHECK_EQ(SYS(t, NR_writev, 0, IOV, 3), 2700000);
    CHECK_EQ(fd_find(t, 0)->pos, 2700000);
    CHECK_EQ(SYS(t, NR_readv, 0, IOV, 3), -EWAIT);
    CHECK_EQ(SYS(t, NR_readv, 0, IOV, 3), -EWAIT);
    CHECK_EQ(SYS(t, NR_readv, 0, IOV, 3), 2700000);
    kernel_free(k);
}

TEST(io_read_gives_what_is_there)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    struct slow s = {.step = 10, .room = 15};

    CHECK_EQ(install(t, &s, O_RDONLY, false), 0);
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 100), 10);
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 100), 5);
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 100), -EWAIT);
    s.room = 3;
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 100), 3);
    kernel_free(k);
}

TEST(io_access_and_arguments_are_checked_in_order)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    struct slow s = {.step = 10, .room = 100};
    const gaddr end = FAKE_MEMORY_BYTES;

    int rd = install(t, &s, O_RDONLY, false);
    int wr = install(t, &s, O_WRONLY, false);
    CHECK_EQ(SYS(t, NR_read, 99, BUF, 1), -EBADF);
    CHECK_EQ(SYS(t, NR_write, (uint32_t)rd, BUF, 1), -EBADF);
    CHECK_EQ(SYS(t, NR_read, (uint32_t)wr, BUF, 1), -EBADF);
    CHECK_EQ(SYS(t, NR_write, (uint32_t)wr, end, 1), -EFAULT);
    CHECK_EQ(SYS(t, NR_write, (uint32_t)wr, end - 1, 2), -EFAULT);
    CHECK_EQ(SYS(t, NR_write, (uint32_t)wr, UINT32_MAX, 1), -EFAULT);
    CHECK_EQ(SYS(t, NR_write, (uint32_t)wr, end, 0), 0);
    CHECK_EQ(SYS(t, NR_write, (uint32_t)wr, end - 1, 1), 1);
    CHECK_EQ(SYS(t, NR_write, (uint32_t)wr, 0, UINT32_MAX), -EFAULT);
    put_iov(t, 0, BUF, UINT32_MAX);
    CHECK_EQ(SYS(t, NR_writev, (uint32_t)wr, IOV, 1), -EINVAL);
    put_iov(t, 0, BUF, 1);
    CHECK_EQ(SYS(t, NR_writev, (uint32_t)wr, IOV, IOV_MAX + 1), -EINVAL);
    CHECK_EQ(SYS(t, NR_writev, (uint32_t)wr, IOV, (uint32_t)-1), -EINVAL);
    CHECK_EQ(SYS(t, NR_writev, (uint32_t)wr, end - 4, 1), -EFAULT);
    CHECK_EQ(s.calls, 1);
    kernel_free(k);
}

TEST(io_file_size_limit_cuts_and_then_signals)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    t->sig.action[SIGXFSZ].handler = 100;
    t->rlimits[RLIMIT_FSIZE].cur = 10;
    world_str(t, IOV, "/f");
    CHECK_EQ(SYS(t, NR_openat, (uint32_t)AT_FDCWD, IOV, O_RDWR | O_CREAT, 0600),
             0);
    CHECK_EQ(SYS(t, NR_write, 0, BUF, 8), 8);
    CHECK_EQ(SYS(t, NR_write, 0, BUF, 8), 2);
    CHECK_EQ(t->sig.pending.set, 0);
    CHECK_EQ(SYS(t, NR_write, 0, BUF, 8), -EFBIG);
    CHECK(t->sig.pending.set & SIG_BIT(SIGXFSZ));
    CHECK_EQ(SYS(t, NR_pwrite64, 0, BUF, 8, 4, 0), 6);
    kernel_free(k);
}

TEST(io_append_writes_at_the_end_whatever_the_position)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    char text[8];

    world_str(t, IOV, "/f");
    world_str(t, BUF, "abcd");
    CHECK_EQ(SYS(t, NR_openat, (uint32_t)AT_FDCWD, IOV,
                 O_RDWR | O_CREAT | O_APPEND, 0600),
             0);
    CHECK_EQ(SYS(t, NR_write, 0, BUF, 2), 2);
    fd_find(t, 0)->pos = 0;
    CHECK_EQ(SYS(t, NR_write, 0, BUF + 2, 2), 2);
    CHECK_EQ(fd_find(t, 0)->pos, 4);
    CHECK_EQ(SYS(t, NR_pread64, 0, BUF + 100, 8, 0, 0), 4);
    memcpy(text, world_at(t, BUF + 100), 4);
    CHECK(!memcmp(text, "abcd", 4));
    CHECK_EQ(fd_find(t, 0)->pos, 4);
    kernel_free(k);
}

TEST(io_broken_pipe_signals)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    t->sig.action[SIGPIPE].handler = 100;
    CHECK_EQ(SYS(t, NR_pipe2, IOV, 0), 0);
    CHECK_EQ(fd_close(t, 0), 0);
    CHECK_EQ(SYS(t, NR_write, 1, BUF, 1), -EPIPE);
    CHECK(t->sig.pending.set & SIG_BIT(SIGPIPE));
    kernel_free(k);
}

static uint64_t
size_of(struct task *t, int fd)
{
    struct attr a = {0};

    CHECK_EQ(file_getattr(fd_find(t, fd), &a), 0);
    return a.size;
}

/* Of files that are no regular ones of the file system in memory, too. */
TEST(seek_does_not_go_past_the_largest_position)
{
    enum { PATH = 64, AT = 128 };
    const char *const paths[] = {"/", "/proc", "/proc/uptime"};
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    CHECK_EQ(world_mount_system(k), 0);
    for (uint32_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        world_str(t, PATH, paths[i]);
        CHECK_EQ(SYS(t, NR_openat, AT_FDCWD, PATH, O_RDONLY), i);
        CHECK_EQ(SYS(t, NR__llseek, i, INT32_MAX, UINT32_MAX, AT, SEEK_SET), 0);
        CHECK_EQ(SYS(t, NR__llseek, i, INT32_MAX, UINT32_MAX, AT, SEEK_CUR),
                 -EINVAL);
        CHECK_EQ(
            SYS(t, NR__llseek, i, UINT32_MAX, (uint32_t)-ENXIO, AT, SEEK_SET),
            -EINVAL);
    }
    kernel_free(k);
}

TEST(fallocate_goes_on_in_steps)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    const uint32_t mib = 1 << 20;

    world_str(t, BUF, "/f");
    int fd = SYS(t, NR_openat, (uint32_t)AT_FDCWD, BUF, O_RDWR | O_CREAT, 0600);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(SYS(t, NR_fallocate, fd, 0, 0, 0, 4 * mib, 0), -EWAIT);
        CHECK_EQ(size_of(t, fd), 0);
        CHECK(world_is_woken(t));
    }
    CHECK_EQ(SYS(t, NR_fallocate, fd, 0, 0, 0, 4 * mib, 0), 0);
    CHECK_EQ(size_of(t, fd), 4 * mib);
    kernel_free(k);
}

/* It says so, and does not count the part that was done as its answer. */
TEST(fallocate_is_interrupted_between_steps)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    world_str(t, BUF, "/f");
    int fd = SYS(t, NR_openat, (uint32_t)AT_FDCWD, BUF, O_RDWR | O_CREAT, 0600);
    t->sig.action[SIGUSR1].handler = 1000;
    CHECK_EQ(SYS(t, NR_fallocate, fd, 0, 0, 0, 4 << 20, 0), -EWAIT);
    signal_send_kernel(t, SIGUSR1);
    CHECK_EQ(SYS(t, NR_fallocate, fd, 0, 0, 0, 4 << 20, 0), -EINTR);
    CHECK_EQ(size_of(t, fd), 0);
    kernel_free(k);
}

TEST(a_search_for_a_hole_goes_on_in_steps)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    struct tree *tree = tmpfs_tree(mount_root(&k->vfs)->fs);
    const int64_t end = 2 * (int64_t)SEEK_STEP_BYTES + 10000;
    int64_t pos;

    tree->max.bytes = UINT64_MAX;
    world_str(t, BUF, "/f");
    int fd = SYS(t, NR_openat, (uint32_t)AT_FDCWD, BUF, O_RDWR | O_CREAT, 0600);
    struct file *f = fd_find(t, fd);
    for (uint64_t at = 0; at < (uint64_t)end; at += 4095)
        CHECK_EQ(f->ops->write(f, t, "x", 1, &at), 1);
    for (int i = 0; i < 2; i++)
        CHECK_EQ(SYS(t, NR__llseek, fd, 0, 0, BUF, SEEK_HOLE), -EWAIT);
    CHECK_EQ(SYS(t, NR__llseek, fd, 0, 0, BUF, SEEK_HOLE), 0);
    memcpy(&pos, world_at(t, BUF), sizeof pos);
    CHECK_EQ(pos, end / 4096 * 4096 + 1);
    kernel_free(k);
}
