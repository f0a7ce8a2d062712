/* Connections to hosts outside, with a broker that the test plays. */
#include "world.h"

#include "kernel/denial.h"
#include "kernel/inbound.h"
#include "kernel/outside.h"
#include "kernel/socket.h"
#include "net/message.h"
#include "net/policy.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ADDR = 128, LEN = 300, OPT = 320, BUF = 4096 };
enum { HOST_IP = 0xcb00710a, NAME_SERVER_IP = 0xc0000201 };

/* The broker: the last request, and one answer to give. */
struct played {
    struct message_request last;
    unsigned n_requests, n_closed;
    struct message_answer answer;
    int answer_hfd; /* -1: without a descriptor */
    bool has_answer, has_ended, is_full;
    char first[8192]; /* first bytes of connections */
    size_t first_len;
};

static int
played_ask(void *arg, const struct message_request *q)
{
    struct played *f = arg;

    if (f->has_ended) {
        f->has_ended = false;
        return -EPIPE;
    }
    if (f->is_full)
        return -ENOBUFS;
    if (q->kind == REQUEST_FIRST) {
        CHECK(message_request_is_valid(q, sizeof *q));
        memcpy(f->first + f->first_len, q->name, q->name_len);
        f->first_len += q->name_len;
    }
    f->last = *q;
    f->n_requests++;
    f->n_closed += q->kind == REQUEST_CLOSE;
    return 0;
}

static int
played_take(void *arg, struct message_answer *ret, int *ret_hfd)
{
    struct played *f = arg;

    if (f->has_ended)
        return -EPIPE;
    if (!f->has_answer)
        return -EAGAIN;
    f->has_answer = false;
    *ret = f->answer;
    *ret_hfd = f->answer_hfd;
    return 0;
}

static int
played_answers(void *arg)
{
    (void)arg;
    return -1;
}

static const struct outside_ops played_ops = {played_ask, played_take,
                                              played_answers};

/* Gives the answer to the last request. */
static void
answer(struct kernel *k, struct played *f, uint32_t kind, int error, int hfd)
{
    f->answer = (struct message_answer){kind, f->last.id, error, 0};
    if (error == EACCES)
        f->answer.verdict = VERDICT_PRIVATE;
    f->answer_hfd = hfd;
    f->has_answer = true;
    outside_run(k->outside);
}

static struct task *
begin(struct played *f)
{
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    *f = (struct played){.answer_hfd = -1};
    CHECK_EQ(outside_new(k, &played_ops, f, &k->outside), 0);
    return t;
}

static uint32_t
put_inet(struct task *t, uint32_t ip, uint16_t port)
{
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};

    in.sin_addr.s_addr = htonl(ip);
    memcpy(world_at(t, ADDR), &in, sizeof in);
    return sizeof in;
}

static int32_t
try_connect(struct task *t, int fd)
{
    return SYS(t, NR_connect, (uint32_t)fd, ADDR, put_inet(t, HOST_IP, 443));
}

/* Returns the test's end of a new connection, which fd of t has now. */
static int
connect_now(struct task *t, struct played *f, int fd)
{
    int ends[2];

    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    CHECK_EQ(SYS(t, NR_socket, AF_INET, SOCK_STREAM, 0), fd);
    CHECK_EQ(try_connect(t, fd), -EWAIT);
    CHECK_EQ(f->last.kind, REQUEST_CONNECT);
    CHECK_EQ(f->last.port, 443);
    CHECK(!world_is_woken(t));
    answer(t->kernel, f, ANSWER_CONNECT, 0, ends[0]);
    CHECK(world_is_woken(t));
    CHECK_EQ(try_connect(t, fd), 0);
    return ends[1];
}

