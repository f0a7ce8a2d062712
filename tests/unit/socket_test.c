/* Sockets: streams, datagrams, names, descriptors in messages. */
#include "world.h"

#include "kernel/socket.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

enum { FDS = 64, ADDR = 128, LEN = 300, MSG = 512, CTL = 600, IOV = 768 };
enum { BUF = 4096, BIG = 400000 };

static uint32_t
put_unix(struct task *t, const char *name, size_t len)
{
    struct sockaddr_un *un = world_at(t, ADDR);

    memset(un, 0, sizeof *un);
    un->sun_family = AF_UNIX;
    memcpy(un->sun_path, name, len);
    return (uint32_t)(offsetof(struct sockaddr_un, sun_path) + len);
}

static uint32_t
put_inet(struct task *t, uint32_t ip, uint16_t port)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};

    in.sin_addr.s_addr = htonl(ip);
    memcpy(world_at(t, ADDR), &in, sizeof in);
    return sizeof in;
}

static void
pair(struct task *t, uint32_t type)
{
    CHECK_EQ(SYS(t, NR_socketpair, AF_UNIX, type, 0, FDS), 0);
}

TEST(socket_pair_is_a_stream_both_ways)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    pair(t, SOCK_STREAM);
    memcpy(world_at(t, BUF), "abcdef", 6);
    CHECK_EQ(SYS(t, NR_write, 0, BUF, 3), 3);
    CHECK_EQ(SYS(t, NR_sendto, 0, BUF + 3, 3, 0, 0, 0), 3);
    CHECK_EQ(SYS(t, NR_recvfrom, 1, BUF + 100, 10, MSG_PEEK, 0, 0), 6);
    CHECK_EQ(SYS(t, NR_read, 1, BUF + 100, 4), 4);
    CHECK_EQ(SYS(t, NR_read, 1, BUF + 104, 10), 2);
    CHECK(memcmp(world_at(t, BUF + 100), "abcdef", 6) == 0);
    CHECK_EQ(SYS(t, NR_read, 1, BUF, 1), -EWAIT);
    CHECK_EQ(SYS(t, NR_shutdown, 0, SHUT_WR), 0);
    CHECK_EQ(SYS(t, NR_read, 1, BUF, 1), 0);
    CHECK_EQ(SYS(t, NR_write, 1, BUF, 1), 1);
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 9), 1);
    kernel_free(k);
}

TEST(socket_stream_send_waits_for_room_and_continues)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k), *u = world_task(k);
    size_t got = 0;
    int32_t r;

    pair(t, SOCK_STREAM);
    CHECK_EQ(fd_install(u, file_get(fd_find(t, 1)), 0, false), 0);
    uint8_t *src = world_at(t, BUF), *dst = world_at(u, BUF);
    for (int i = 0; i < BIG; i++)
        src[i] = (uint8_t)(i * 7 + i / 251);
    while ((r = SYS(t, NR_sendto, 0, BUF, BIG, 0, 0, 0)) == -EWAIT) {
        int32_t n = SYS(u, NR_read, 0, (uint32_t)(BUF + got), BIG);
        CHECK(n > 0);
        got += (size_t)n;
        CHECK(world_is_woken(t));
    }
    CHECK_EQ(r, BIG);
    while (got < BIG) {
        r = SYS(u, NR_read, 0, (uint32_t)(BUF + got), BIG);
        CHECK(r > 0);
        got += (size_t)(r > 0 ? r : BIG);
    }
    CHECK(memcmp(src, dst, BIG) == 0);
    kernel_free(k);
}

TEST(socket_peer_that_closes_ends_the_stream)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    t->sig.action[SIGPIPE].handler = GUEST_SIG_IGN;
    pair(t, SOCK_STREAM);
    CHECK_EQ(SYS(t, NR_write, 0, BUF, 3), 3);
    CHECK_EQ(SYS(t, NR_close, 0), 0);
    CHECK_EQ(SYS(t, NR_read, 1, BUF, 9), 3);
    CHECK_EQ(SYS(t, NR_read, 1, BUF, 9), 0);
    CHECK_EQ(SYS(t, NR_write, 1, BUF, 9), -EPIPE);
    CHECK(file_poll(fd_find(t, 1), NULL) & POLLHUP);
    kernel_free(k);
}

