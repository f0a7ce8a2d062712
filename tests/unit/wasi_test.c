/* WASI: what needs other processes, sockets, or a failing allocator. */
#include "kernel/wasi/wasi_abi.h"

#include "test.h"
#include "world.h"
#include "world_wasi.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

enum {
    WASI_EAGAIN = 6,
    WASI_EBADF = 8,
    WASI_EFAULT = 21,
    WASI_EINVAL = 28,
    WASI_ENOTCONN = 53,
    WASI_ENOTSOCK = 57,
    WASI_EPIPE = 64,
    WASI_ENOTCAPABLE = 76,
};

/* Places in guest memory. */
enum { FDS = 64, IOV = 128, COUNT = 160, FLAGS = 168, BUF = 256, SUBS = 1024 };
enum { EVENTS = 2048 };

static uint32_t
number_at(struct task *t, uint32_t at)
{
    uint32_t n;

    memcpy(&n, world_at(t, at), sizeof n);
    return n;
}

/* The iovec at IOV: len bytes at BUF. */
static void
set_iov(struct task *t, const char *text, uint32_t len)
{
    const uint32_t iov[2] = {BUF, len};

    memcpy(world_at(t, IOV), iov, sizeof iov);
    if (text)
        memcpy(world_at(t, BUF), text, len);
}

static int32_t
send_text(struct task *t, uint64_t fd, const char *text)
{
    set_iov(t, text, (uint32_t)strlen(text));
    return WASI_CALL(t, sock_send, fd, IOV, 1, 0, COUNT);
}

static int32_t
receive(struct task *t, uint64_t fd, uint32_t len, uint64_t flags)
{
    set_iov(t, NULL, len);
    return WASI_CALL(t, sock_recv, fd, IOV, 1, flags, COUNT, FLAGS);
}

static bool
received(struct task *t, const char *text)
{
    return number_at(t, COUNT) == strlen(text) &&
           !memcmp(world_at(t, BUF), text, strlen(text));
}

/* A task with a pair of sockets of this type as descriptors 0 and 1. */
static struct task *
task_with_pair(struct kernel *k, uint32_t type)
{
    struct task *t = world_task(k);

    CHECK_EQ(world_wasi_args(t), 0);
    CHECK_EQ(SYS(t, NR_socketpair, AF_UNIX, type, 0, FDS), 0);
    CHECK_EQ(number_at(t, FDS), 0);
    CHECK_EQ(number_at(t, FDS + 4), 1);
    return t;
}

TEST(wasi_sockets_carry_bytes)
{
    struct kernel *k = world_new();
    struct task *t = task_with_pair(k, SOCK_STREAM);

    CHECK_EQ(send_text(t, 0, "hello"), 0);
    CHECK_EQ(number_at(t, COUNT), 5);
    CHECK_EQ(receive(t, 1, 16, RIFLAG_PEEK), 0);
    CHECK(received(t, "hello"));
    CHECK_EQ(receive(t, 1, 3, 0), 0);
    CHECK(received(t, "hel"));
    CHECK_EQ(receive(t, 1, 16, 4), WASI_EINVAL);
    CHECK_EQ(WASI_CALL(t, sock_recv, 1, IOV, 1, 0, COUNT, UINT32_MAX),
             WASI_EFAULT);
    CHECK_EQ(WASI_CALL(t, sock_send, 0, IOV, 1, 1, COUNT), WASI_EINVAL);
    CHECK_EQ(receive(t, 1, 16, 0), 0);
    CHECK(received(t, "lo"));
    CHECK_EQ(WASI_CALL(t, fd_fdstat_get, 0, BUF), 0);
    CHECK_EQ(*(uint8_t *)world_at(t, BUF), FILETYPE_SOCKET_STREAM);
    kernel_free(k);
}

TEST(wasi_receiving_waits_for_bytes)
{
    struct kernel *k = world_new();
    struct task *t = task_with_pair(k, SOCK_STREAM);
    struct task *other = world_task(k);

    CHECK_EQ(fd_install(other, file_get(fd_find(t, 0)), 0, false), 0);
    CHECK_EQ(world_wasi_args(other), 0);
    CHECK_EQ(receive(t, 1, 16, 0), -EWAIT);
    CHECK(!world_is_woken(t));
    CHECK_EQ(send_text(other, 0, "abc"), 0);
    CHECK(world_is_woken(t));
    CHECK_EQ(receive(t, 1, 16, 0), 0);
    CHECK(received(t, "abc"));
    /* RECV_WAITALL goes on until all is there. */
    CHECK_EQ(receive(t, 1, 4, RIFLAG_WAITALL), -EWAIT);
    CHECK_EQ(send_text(other, 0, "12"), 0);
    CHECK_EQ(receive(t, 1, 4, RIFLAG_WAITALL), -EWAIT);
    CHECK_EQ(send_text(other, 0, "345"), 0);
    CHECK_EQ(receive(t, 1, 4, RIFLAG_WAITALL), 0);
    CHECK(received(t, "1234"));
    CHECK_EQ(WASI_CALL(t, fd_fdstat_set_flags, 1, FDFLAG_NONBLOCK), 0);
    CHECK_EQ(receive(t, 1, 1, 0), 0);
    CHECK_EQ(receive(t, 1, 1, 0), WASI_EAGAIN);
    kernel_free(k);
}

