/* Open files over host descriptors. */
#include "host/hostfile.h"

#include "test.h"
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

static struct file *
wrap(struct kernel *k, int hfd, uint32_t flags)
{
    struct file *f = NULL;

    CHECK_EQ(hostfile_new(k, hfd, flags, &f), 0);
    return f;
}

static int
temporary_file(void)
{
    char path[] = "/tmp/hostfile_test.XXXXXX";
    int hfd = mkstemp(path);

    (void)unlink(path);
    return hfd;
}

TEST(hostfile_pipe_never_blocks_and_keeps_flags_of_others)
{
    struct kernel *k = world_new();
    int p[2];

    CHECK_EQ(pipe(p), 0);
    struct file *rd = wrap(k, p[0], O_RDONLY), *wr = wrap(k, p[1], O_WRONLY);
    char buf[16];
    CHECK_EQ(world_read(rd, NULL, buf, sizeof buf), -EAGAIN);
    CHECK_EQ(fcntl(p[0], F_GETFL) & O_NONBLOCK, 0);
    CHECK_EQ(world_write(wr, NULL, "hello"), 5);
    CHECK(world_reads(rd, NULL, "hello"));
    while (world_write(wr, NULL, "0123456789abcdef0123456789abcdef") > 0)
        ;
    CHECK_EQ(world_write(wr, NULL, "x"), -EAGAIN);
    CHECK_EQ(fcntl(p[1], F_GETFL) & O_NONBLOCK, 0);
    file_put(rd);
    file_put(wr);
    (void)close(p[0]);
    (void)close(p[1]);
    kernel_free(k);
}

TEST(hostfile_broken_pipe_is_an_error_and_no_signal_here)
{
    struct kernel *k = world_new();
    struct task *t = world_child(k, NULL);
    int p[2], s[2];

    CHECK_EQ(pipe(p), 0);
    struct file *wr = wrap(k, p[1], O_WRONLY);
    (void)close(p[0]);
    CHECK_EQ(world_write(wr, t, "x"), -EPIPE);
    file_put(wr);
    (void)close(p[1]);

    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);
    wr = wrap(k, s[1], O_RDWR);
    (void)close(s[0]);
    CHECK_EQ(world_write(wr, t, "x"), -EPIPE);
    file_put(wr);
    (void)close(s[1]);
    kernel_free(k);
}

TEST(hostfile_socket_never_blocks)
{
    struct kernel *k = world_new();
    int s[2];
    char c;

    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);
    struct file *f = wrap(k, s[0], O_RDWR);
    CHECK_EQ(world_read(f, NULL, &c, 1), -EAGAIN);
    CHECK_EQ(write(s[1], "y", 1), 1);
    CHECK(world_reads(f, NULL, "y"));
    (void)close(s[1]);
    CHECK_EQ(world_read(f, NULL, &c, 1), 0);
    file_put(f);
    (void)close(s[0]);
    kernel_free(k);
}

TEST(hostfile_regular_file_shares_its_offset)
{
    struct kernel *k = world_new();
    int hfd = temporary_file();
    struct file *f = wrap(k, hfd, O_RDWR);
    struct attr a;
    uint64_t pos = 0;
    char buf[8];

    CHECK_EQ(write(hfd, "before ", 7), 7);
    CHECK_EQ(world_write(f, NULL, "inside "), 7);
    CHECK_EQ(write(hfd, "after", 5), 5);
    CHECK_EQ(f->ops->read(f, NULL, buf, 6, &pos), 6); /* pread */
    CHECK(!memcmp(buf, "before", 6));
    CHECK_EQ(f->ops->seek(f, 0, SEEK_CUR), 19);
    CHECK_EQ(file_getattr(f, &a), 0);
    CHECK(S_ISREG(a.mode));
    CHECK_EQ(a.size, 19);
    CHECK_EQ(a.uid, 1000);
    CHECK_EQ(f->ops->truncate(f, 3), 0);
    CHECK_EQ(file_getattr(f, &a), 0);
    CHECK_EQ(a.size, 3);
    file_put(f);
    (void)close(hfd);
    kernel_free(k);
}