TEST(outside_connection_carries_data_both_ways)
{
    struct played f;
    struct task *t = begin(&f);
    struct kernel *k = t->kernel;
    int peer = connect_now(t, &f, 0);

    CHECK_EQ(SYS(t, NR_read, 0, BUF, 9), -EWAIT);
    CHECK_EQ(write(peer, "abc", 3), 3);
    CHECK_EQ(SYS(t, NR_recvfrom, 0, BUF, 9, MSG_PEEK, 0, 0), 3);
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 9), 3);
    CHECK(!memcmp(world_at(t, BUF), "abc", 3));
    CHECK_EQ(SYS(t, NR_write, 0, BUF, 3), 3);
    char back[8];
    CHECK_EQ(read(peer, back, sizeof back), 3);
    CHECK_EQ(SYS(t, NR_shutdown, 0, SHUT_WR), 0);
    CHECK_EQ(read(peer, back, sizeof back), 0);
    CHECK_EQ(SYS(t, NR_sendto, 0, BUF, 1, MSG_NOSIGNAL, 0, 0), -EPIPE);
    close(peer);
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 9), 0);
    CHECK_EQ(SYS(t, NR_close, 0), 0);
    CHECK_EQ(f.n_closed, 1);
    kernel_free(k);
}

TEST(outside_refusal_is_recorded_with_its_reason)
{
    struct played f;
    struct task *t = begin(&f);
    struct kernel *k = t->kernel;

    kernel_begin_run(k);
    t->run_tag = k->run_tag;
    CHECK_EQ(SYS(t, NR_socket, AF_INET, SOCK_STREAM, 0), 0);
    CHECK_EQ(try_connect(t, 0), -EWAIT);
    answer(k, &f, ANSWER_CONNECT, EACCES, -1);
    CHECK_EQ(try_connect(t, 0), -EACCES);
    CHECK(k->was_denied && k->denials && k->denials->n == 1);
    CHECK(!strcmp(k->denials->v[0].host, "203.0.113.10"));
    CHECK_EQ(k->denials->v[0].port, 443);
    CHECK(!strcmp(k->denials->v[0].reason, "private"));
    CHECK_EQ(try_connect(t, 0), -EWAIT); /* and can be tried again */
    kernel_begin_run(k);
    CHECK(!k->denials);
    kernel_free(k);
}

TEST(outside_connect_without_waiting_reports_by_so_error)
{
    struct played f;
    struct task *t = begin(&f);
    struct kernel *k = t->kernel;
    const uint32_t four = 4;

    CHECK_EQ(SYS(t, NR_socket, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), 0);
    CHECK_EQ(try_connect(t, 0), -EINPROGRESS);
    CHECK_EQ(try_connect(t, 0), -EALREADY);
    CHECK_EQ(file_poll(fd_find(t, 0), NULL), 0);
    answer(k, &f, ANSWER_CONNECT, ECONNREFUSED, -1);
    CHECK(file_poll(fd_find(t, 0), NULL) & POLLERR);
    memcpy(world_at(t, LEN), &four, sizeof four);
    CHECK_EQ(SYS(t, NR_getsockopt, 0, SOL_SOCKET, SO_ERROR, OPT, LEN), 0);
    CHECK_EQ(*(int32_t *)world_at(t, OPT), ECONNREFUSED);
    kernel_free(k);
}

TEST(outside_broker_that_ends_resets_its_connections)
{
    struct played f;
    struct task *t = begin(&f);
    struct kernel *k = t->kernel;
    int peer = connect_now(t, &f, 0);

    CHECK_EQ(SYS(t, NR_socket, AF_INET, SOCK_STREAM, 0), 1);
    CHECK_EQ(try_connect(t, 1), -EWAIT);
    f.has_ended = true;
    outside_run(k->outside);
    f.has_ended = false;
    CHECK_EQ(try_connect(t, 1), -ECONNRESET);
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 9), -ECONNRESET);
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 9), 0);
    CHECK_EQ(SYS(t, NR_sendto, 0, BUF, 9, MSG_NOSIGNAL, 0, 0), -EPIPE);
    CHECK(file_poll(fd_find(t, 0), NULL) & POLLHUP);
    CHECK_EQ(try_connect(t, 1), -EWAIT);
    CHECK_EQ(f.last.kind, REQUEST_CONNECT);
    close(peer);
    kernel_free(k);
}