TEST(socket_records_and_datagrams_keep_their_ends)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    for (int i = 0; i < 2; i++) {
        pair(t, (i ? SOCK_SEQPACKET : SOCK_DGRAM) | SOCK_NONBLOCK);
        int a = 2 * i, b = 2 * i + 1;
        CHECK_EQ(SYS(t, NR_write, a, BUF, 5), 5);
        CHECK_EQ(SYS(t, NR_sendto, a, BUF, 0, 0, 0, 0), 0);
        CHECK_EQ(SYS(t, NR_write, a, BUF, 7), 7);
        CHECK_EQ(SYS(t, NR_recvfrom, b, BUF, 3, MSG_TRUNC, 0, 0), 5);
        CHECK_EQ(SYS(t, NR_read, b, BUF, 100), 0);
        CHECK_EQ(SYS(t, NR_read, b, BUF, 100), 7);
        CHECK_EQ(SYS(t, NR_read, b, BUF, 100), -EAGAIN);
        CHECK_EQ(SYS(t, NR_write, a, BUF, 300000), -EMSGSIZE);
        int n = 0;
        while (SYS(t, NR_write, a, BUF, 1000) == 1000)
            n++;
        CHECK(n > 100 && n < 1000);
    }
    kernel_free(k);
}

static void
serve_and_connect(struct task *t, int domain, uint32_t addr_len)
{
    CHECK_EQ(SYS(t, NR_socket, domain, SOCK_STREAM, 0), 0);
    CHECK_EQ(SYS(t, NR_bind, 0, ADDR, addr_len), 0);
    CHECK_EQ(SYS(t, NR_socket, domain, SOCK_STREAM, 0), 1);
    CHECK_EQ(SYS(t, NR_connect, 1, ADDR, addr_len), -ECONNREFUSED);
    CHECK_EQ(SYS(t, NR_listen, 0, 1), 0);
    CHECK_EQ(SYS(t, NR_accept, 0, 0, 0), -EWAIT);
    CHECK_EQ(SYS(t, NR_connect, 1, ADDR, addr_len), 0);
    CHECK_EQ(SYS(t, NR_connect, 1, ADDR, addr_len), -EISCONN);
    CHECK_EQ(SYS(t, NR_write, 1, BUF, 4), 4);
    CHECK_EQ(SYS(t, NR_accept, 0, 0, 0), 2);
    CHECK_EQ(SYS(t, NR_read, 2, BUF, 10), 4);
    CHECK_EQ(SYS(t, NR_write, 2, BUF, 6), 6);
    CHECK_EQ(SYS(t, NR_read, 1, BUF, 10), 6);
}

TEST(socket_unix_path_is_served)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    uint32_t len = put_unix(t, "/sock", 6);
    serve_and_connect(t, AF_UNIX, len);
    CHECK_EQ(SYS(t, NR_socket, AF_UNIX, SOCK_STREAM, 0), 3);
    CHECK_EQ(SYS(t, NR_bind, 3, ADDR, len), -EADDRINUSE);
    CHECK_EQ(SYS(t, NR_close, 0), 0);
    CHECK_EQ(SYS(t, NR_connect, 3, ADDR, len), -ECONNREFUSED);
    len = put_unix(t, "/none", 6);
    CHECK_EQ(SYS(t, NR_connect, 3, ADDR, len), -ENOENT);
    kernel_free(k);
}

TEST(socket_abstract_name_is_served)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    serve_and_connect(t, AF_UNIX, put_unix(t, "\0name", 5));
    kernel_free(k);
}

