/* stdin: "input" */
/* poll_oneoff on clocks and files; sockets where there are none. */
#include "raw.h"

enum { CLOCK, FD_READ, FD_WRITE };
enum { MS = 1000000 };

static struct subscription in[8];
static struct event out[8];
static uint32_t n;

static uint64_t
now(uint32_t clock)
{
    uint64_t t = 0;

    OK(clock_time_get(clock, 0, P(&t)));
    return t;
}

static struct subscription
after(uint64_t userdata, uint32_t clock, uint64_t timeout, uint16_t flags)
{
    struct subscription s = {.userdata = userdata, .tag = CLOCK};

    s.clock.id = clock;
    s.clock.timeout = timeout;
    s.clock.flags = flags;
    return s;
}

static void
test_clocks(void)
{
    for (uint32_t clock = 0; clock < 2; clock++) {
        uint64_t start = now(1);
        in[0] = after(7, clock, 20 * MS, 0);
        OK(poll_oneoff(P(in), P(out), 1, P(&n)));
        CHECK(n == 1 && out[0].userdata == 7 && out[0].error == 0 &&
              out[0].type == CLOCK);
        CHECK(now(1) - start >= 20 * MS);
        start = now(1);
        in[0] = after(8, clock, now(clock) + 20 * MS, 1);
        OK(poll_oneoff(P(in), P(out), 1, P(&n)));
        CHECK(n == 1 && out[0].userdata == 8);
        CHECK(now(1) - start >= 19 * MS);
        in[0] = after(9, clock, 1, 1); /* long ago */
        OK(poll_oneoff(P(in), P(out), 1, P(&n)));
        CHECK(n == 1 && out[0].userdata == 9);
    }
    in[0] = after(1, 1, 3600ull * 1000 * MS, 0);
    in[1] = after(2, 1, 10 * MS, 0);
    in[2] = after(3, 0, ~0ull, 0);
    OK(poll_oneoff(P(in), P(out), 3, P(&n)));
    CHECK(n == 1 && out[0].userdata == 2);
}

static void
test_files(void)
{
    in[0] = (struct subscription){.userdata = 1, .tag = FD_READ, .fd = 0};
    in[1] = (struct subscription){.userdata = 2, .tag = FD_WRITE, .fd = 1};
    in[2] = after(3, 1, 3600ull * 1000 * MS, 0);
    in[3] = (struct subscription){.userdata = 4, .tag = FD_READ, .fd = 99};
    OK(poll_oneoff(P(in), P(out), 4, P(&n)));
    CHECK(n >= 2);
    for (uint32_t i = 0; i < n; i++) {
        CHECK(out[i].userdata == 1 || out[i].userdata == 2 ||
              out[i].userdata == 4);
        CHECK(out[i].error == (out[i].userdata == 4 ? BADF : 0));
    }
    OK(poll_oneoff(P(in), P(out), 1, P(&n)));
    CHECK(n == 1 && out[0].type == FD_READ && out[0].nbytes >= 1);
    uint32_t fd = 0;
    OK(open_in(3, "tmp", O_DIR, R_DIR, &fd));
    in[0].fd = fd;
    OK(poll_oneoff(P(in), P(out), 1, P(&n)));
    CHECK(n == 1 && out[0].error == NOTCAPABLE);
    make_file(fd, "polled", "12345");
    uint32_t file = 0;
    OK(open_in(fd, "polled", 0, R_READ | R_POLL, &file));
    in[0].fd = file;
    OK(poll_oneoff(P(in), P(out), 1, P(&n)));
    CHECK(n == 1 && out[0].error == 0 && out[0].nbytes == 5);
}

static void
test_errors(void)
{
    in[0] = after(1, 1, 0, 0);
    IS(poll_oneoff(P(in), P(out), 0, P(&n)), INVAL);
    IS(poll_oneoff(P(in), P(out), 0xffffffff, P(&n)), INVAL);
    IS(poll_oneoff(BAD, P(out), 1, P(&n)), FAULT);
    IS(poll_oneoff(P(in), BAD, 1, P(&n)), FAULT);
    IS(poll_oneoff(P(in), P(out), 1, BAD), FAULT);
    in[0] = after(1, 4, 0, 0);
    IS(poll_oneoff(P(in), P(out), 1, P(&n)), INVAL);
    in[0] = after(1, 2, 0, 0);
    IS(poll_oneoff(P(in), P(out), 1, P(&n)), NOTSUP);
    in[0] = after(1, 1, 0, 2);
    IS(poll_oneoff(P(in), P(out), 1, P(&n)), INVAL);
    in[0].tag = 3;
    IS(poll_oneoff(P(in), P(out), 1, P(&n)), INVAL);
}

static void
test_no_sockets(void)
{
    struct iovec32 v = {P(out), 8};
    uint16_t flags;
    uint32_t fd;

    IS(sock_accept(3, 0, P(&fd)), NOTSOCK);
    IS(sock_recv(3, P(&v), 1, 0, P(&n), P(&flags)), NOTSOCK);
    IS(sock_send(3, P(&v), 1, 0, P(&n)), NOTSOCK);
    IS(sock_shutdown(3, 1), NOTSOCK);
    IS(sock_accept(99, 0, P(&fd)), BADF);
    IS(sock_recv(99, P(&v), 1, 0, P(&n), P(&flags)), BADF);
    IS(sock_send(99, P(&v), 1, 0, P(&n)), BADF);
    IS(sock_shutdown(99, 1), BADF);
}

/* Standard input is a pipe: it cannot seek. */
static void
test_pipe(void)
{
    struct iovec32 v = {P(out), 8};
    uint64_t pos;

    IS(fd_seek(0, 0, 0, P(&pos)), SPIPE);
    IS(fd_tell(0, P(&pos)), SPIPE);
    IS(fd_pread(0, P(&v), 1, 0, P(&n)), SPIPE);
    OK(fd_read(0, P(&v), 1, P(&n)));
    CHECK(n == 5 && !memcmp(out, "input", 5));
    OK(fd_read(0, P(&v), 1, P(&n)));
    CHECK(n == 0);
}

int
main(void)
{
    test_clocks();
    test_files();
    test_errors();
    test_no_sockets();
    test_pipe();
    return failures != 0;
}