TEST(outside_policy_that_changes_resets_a_connection)
{
    struct played f;
    struct task *t = begin(&f);
    struct kernel *k = t->kernel;
    int peer = connect_now(t, &f, 0);

    answer(k, &f, ANSWER_ENDED, EACCES, -1);
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 9), -ECONNRESET);
    close(peer);
    kernel_free(k);
}

TEST(outside_reason_of_an_end_is_known_when_the_end_is)
{
    struct played f;
    struct task *t = begin(&f);
    struct kernel *k = t->kernel;

    kernel_begin_run(k);
    t->run_tag = k->run_tag;
    int peer = connect_now(t, &f, 0);
    f.answer = (struct message_answer){ANSWER_ENDED, f.last.id, ENETDOWN,
                                       VERDICT_BYTES};
    f.has_answer = true;
    CHECK_EQ(shutdown(peer, SHUT_RDWR), 0);
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 9), -ENETDOWN);
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 9), 0);
    CHECK(k->denials && k->denials->n == 1);
    CHECK(!strcmp(k->denials->v[0].reason, "bytes"));
    close(peer);
    kernel_free(k);
}

/* Connects fd, whose first bytes the broker wants. */
static void
connect_first(struct task *t, struct played *f, int fd)
{
    CHECK_EQ(SYS(t, NR_socket, AF_INET, SOCK_STREAM, 0), fd);
    CHECK_EQ(try_connect(t, fd), -EWAIT);
    answer(t->kernel, f, ANSWER_WANT_FIRST, 0, -1);
    CHECK(world_is_woken(t));
    CHECK_EQ(try_connect(t, fd), 0);
}

TEST(outside_first_bytes_go_to_the_broker)
{
    struct played f;
    struct task *t = begin(&f);
    struct kernel *k = t->kernel;
    int ends[2];

    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    connect_first(t, &f, 0);
    CHECK_EQ(file_poll(fd_find(t, 0), NULL), POLLOUT | POLLWRNORM);
    memset(world_at(t, BUF), 'x', 600);
    CHECK_EQ(SYS(t, NR_write, 0, BUF, 600), 600);
    CHECK(f.first_len == 600 && f.first[599] == 'x' && f.last.port == 1);
    CHECK_EQ(file_poll(fd_find(t, 0), NULL), 0);
    CHECK_EQ(SYS(t, NR_write, 0, BUF, 5), -EWAIT);
    answer(k, &f, ANSWER_WANT_FIRST, 0, -1);
    CHECK_EQ(SYS(t, NR_write, 0, BUF, 5), 5);
    CHECK_EQ(f.first_len, 605);
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 9), -EWAIT);
    answer(k, &f, ANSWER_FIRST, 0, ends[0]);
    CHECK(world_is_woken(t));
    CHECK_EQ(write(ends[1], "abc", 3), 3);
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 9), 3);
    CHECK_EQ(SYS(t, NR_write, 0, BUF, 3), 3);
    CHECK(f.first_len == 605 && read(ends[1], f.first, 9) == 3);
    CHECK_EQ(SYS(t, NR_close, 0), 0);
    CHECK_EQ(f.n_closed, 1);
    close(ends[1]);
    kernel_free(k);
}