TEST(socket_loopback_port_is_served)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    uint32_t len = put_inet(t, INADDR_LOOPBACK, 8080);
    serve_and_connect(t, AF_INET, len);
    CHECK_EQ(SYS(t, NR_socket, AF_INET, SOCK_STREAM, 0), 3);
    CHECK_EQ(SYS(t, NR_bind, 3, ADDR, len), -EADDRINUSE);
    len = put_inet(t, 0x08080808, 53);
    CHECK_EQ(SYS(t, NR_connect, 3, ADDR, len), -ENETUNREACH);
    CHECK_EQ(SYS(t, NR_bind, 3, ADDR, len), -EADDRNOTAVAIL);
    len = put_inet(t, INADDR_ANY, 0);
    CHECK_EQ(SYS(t, NR_bind, 3, ADDR, len), 0);
    memcpy(world_at(t, LEN), &len, sizeof len);
    CHECK_EQ(SYS(t, NR_getsockname, 3, ADDR, LEN), 0);
    struct sockaddr_in in;
    memcpy(&in, world_at(t, ADDR), sizeof in);
    CHECK(ntohs(in.sin_port) >= 32768 && ntohs(in.sin_port) <= 60999);
    kernel_free(k);
}

TEST(socket_full_backlog_stalls_connects)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    uint32_t len = put_inet(t, INADDR_LOOPBACK, 8080);

    CHECK_EQ(SYS(t, NR_socket, AF_INET, SOCK_STREAM, 0), 0);
    CHECK_EQ(SYS(t, NR_bind, 0, ADDR, len), 0);
    CHECK_EQ(SYS(t, NR_listen, 0, 0), 0);
    for (int fd = 1; fd < 4; fd++) {
        CHECK_EQ(SYS(t, NR_socket, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0),
                 fd);
        CHECK_EQ(SYS(t, NR_connect, fd, ADDR, len), -EINPROGRESS);
    }
    CHECK(file_poll(fd_find(t, 1), NULL) & POLLOUT);
    CHECK_EQ(file_poll(fd_find(t, 2), NULL), 0);
    CHECK_EQ(SYS(t, NR_connect, 1, ADDR, len), 0);
    CHECK_EQ(SYS(t, NR_connect, 2, ADDR, len), -EALREADY);
    CHECK_EQ(SYS(t, NR_accept, 0, 0, 0), 4);
    CHECK(file_poll(fd_find(t, 2), NULL) & POLLOUT);
    CHECK_EQ(SYS(t, NR_close, 0), 0);
    CHECK(file_poll(fd_find(t, 3), NULL) & POLLERR);
    CHECK(file_poll(fd_find(t, 2), NULL) & POLLERR);
    kernel_free(k);
}

TEST(socket_udp_finds_its_port_or_is_refused)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    uint32_t len = put_inet(t, INADDR_LOOPBACK, 5353);

    CHECK_EQ(SYS(t, NR_socket, AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0), 0);
    CHECK_EQ(SYS(t, NR_socket, AF_INET, SOCK_DGRAM, 0), 1);
    CHECK_EQ(SYS(t, NR_bind, 0, ADDR, len), 0);
    CHECK_EQ(SYS(t, NR_sendto, 1, BUF, 4, 0, ADDR, len), 4);
    uint32_t max = 16;
    memcpy(world_at(t, LEN), &max, sizeof max);
    CHECK_EQ(SYS(t, NR_recvfrom, 0, BUF, 100, 0, ADDR, LEN), 4);
    CHECK_EQ(SYS(t, NR_sendto, 0, BUF, 2, 0, ADDR, len), 2);
    CHECK_EQ(SYS(t, NR_recvfrom, 1, BUF, 100, 0, 0, 0), 2);
    CHECK_EQ(SYS(t, NR_recvfrom, 0, BUF, 100, 0, 0, 0), -EAGAIN);
    len = put_inet(t, INADDR_LOOPBACK, 9);
    CHECK_EQ(SYS(t, NR_connect, 1, ADDR, len), 0);
    CHECK_EQ(SYS(t, NR_write, 1, BUF, 1), 1);
    CHECK_EQ(SYS(t, NR_write, 1, BUF, 1), -ECONNREFUSED);
    kernel_free(k);
}

/* --- descriptors in messages */

struct guest_msghdr {
    uint32_t name, namelen, iov, iovlen, control, controllen, flags;
};

static void
put_message(struct task *t, uint32_t controllen)
{
    struct guest_msghdr h = {
        .iov = IOV, .iovlen = 1, .control = CTL, .controllen = controllen};
    uint32_t iov[2] = {BUF, 1};

    memcpy(world_at(t, MSG), &h, sizeof h);
    memcpy(world_at(t, IOV), iov, sizeof iov);
}

