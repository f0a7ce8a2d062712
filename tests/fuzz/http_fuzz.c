/* Fuzzes the HTTP server: the input is what clients send, on two connections
 * and in pieces, over a core that answers at once, later, in many lines or
 * never.
 *
 * A piece is a byte (which connection, and what happens after it), one for its
 * length, and so many bytes, in which 0x01 stands for a header with a good
 * token and 0x02 for the rest of a good head. At the end nothing is left. */
#include "alarm.h"
#include "base/buf.h"
#include "base/list.h"
#include "supervisor/config/config.h"
#include "supervisor/front/figures.h"
#include "supervisor/front/http.h"
#include "supervisor/session/client.h"
#include "supervisor/session/supervisor.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { N_CONNECTIONS = 2, PIECES_MAX = 32 };

static struct supervisor sv;
static struct http *http;
static struct list waiting = {&waiting, &waiting}; /* clients */

static void
must(bool ok)
{
    if (!ok)
        abort();
}

/* --- the core */

static void
answer(struct client *c, int lines)
{
    for (int i = 0; i < lines; i++)
        c->ops->send(c, "{\"id\":1,\"result\":{}}", 20);
}

static void
settle(struct client *c)
{
    if (!c->is_gone) {
        c->ops->settled(c);
        return;
    }
    sv.n_clients--;
    c->ops->free(c);
}

void
client_init(struct client *c, struct supervisor *s,
            const struct client_ops *ops)
{
    *c = (struct client){.sv = s, .ops = ops};
    list_init(&c->link);
    s->n_clients++;
}

/* By its last byte but one. */
void
client_line(struct client *c, const char *line, size_t len)
{
    unsigned what = len > 1 ? (unsigned char)line[len - 2] % 4 : 0;
    struct json_doc doc = {0};
    struct json_fault fault;

    if (json_read_copy(&doc, line, len, &fault) == 0)
        c->ops->parsed(c, doc.v);
    json_fini(&doc);
    answer(c, what == 3 ? 1000 : what != 2);
    if (what == 1) {
        list_push_back(&waiting, &c->link);
        c->peer.n_calls = 1;
        return;
    }
    settle(c);
}

void
client_caught_up(struct client *c)
{
    (void)c;
}

void
client_gone(struct client *c)
{
    c->is_gone = true;
    if (!c->peer.n_calls)
        settle(c);
}

static void
release(void)
{
    while (!list_is_empty(&waiting)) {
        struct client *c = CONTAINER_OF(waiting.next, struct client, link);
        list_remove(&c->link);
        c->peer.n_calls = 0;
        if (!c->is_gone)
            answer(c, 1);
        settle(c);
    }
}

void
figures_put(const struct supervisor *s, struct buf *b)
{
    (void)s;
    buf_puts(b, "figures\n");
}

/* --- the loop */

static void
stop(struct reactor_timer *t)
{
    (void)t;
    reactor_stop(&sv.reactor);
}

static void
run_loop(int times)
{
    struct reactor_timer t = {.fire = stop};

    for (int i = 0; i < times; i++) {
        reactor_set_timer(&sv.reactor, &t, 1);
        sv.reactor.is_stopping = false;
        must(reactor_run(&sv.reactor) == 0);
    }
}

/* --- clients */

static int
open_connection(void)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)http_port(http)),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct linger at_once = {1, 0}; /* no port stays taken */
    int hfd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    must(hfd >= 0 && connect(hfd, (struct sockaddr *)&a, sizeof a) == 0);
    must(fcntl(hfd, F_SETFL, O_NONBLOCK) == 0);
    must(setsockopt(hfd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once) == 0);
    return hfd;
}

static void
send_piece(int hfd, const uint8_t *data, size_t n)
{
    struct buf b;

    buf_init(&b, SIZE_MAX);
    for (size_t i = 0; i < n; i++)
        if (data[i] == 1)
            buf_puts(&b, "Authorization: Bearer a-token-of-the-tests\r\n");
        else if (data[i] == 2)
            buf_puts(&b, "Host: x\r\nContent-Type: application/json\r\n"
                         "Content-Length: ");
        else
            buf_add(&b, data + i, 1);
    (void)!write(hfd, b.p, b.len);
    buf_fini(&b);
}

/* What comes begins as an answer does. */
static void
receive(int hfd, bool is_first)
{
    char text[65536];
    ssize_t n = read(hfd, text, sizeof text);

    if (is_first && n >= 8)
        must(!memcmp(text, "HTTP/1.", 7));
    while (n > 0)
        n = read(hfd, text, sizeof text);
}

static void
step(int *hfds, uint8_t what, const uint8_t *data, size_t n)
{
    int *hfd = &hfds[what & 1];
    bool is_new = *hfd < 0;

    if (is_new)
        *hfd = open_connection();
    send_piece(*hfd, data, n);
    run_loop(3);
    if (what & 2)
        release();
    if (what & 4)
        receive(*hfd, is_new);
    if (what & 8)
        (void)shutdown(*hfd, SHUT_WR);
    if (what & 16) {
        close(*hfd);
        *hfd = -1;
    }
    run_loop(2);
}

/* --- beginning and end */

static char token_path[] = "/tmp/http-fuzz-XXXXXX";

static void
remove_tokens(void)
{
    (void)unlink(token_path);
}

static void
begin(void)
{
    char *const words[] = {"--http-enabled",
                           "--http-port=0",
                           "--http-tokens-file",
                           token_path,
                           "--http-body-bytes",
                           "4096",
                           "--log-level",
                           "error",
                           NULL};
    char *const env[] = {NULL};
    struct config *c = NULL;
    struct buf errors;
    int hfd = mkstemp(token_path);

    alarm_restarts_calls();
    must(hfd >= 0 && write(hfd, "a-token-of-the-tests\n", 21) == 21);
    close(hfd);
    must(atexit(remove_tokens) == 0 && signal(SIGPIPE, SIG_IGN) != SIG_ERR);
    buf_init(&errors, SIZE_MAX);
    must(config_read(words, env, &errors, &c) == 0);
    sv.config = c;
    must(reactor_init(&sv.reactor) == 0);
    must(http_new(&sv, &errors, &http) == 0);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int hfds[N_CONNECTIONS] = {-1, -1};

    if (!http)
        begin();
    for (int i = 0; i < PIECES_MAX && size >= 2; i++) {
        size_t n = data[1] < size - 2 ? data[1] : size - 2;
        step(hfds, data[0], data + 2, n);
        data += 2 + n;
        size -= 2 + n;
    }
    for (int i = 0; i < N_CONNECTIONS; i++)
        if (hfds[i] >= 0)
            close(hfds[i]);
    /* The host may take its time to say that they are closed. */
    do {
        run_loop(4);
        release();
    } while (sv.n_clients);
    return 0;
}