TEST(outside_first_bytes_that_are_denied_end_the_connection)
{
    struct played f;
    struct task *t = begin(&f);
    struct kernel *k = t->kernel;

    kernel_begin_run(k);
    t->run_tag = k->run_tag;
    connect_first(t, &f, 0);
    CHECK_EQ(SYS(t, NR_write, 0, BUF, 9), 9);
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 9), -EWAIT);
    f.answer =
        (struct message_answer){ANSWER_ENDED, f.last.id, EACCES, VERDICT_TLS};
    f.has_answer = true;
    outside_run(k->outside);
    CHECK(world_is_woken(t));
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 9), -EACCES);
    CHECK(k->denials && k->denials->n == 1);
    CHECK(!strcmp(k->denials->v[0].reason, "tls"));
    connect_first(t, &f, 1); /* the host ends the next one by itself */
    answer(k, &f, ANSWER_ENDED, 0, -1);
    CHECK_EQ(SYS(t, NR_read, 1, BUF, 9), 0);
    CHECK_EQ(SYS(t, NR_sendto, 1, BUF, 9, MSG_NOSIGNAL, 0, 0), -EPIPE);
    kernel_free(k);
}

TEST(outside_first_bytes_wait_for_a_busy_broker)
{
    struct played f;
    struct task *t = begin(&f);
    struct kernel *k = t->kernel;

    connect_first(t, &f, 0);
    f.is_full = true;
    CHECK_EQ(SYS(t, NR_write, 0, BUF, 9), -EWAIT);
    CHECK(!world_is_woken(t));
    f.is_full = false;
    outside_run(k->outside);
    CHECK(world_is_woken(t));
    CHECK_EQ(SYS(t, NR_write, 0, BUF, 9), 9);
    CHECK_EQ(f.first_len, 9);
    kernel_free(k);
}

TEST(outside_connection_may_end_before_its_first_bytes)
{
    struct played f;
    struct task *t = begin(&f);
    struct kernel *k = t->kernel;

    connect_first(t, &f, 0);
    CHECK_EQ(SYS(t, NR_close, 0), 0);
    CHECK_EQ(f.n_closed, 1);
    connect_first(t, &f, 0);
    CHECK_EQ(SYS(t, NR_shutdown, 0, SHUT_WR), 0);
    CHECK_EQ(f.n_closed, 2);
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 9), 0);
    connect_first(t, &f, 1);
    f.has_ended = true;
    CHECK_EQ(SYS(t, NR_sendto, 1, BUF, 9, MSG_NOSIGNAL, 0, 0), -ECONNRESET);
    kernel_free(k);
}

TEST(outside_answer_for_a_closed_socket_is_dropped)
{
    struct played f;
    struct task *t = begin(&f);
    struct kernel *k = t->kernel;
    int ends[2];

    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    CHECK_EQ(SYS(t, NR_socket, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), 0);
    CHECK_EQ(try_connect(t, 0), -EINPROGRESS);
    uint32_t id = f.last.id;
    CHECK_EQ(SYS(t, NR_close, 0), 0);
    CHECK(f.last.kind == REQUEST_CLOSE && f.last.id == id);
    answer(k, &f, ANSWER_CONNECT, 0, ends[0]);
    char byte;
    CHECK_EQ(read(ends[1], &byte, 1), 0); /* the descriptor was closed */
    close(ends[1]);
    kernel_free(k);
}

TEST(outside_names_have_addresses_that_lead_to_them)
{
    static const char question[] = "\x12\x34\1\0\0\1\0\0\0\0\0\0"
                                   "\3web\7example\0\0\1\0\1";
    enum { QUESTION_BYTES = sizeof question - 1 };
    struct played f;
    struct task *t = begin(&f);
    struct kernel *k = t->kernel;

    CHECK_EQ(SYS(t, NR_socket, AF_INET, SOCK_DGRAM, 0), 0);
    memcpy(world_at(t, BUF), question, QUESTION_BYTES);
    uint32_t len = put_inet(t, NAME_SERVER_IP, 53);
    CHECK_EQ(SYS(t, NR_sendto, 0, BUF, QUESTION_BYTES, 0, ADDR, len),
             QUESTION_BYTES);
    CHECK_EQ(f.last.kind, REQUEST_LOOKUP);
    CHECK(!strcmp(f.last.name, "web.example"));
    answer(k, &f, ANSWER_LOOKUP, 0, -1);
    CHECK_EQ(SYS(t, NR_recvfrom, 0, BUF, 512, 0, 0, 0), QUESTION_BYTES + 16);
    CHECK(!memcmp(world_at(t, BUF) + QUESTION_BYTES + 12, "\xc6\x12\0\1", 4));
    CHECK_EQ(SYS(t, NR_socket, AF_INET, SOCK_STREAM, 0), 1);
    CHECK_EQ(SYS(t, NR_connect, 1, ADDR, put_inet(t, 0xc6120001, 443)), -EWAIT);
    CHECK(!strcmp(f.last.name, "web.example"));
    CHECK_EQ(SYS(t, NR_sendto, 0, BUF, 9, 0, ADDR, put_inet(t, HOST_IP, 443)),
             -EACCES);
    kernel_free(k);
}