static int32_t
send_fd(struct task *t, int over, int fd)
{
    uint32_t c[4] = {16, SOL_SOCKET, SCM_RIGHTS, (uint32_t)fd};

    put_message(t, sizeof c);
    memcpy(world_at(t, CTL), c, sizeof c);
    return SYS(t, NR_sendmsg, over, MSG, 0);
}

static int
recv_fd(struct task *t, int over)
{
    int32_t c[4];

    put_message(t, 64);
    CHECK_EQ(SYS(t, NR_recvmsg, over, MSG, 0), 1);
    memcpy(c, world_at(t, CTL), sizeof c);
    CHECK_EQ(c[0], 16);
    CHECK_EQ(c[2], SCM_RIGHTS);
    return c[3];
}

TEST(socket_passes_descriptors)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    pair(t, SOCK_STREAM);
    CHECK_EQ(SYS(t, NR_eventfd2, 7, 0), 2);
    CHECK_EQ(send_fd(t, 0, 2), 1);
    CHECK_EQ(SYS(t, NR_close, 2), 0);
    CHECK_EQ(recv_fd(t, 1), 2);
    CHECK_EQ(SYS(t, NR_read, 2, BUF, 8), 8);
    CHECK_EQ(send_fd(t, 0, 99), -EBADF);
    CHECK_EQ(send_fd(t, 0, 2), 1);
    CHECK_EQ(SYS(t, NR_read, 1, BUF, 1), 1); /* drops it */
    CHECK_EQ(fd_find(t, 2)->refs, 1);
    kernel_free(k);
}

TEST(socket_chain_in_flight_is_dropped_without_recursion)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    uint64_t before = world_memory(k);

    k->limits.max[LIMIT_memory] = UINT64_C(1) << 32;
    t->rlimits[RLIMIT_NOFILE].cur = 20000;
    pair(t, SOCK_STREAM);
    /* Each pair carries the one before in its queue, and is held by nothing
     * but the next one's. */
    for (int i = 0; i < 5000; i++) {
        pair(t, SOCK_STREAM);
        CHECK_EQ(send_fd(t, 2, 0), 1);
        CHECK_EQ(send_fd(t, 2, 1), 1);
        CHECK_EQ(SYS(t, NR_close, 0), 0);
        CHECK_EQ(SYS(t, NR_close, 1), 0);
        CHECK_EQ(SYS(t, NR_dup, 2), 0);
        CHECK_EQ(SYS(t, NR_dup, 3), 1);
        CHECK_EQ(SYS(t, NR_close, 2), 0);
        CHECK_EQ(SYS(t, NR_close, 3), 0);
    }
    CHECK_EQ(k->limits.used[LIMIT_open_files], 10002);
    CHECK_EQ(SYS(t, NR_close, 0), 0);
    CHECK_EQ(SYS(t, NR_close, 1), 0);
    CHECK_EQ(k->limits.used[LIMIT_open_files], 0);
    CHECK_EQ(world_memory(k), before);
    kernel_free(k);
}

static void
close_from(struct task *t, int first, int last)
{
    for (int fd = first; fd <= last; fd++)
        CHECK_EQ(SYS(t, NR_close, fd), 0);
}

static uint64_t
open_files(const struct kernel *k)
{
    return k->limits.used[LIMIT_open_files];
}

TEST(socket_cycles_in_flight_are_collected)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    uint64_t before = world_memory(k);

    pair(t, SOCK_DGRAM);
    CHECK_EQ(send_fd(t, 0, 0), 1);
    CHECK_EQ(send_fd(t, 0, 1), 1);
    close_from(t, 0, 1);
    CHECK_EQ(open_files(k), 0);
    CHECK_EQ(world_memory(k), before);
    kernel_free(k);
}