TEST(hostfile_terminal_answers_questions_only)
{
    struct kernel *k = world_new();
    struct task *t = world_child(k, NULL);
    struct winsize ws = {.ws_row = 12, .ws_col = 34};
    int m, s, p[2];

    CHECK_EQ(openpty(&m, &s, NULL, NULL, &ws), 0);
    struct file *f = wrap(k, s, O_RDWR);
    CHECK_EQ(f->ops->ioctl(f, t, TIOCGWINSZ, 64), 0);
    CHECK(!memcmp(world_at(t, 64), &ws, sizeof ws));
    CHECK_EQ(f->ops->ioctl(f, t, TCGETS, 64), 0);
    CHECK_EQ(f->ops->ioctl(f, t, TCSETS, 64), -EPERM);
    CHECK_EQ(f->ops->ioctl(f, t, TIOCSTI, 64), -EPERM);
    CHECK_EQ(world_read(f, NULL, &(char){0}, 1), -EAGAIN);
    file_put(f);
    (void)close(m);
    (void)close(s);

    CHECK_EQ(pipe(p), 0);
    f = wrap(k, p[0], O_RDONLY);
    CHECK_EQ(f->ops->ioctl(f, t, TCGETS, 64), -ENOTTY);
    CHECK_EQ(write(p[1], "abc", 3), 3);
    CHECK_EQ(f->ops->ioctl(f, t, FIONREAD, 64), 0);
    CHECK_EQ(*(int32_t *)world_at(t, 64), 3);
    file_put(f);
    (void)close(p[0]);
    (void)close(p[1]);
    kernel_free(k);
}

/* Waiting threads are counted by what is watched on the host. */
static int
count_watches(struct kernel *k)
{
    int n = 0;

    LIST_FOR_EACH(it, &k->host_watches)
        n++;
    return n;
}

TEST(hostfile_reader_is_not_woken_because_it_could_write)
{
    struct kernel *k = world_new();
    struct task *t = world_child(k, NULL);
    int s[2];
    char c;

    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, s), 0);
    struct file *f = wrap(k, s[0], O_RDWR);
    CHECK_EQ(world_read(f, t, &c, 1), -EAGAIN);
    CHECK_EQ(thread_wait_file(t->thread, f), -EWAIT);
    CHECK_EQ(count_watches(k), 1); /* for input only */
    thread_unwait(t->thread);
    CHECK_EQ(write(s[1], "x", 1), 1);
    CHECK_EQ(f->ops->poll(f, NULL) & (POLLIN | POLLOUT), POLLIN | POLLOUT);
    file_put(f);
    CHECK_EQ(count_watches(k), 0);
    (void)close(s[0]);
    (void)close(s[1]);
    kernel_free(k);
}

TEST(hostfile_waits_also_for_what_came_in_between)
{
    struct kernel *k = world_new();
    struct task *t = world_child(k, NULL);
    int p[2];
    char c;

    CHECK_EQ(pipe(p), 0);
    struct file *f = wrap(k, p[0], O_RDONLY);
    CHECK_EQ(world_read(f, t, &c, 1), -EAGAIN);
    CHECK_EQ(write(p[1], "x", 1), 1);
    CHECK_EQ(thread_wait_file(t->thread, f), -EWAIT);
    CHECK_EQ(count_watches(k), 1);
    thread_unwait(t->thread);
    file_put(f);
    (void)close(p[0]);
    (void)close(p[1]);
    kernel_free(k);
}

TEST(hostfile_new_gives_up_cleanly)
{
    struct kernel *k = world_new();
    int hfd = temporary_file(), before = world_count_hfds();
    struct file *none;

    CHECK_EQ(hostfile_new(k, 9999, O_RDONLY, &none), -EBADF);
    EACH_OOM(oom) {
        struct file *f = NULL;
        int r = hostfile_new(k, hfd, O_RDWR, &f);
        CHECK(r == 0 || r == -ENOMEM);
        file_put(f);
    }
    CHECK_EQ(world_count_hfds(), before);
    (void)close(hfd);
    kernel_free(k);
}