TEST(outside_name_exists_if_its_lookup_takes_long)
{
    static const char question[] = "\x12\x34\1\0\0\1\0\0\0\0\0\0"
                                   "\4slow\7example\0\0\1\0\1";
    enum { QUESTION_BYTES = sizeof question - 1 };
    struct played f;
    struct task *t = begin(&f);
    struct kernel *k = t->kernel;

    CHECK_EQ(SYS(t, NR_socket, AF_INET, SOCK_DGRAM, 0), 0);
    memcpy(world_at(t, BUF), question, QUESTION_BYTES);
    uint32_t len = put_inet(t, NAME_SERVER_IP, 53);
    CHECK_EQ(SYS(t, NR_sendto, 0, BUF, QUESTION_BYTES, 0, ADDR, len),
             QUESTION_BYTES);
    CHECK_EQ(SYS(t, NR_recvfrom, 0, BUF, 512, 0, 0, 0), -EWAIT);
    world_sleep_ns(k, 400 * NS_PER_MS);
    CHECK(!world_is_woken(t));
    world_sleep_ns(k, 200 * NS_PER_MS);
    CHECK(world_is_woken(t));
    CHECK_EQ(SYS(t, NR_recvfrom, 0, BUF, 512, 0, 0, 0), QUESTION_BYTES + 16);
    answer(k, &f, ANSWER_LOOKUP, ENOENT, -1); /* too late */
    CHECK_EQ(SYS(t, NR_recvfrom, 0, BUF, 512, MSG_DONTWAIT, 0, 0), -EAGAIN);
    kernel_free(k);
}

TEST(outside_is_as_before_while_it_is_off)
{
    struct played f;
    struct task *t = begin(&f);
    struct kernel *k = t->kernel;
    int peer = connect_now(t, &f, 0);

    outside_set_on(k->outside, false);
    CHECK_EQ(SYS(t, NR_read, 0, BUF, 9), -ECONNRESET);
    CHECK_EQ(SYS(t, NR_socket, AF_INET, SOCK_STREAM, 0), 1);
    CHECK_EQ(try_connect(t, 1), -ENETUNREACH);
    close(peer);
    kernel_free(k);
}

TEST(outside_socket_without_memory_stays_idle)
{
    EACH_OOM(oom) {
        struct played f = {.answer_hfd = -1};
        struct kernel *k = NULL;
        struct task *t = NULL;
        test_fail_alloc(0);
        t = begin(&f);
        k = t->kernel;
        CHECK_EQ(SYS(t, NR_socket, AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0), 0);
        test_fail_alloc(oom);
        int32_t r = try_connect(t, 0);
        CHECK_EQ(r, test_alloc_failed() ? -ENOMEM : -EINPROGRESS);
        kernel_free(k);
    }
}

TEST(inbound_port_can_be_forwarded_once)
{
    struct kernel *k = world_new();
    int ends[2];

    CHECK_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    CHECK_EQ(inbound_add(k, 80, ends[0]), 0);
    CHECK_EQ(inbound_add(k, 80, ends[1]), -EEXIST); /* and closes it */
    CHECK(inbound_find(k, 80) && !inbound_find(k, 81));
    kernel_free(k);
    CHECK_EQ(close(ends[0]), -1);
}