TEST(socket_cycle_that_can_be_received_stays)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    pair(t, SOCK_STREAM); /* 0, 1 */
    pair(t, SOCK_STREAM); /* 2, 3 */
    CHECK_EQ(send_fd(t, 2, 2), 1);
    CHECK_EQ(send_fd(t, 2, 3), 1);
    CHECK_EQ(send_fd(t, 0, 3), 1);
    close_from(t, 2, 3);
    CHECK_EQ(open_files(k), 4);
    CHECK_EQ(recv_fd(t, 1), 2);
    CHECK_EQ(recv_fd(t, 2), 3);
    CHECK_EQ(SYS(t, NR_close, 3), 0);
    CHECK_EQ(open_files(k), 3); /* 2 has itself in its queue */
    CHECK_EQ(send_fd(t, 0, 2), 1);
    CHECK_EQ(SYS(t, NR_close, 2), 0);
    CHECK_EQ(open_files(k), 3);
    close_from(t, 0, 1);
    CHECK_EQ(open_files(k), 0);
    kernel_free(k);
}

/* The listener is in the queue of a connection that it has not accepted. */
TEST(socket_cycle_through_a_backlog_is_collected)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    uint32_t len = put_unix(t, "\0x", 2);

    CHECK_EQ(SYS(t, NR_socket, AF_UNIX, SOCK_STREAM, 0), 0);
    CHECK_EQ(SYS(t, NR_bind, 0, ADDR, len), 0);
    CHECK_EQ(SYS(t, NR_listen, 0, 5), 0);
    CHECK_EQ(SYS(t, NR_socket, AF_UNIX, SOCK_STREAM, 0), 1);
    CHECK_EQ(SYS(t, NR_connect, 1, ADDR, len), 0);
    CHECK_EQ(send_fd(t, 1, 0), 1);
    CHECK_EQ(send_fd(t, 1, 1), 1);
    CHECK_EQ(SYS(t, NR_close, 1), 0);
    CHECK_EQ(open_files(k), 2);
    CHECK_EQ(SYS(t, NR_close, 0), 0);
    CHECK_EQ(open_files(k), 0);
    kernel_free(k);
}

TEST(socket_many_cycles_leave_little_behind)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    for (int i = 0; i < 2000; i++) {
        pair(t, SOCK_DGRAM);
        CHECK_EQ(send_fd(t, 0, 0), 1);
        CHECK_EQ(send_fd(t, 0, 1), 1);
        close_from(t, 0, 1);
        CHECK(open_files(k) <= 128);
    }
    kernel_free(k);
}

TEST(socket_files_in_flight_are_limited)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    pair(t, SOCK_DGRAM);
    t->rlimits[RLIMIT_NOFILE].cur = 10;
    for (int i = 0; i < 10; i++)
        CHECK_EQ(send_fd(t, 0, 0), 1);
    CHECK_EQ(send_fd(t, 0, 0), -ETOOMANYREFS);
    CHECK_EQ(recv_fd(t, 1), 2);
    CHECK_EQ(send_fd(t, 0, 0), 1);
    kernel_free(k);
}

/* --- calls that are made again with less */

TEST(socket_send_that_waits_may_be_made_shorter)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    pair(t, SOCK_STREAM);
    CHECK_EQ(SYS(t, NR_sendto, 0, BUF, BIG, 0, 0, 0), -EWAIT);
    uint64_t done = t->thread->call.progress;
    CHECK(done > 1000 && done < BIG);
    CHECK_EQ(SYS(t, NR_sendto, 0, BUF, 1000, 0, 0, 0), 1000);
    CHECK_EQ(SYS(t, NR_recvfrom, 1, BUF, BIG, 0, 0, 0), done);
    kernel_free(k);
}

TEST(socket_receive_that_waits_may_be_made_shorter)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    pair(t, SOCK_STREAM);
    CHECK_EQ(SYS(t, NR_write, 0, BUF, 100), 100);
    CHECK_EQ(SYS(t, NR_recvfrom, 1, BUF, 200, MSG_WAITALL, 0, 0), -EWAIT);
    CHECK_EQ(t->thread->call.progress, 100);
    CHECK_EQ(SYS(t, NR_recvfrom, 1, BUF, 10, MSG_WAITALL, 0, 0), 10);
    kernel_free(k);
}