TEST(wasi_datagrams_are_cut)
{
    struct kernel *k = world_new();
    struct task *t = task_with_pair(k, SOCK_DGRAM);

    CHECK_EQ(send_text(t, 0, "datagram"), 0);
    CHECK_EQ(receive(t, 1, 4, 0), 0);
    CHECK(received(t, "data"));
    CHECK_EQ(number_at(t, FLAGS) & 0xffff, ROFLAG_DATA_TRUNCATED);
    kernel_free(k);
}

TEST(wasi_shutdown_ends_a_direction)
{
    struct kernel *k = world_new();
    struct task *t = task_with_pair(k, SOCK_STREAM);

    CHECK_EQ(WASI_CALL(t, sock_shutdown, 0, 0), WASI_EINVAL);
    CHECK_EQ(WASI_CALL(t, sock_shutdown, 0, 4), WASI_EINVAL);
    CHECK_EQ(WASI_CALL(t, sock_shutdown, 3, SDFLAG_WR), WASI_ENOTSOCK);
    CHECK_EQ(WASI_CALL(t, sock_shutdown, 0, SDFLAG_WR), 0);
    CHECK_EQ(receive(t, 1, 4, 0), 0);
    CHECK_EQ(number_at(t, COUNT), 0);
    CHECK_EQ(send_text(t, 1, "x"), 0);
    CHECK_EQ(receive(t, 0, 4, 0), 0);
    CHECK(received(t, "x"));
    kernel_free(k);
}

static const char address[] = "\1\0\0listener"; /* AF_UNIX, abstract */

TEST(wasi_accepts_connections)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k), *client = world_task(k);
    const uint32_t len = sizeof address - 1;

    CHECK_EQ(world_wasi_args(t), 0);
    memcpy(world_at(t, BUF), address, len);
    memcpy(world_at(client, BUF), address, len);
    CHECK_EQ(SYS(t, NR_socket, AF_UNIX, SOCK_STREAM), 0);
    CHECK_EQ(SYS(t, NR_bind, 0, BUF, len), 0);
    CHECK_EQ(SYS(t, NR_listen, 0, 5), 0);
    CHECK_EQ(WASI_CALL(t, sock_accept, 0, FDFLAG_APPEND, FDS), WASI_EINVAL);
    CHECK_EQ(WASI_CALL(t, sock_accept, 0, 0, UINT32_MAX), WASI_EFAULT);
    CHECK_EQ(WASI_CALL(t, sock_accept, 0, 0, FDS), -EWAIT);
    CHECK_EQ(SYS(client, NR_socket, AF_UNIX, SOCK_STREAM), 0);
    CHECK_EQ(SYS(client, NR_connect, 0, BUF, len), 0);
    CHECK(world_is_woken(t));
    CHECK_EQ(WASI_CALL(t, sock_accept, 0, FDFLAG_NONBLOCK, FDS), 0);
    uint32_t fd = number_at(t, FDS);
    CHECK_EQ(receive(t, fd, 4, 0), WASI_EAGAIN);
    memcpy(world_at(client, BUF), "hey", 3);
    CHECK_EQ(SYS(client, NR_write, 0, BUF, 3), 3);
    CHECK_EQ(receive(t, fd, 4, 0), 0);
    CHECK(received(t, "hey"));
    CHECK_EQ(receive(t, 0, 4, 0), WASI_EINVAL);
    kernel_free(k);
}

/* --- waiting */

static void
subscribe_clock(struct task *t, uint32_t i, uint64_t userdata, uint64_t ns)
{
    struct wasi_subscription s = {.userdata = userdata, .tag = EVENT_CLOCK};

    s.clock.id = 1;
    s.clock.timeout = ns;
    memcpy((uint8_t *)world_at(t, SUBS) + i * sizeof s, &s, sizeof s);
}

static void
subscribe_fd(struct task *t, uint32_t i, uint64_t userdata, uint32_t fd)
{
    struct wasi_subscription s = {.userdata = userdata, .tag = EVENT_FD_READ};

    s.fd = fd;
    memcpy((uint8_t *)world_at(t, SUBS) + i * sizeof s, &s, sizeof s);
}

static struct wasi_event
event_at(struct task *t, uint32_t i)
{
    struct wasi_event e;

    memcpy(&e, (uint8_t *)world_at(t, EVENTS) + i * sizeof e, sizeof e);
    return e;
}