TEST(socket_messages_of_one_call_go_in_steps)
{
    enum { N = 100, HEADERS = 0x4000, HEADER = 32 };
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    pair(t, SOCK_DGRAM);
    put_message(t, 0);
    for (uint32_t i = 0; i < N; i++)
        memcpy(world_at(t, HEADERS + i * HEADER), world_at(t, MSG),
               sizeof(struct guest_msghdr));
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(SYS(t, NR_sendmmsg, 0, HEADERS, N, 0), -EWAIT);
        CHECK(world_is_woken(t));
    }
    CHECK_EQ(SYS(t, NR_sendmmsg, 0, HEADERS, N, 0), N);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(SYS(t, NR_recvmmsg, 1, HEADERS, N + 9, MSG_WAITFORONE, 0),
                 -EWAIT);
    CHECK_EQ(SYS(t, NR_recvmmsg, 1, HEADERS, N + 9, MSG_WAITFORONE, 0), N);
    kernel_free(k);
}

TEST(socket_messages_keep_their_ends_in_plain_reads_and_writes)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    const uint32_t iov[4] = {BUF, 2, BUF + 100, 50};

    pair(t, SOCK_DGRAM);
    memcpy(world_at(t, IOV), iov, sizeof iov);
    memcpy(world_at(t, BUF), "abcdef", 6);
    CHECK_EQ(SYS(t, NR_write, 0, BUF, 6), 6);
    CHECK_EQ(SYS(t, NR_write, 0, BUF, 0), 0);
    CHECK_EQ(SYS(t, NR_writev, 0, IOV, 0), 0);
    CHECK_EQ(SYS(t, NR_write, 0, BUF, 2), 2);
    CHECK_EQ(SYS(t, NR_readv, 1, IOV, 2), 6);
    CHECK(memcmp(world_at(t, BUF + 100), "cdef", 4) == 0);
    CHECK_EQ(SYS(t, NR_read, 1, BUF, 9), 0);
    CHECK_EQ(SYS(t, NR_read, 1, BUF, 9), 0);
    CHECK_EQ(SYS(t, NR_readv, 1, IOV, 2), 2);
    CHECK_EQ(SYS(t, NR_read, 1, BUF, 9), -EWAIT);
    kernel_free(k);
}

TEST(socket_timeout_ends_a_receive)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    int64_t tv[2] = {1, 500000};

    pair(t, SOCK_STREAM);
    memcpy(world_at(t, BUF), tv, sizeof tv);
    CHECK_EQ(SYS(t, NR_setsockopt, 0, SOL_SOCKET, 66, BUF, 16), 0);
    for (int i = 0; i < 2; i++) {
        uint32_t nr = i ? NR_read : NR_recvfrom;
        CHECK_EQ(SYS(t, nr, 0, BUF, 10, 0, 0, 0), -EWAIT);
        world_sleep_ns(k, NS_PER_S);
        CHECK(!world_is_woken(t));
        world_sleep_ns(k, NS_PER_S);
        CHECK(world_is_woken(t));
        CHECK_EQ(SYS(t, nr, 0, BUF, 10, 0, 0, 0), -EAGAIN);
    }
    clock_jump(&k->clock, NS_NEVER);
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 10), -EWAIT);
    CHECK_EQ(SYS(t, NR_recvfrom, 0, BUF, 10, 0, 0, 0), -EWAIT);
    kernel_free(k);
}

TEST(socket_survives_failing_allocations)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);
    uint32_t len = put_unix(t, "\0name", 5);

    EACH_OOM(oom) {
        if (SYS(t, NR_socketpair, AF_UNIX, SOCK_STREAM, 0, FDS) == 0)
            (void)send_fd(t, 0, 0);
        fd_close_all(t, false);
    }
    EACH_OOM(oom) {
        int s = SYS(t, NR_socket, AF_UNIX, SOCK_STREAM, 0);
        int c = SYS(t, NR_socket, AF_UNIX, SOCK_STREAM, 0);
        (void)SYS(t, NR_bind, s, ADDR, len);
        (void)SYS(t, NR_listen, s, 5);
        (void)SYS(t, NR_connect, c, ADDR, len);
        (void)SYS(t, NR_accept, s, 0, 0);
        fd_close_all(t, false);
    }
    CHECK_EQ(k->limits.used[LIMIT_open_files], 0);
    CHECK_EQ(world_memory(k), 0);
    kernel_free(k);
}