TEST(wasi_poll_counts_time_from_its_first_try)
{
    struct kernel *k = world_new();
    struct task *t = task_with_pair(k, SOCK_STREAM);

    subscribe_clock(t, 0, 1, 100 * NS_PER_MS);
    subscribe_clock(t, 1, 2, 50 * NS_PER_MS);
    subscribe_fd(t, 2, 3, 1);
    CHECK_EQ(WASI_CALL(t, poll_oneoff, SUBS, EVENTS, 3, COUNT), -EWAIT);
    world_sleep_ns(k, 30 * NS_PER_MS);
    CHECK(!world_is_woken(t));
    world_sleep_ns(k, 20 * NS_PER_MS);
    CHECK(world_is_woken(t));
    CHECK_EQ(WASI_CALL(t, poll_oneoff, SUBS, EVENTS, 3, COUNT), 0);
    CHECK_EQ(number_at(t, COUNT), 1);
    CHECK_EQ(event_at(t, 0).userdata, 2);
    kernel_free(k);
}

TEST(wasi_poll_is_woken_by_files)
{
    struct kernel *k = world_new();
    struct task *t = task_with_pair(k, SOCK_STREAM);
    struct task *other = world_task(k);

    CHECK_EQ(fd_install(other, file_get(fd_find(t, 0)), 0, false), 0);
    subscribe_clock(t, 0, 1, 100 * NS_PER_MS);
    subscribe_fd(t, 1, 2, 1);
    CHECK_EQ(WASI_CALL(t, poll_oneoff, SUBS, EVENTS, 2, COUNT), -EWAIT);
    memcpy(world_at(other, BUF), "four", 4);
    CHECK_EQ(SYS(other, NR_write, 0, BUF, 4), 4);
    CHECK(world_is_woken(t));
    CHECK_EQ(WASI_CALL(t, poll_oneoff, SUBS, EVENTS, 2, COUNT), 0);
    CHECK_EQ(number_at(t, COUNT), 1);
    struct wasi_event e = event_at(t, 0);
    CHECK_EQ(e.userdata, 2);
    CHECK_EQ(e.type, EVENT_FD_READ);
    CHECK_EQ(e.nbytes, 4);
    CHECK_EQ(e.flags, 0);
    CHECK_EQ(SYS(other, NR_close, 0), 0);
    CHECK_EQ(WASI_CALL(t, fd_close, 0), 0);
    CHECK_EQ(WASI_CALL(t, poll_oneoff, SUBS, EVENTS, 2, COUNT), 0);
    CHECK_EQ(event_at(t, 0).flags, EVENT_FD_HANGUP);
    kernel_free(k);
}

/* --- descriptors */

TEST(wasi_preopens_begin_at_3_whatever_was_inherited)
{
    struct kernel *k = world_new();
    struct task *t = task_with_pair(k, SOCK_STREAM);

    for (uint32_t i = 2; i < 5; i++)
        CHECK_EQ(SYS(t, NR_dup, 0), i);
    struct file *inherited = fd_find(t, 3);
    CHECK_EQ(WASI_CALL(t, fd_prestat_get, 3, BUF), 0);
    CHECK_EQ(WASI_CALL(t, fd_prestat_get, 4, BUF), WASI_EBADF);
    CHECK(fd_find(t, 3) != inherited);
    CHECK(fd_find(t, 4) == inherited);
    CHECK(fd_find(t, 5) == inherited);
    kernel_free(k);
}

TEST(wasi_rights_do_not_outlive_a_descriptor)
{
    struct kernel *k = world_new();
    struct task *t = task_with_pair(k, SOCK_STREAM);

    CHECK_EQ(WASI_CALL(t, fd_fdstat_set_rights, 0, 0, 0), 0);
    CHECK_EQ(send_text(t, 0, "x"), WASI_ENOTCAPABLE);
    CHECK_EQ(SYS(t, NR_close, 0), 0);
    CHECK_EQ(SYS(t, NR_dup, 1), 0);
    CHECK_EQ(WASI_CALL(t, fd_fdstat_get, 0, BUF), 0);
    struct wasi_fdstat s;
    memcpy(&s, world_at(t, BUF), sizeof s);
    CHECK(s.rights_base != 0);
    kernel_free(k);
}

TEST(wasi_calls_fail_cleanly_without_memory)
{
    struct kernel *k = world_new();
    struct task *t = task_with_pair(k, SOCK_STREAM);

    memcpy(world_at(t, BUF), "file", 4);
    EACH_OOM(oom) {
        uint64_t fd = WASI_CALL(t, path_open, 3, 0, BUF, 4, OFLAG_CREAT, 2, 0,
                                0, FDS) == 0
                          ? number_at(t, FDS)
                          : 0;
        if (fd)
            CHECK_EQ(WASI_CALL(t, fd_close, fd), 0);
    }
    CHECK_EQ(WASI_CALL(t, fd_prestat_get, 3, BUF), 0);
    CHECK_EQ(WASI_CALL(t, proc_exit, 7), 0);
    CHECK(t->is_zombie);
    CHECK_EQ(t->exit_status, 7 << 8);
    kernel_free(k);
}
