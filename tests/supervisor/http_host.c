/* The HTTP server over a core with a few methods of its own:
 *   echo                 answers with its parameters
 *   hang                 is not answered before
 *   release              which answers all that hang, and says how many
 *   stream {n, bytes}    n notifications of so many bytes, then an answer
 *   stats                clients, and bytes that streams have sent
 * Prints its port, and ends with SIGTERM. */
#include "base/buf.h"
#include "supervisor/config/config.h"
#include "supervisor/front/figures.h"
#include "supervisor/front/http.h"
#include "supervisor/session/client.h"
#include "supervisor/session/supervisor.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* A stream, or a call that hangs. */
struct job {
    struct list link;
    struct client *client;
    int64_t id, left, bytes;
};

static struct list jobs = {&jobs, &jobs};
static uint64_t streamed, behind;

/* --- answers */

static void
send_json(struct client *c, struct buf *b)
{
    if (!c->is_gone)
        c->ops->send(c, b->p, b->len);
    buf_fini(b);
}

static void
settle(struct client *c)
{
    if (c->peer.n_calls || c->is_busy)
        return;
    if (!c->is_gone) {
        c->ops->settled(c);
        return;
    }
    c->sv->n_clients--;
    c->ops->free(c);
}

/* An answer up to its result, which is JSON; a brace follows. */
static void
put_result(struct buf *b, int64_t id, const char *json)
{
    buf_printf(b, "{\"jsonrpc\":\"2.0\",\"id\":%lld,\"result\":%s",
               (long long)id, json);
}

static void
job_end(struct job *j, const char *json)
{
    struct client *c = j->client;
    struct buf b;

    buf_init(&b, SIZE_MAX);
    put_result(&b, j->id, json);
    buf_puts(&b, "}");
    send_json(c, &b);
    list_remove(&j->link);
    free(j);
    c->peer.n_calls--;
    settle(c);
}

static void
job_stream(struct job *j)
{
    while (j->left && !j->client->is_gone) {
        if (j->client->ops->is_behind(j->client)) {
            behind++;
            return;
        }
        struct buf b;
        buf_init(&b, SIZE_MAX);
        buf_puts(&b, "{\"method\":\"output\",\"params\":{\"data\":\"");
        memset(buf_room(&b, (size_t)j->bytes), 'x', (size_t)j->bytes);
        b.len += (size_t)j->bytes;
        buf_printf(&b, "\",\"left\":%lld}}", (long long)j->left);
        send_json(j->client, &b);
        streamed += (uint64_t)j->bytes;
        j->left--;
    }
    job_end(j, "true");
}

static struct job *
job_new(struct client *c, int64_t id, int64_t n, int64_t bytes)
{
    struct job *j = calloc(1, sizeof *j);

    *j = (struct job){.client = c, .id = id, .left = n, .bytes = bytes};
    list_push_back(&jobs, &j->link);
    c->peer.n_calls++;
    return j;
}

/* --- calls */

static void
release(struct reactor_timer *t)
{
    (void)t;
    LIST_FOR_EACH_SAFE(it, &jobs) {
        struct job *j = CONTAINER_OF(it, struct job, link);
        if (!j->bytes)
            job_end(j, "\"released\"");
    }
}

static struct reactor_timer releasing = {.fire = release};

/* Not at once: answers come from the loop, as a worker's do. */
static int64_t
release_soon(struct supervisor *sv)
{
    int64_t n = 0;

    LIST_FOR_EACH(it, &jobs)
        n += !CONTAINER_OF(it, struct job, link)->bytes;
    reactor_set_timer(&sv->reactor, &releasing, time_mono_ns());
    return n;
}

static void
put_stats(struct buf *b, const struct supervisor *sv)
{
    buf_puts(b, "{");
    put_number(b, "clients", sv->n_clients);
    put_number(b, "streamed", streamed);
    put_number(b, "behind", behind);
    buf_puts(b, "}");
}

/* Appends the answer, unless it comes later or never. */
static void
call(struct client *c, const struct json *request, struct buf *b)
{
    const struct json *params = json_get(request, "params");
    struct text method = json_text(json_get(request, "method"));
    int64_t id = json_integer(json_get(request, "id"));
    int64_t bytes = json_integer(json_get(params, "bytes"));

    if (!method.p || !json_get(request, "id"))
        return;
    if (text_is(method, "hang")) {
        (void)job_new(c, id, 0, 0);
        return;
    }
    if (text_is(method, "stream")) {
        job_stream(job_new(c, id, json_integer(json_get(params, "n")),
                           bytes ? bytes : 1));
        return;
    }
    size_t len = b->len;
    buf_puts(b, len > 1 ? "," : "");
    put_result(b, id, "");
    if (text_is(method, "echo") && params)
        json_put(b, params);
    else if (text_is(method, "echo"))
        buf_puts(b, "null");
    else if (text_is(method, "release"))
        buf_printf(b, "%lld", (long long)release_soon(c->sv));
    else if (text_is(method, "stats"))
        put_stats(b, c->sv);
    buf_puts(b, "}");
    if (b->p[b->len - 2] == ':')
        b->len = len; /* no such method */
}

static void
answer_line(struct client *c, const struct json *root)
{
    bool is_batch = json_is(root, JSON_ARRAY);
    struct buf b;

    buf_init(&b, SIZE_MAX);
    if (is_batch) {
        buf_puts(&b, "[");
        JSON_EACH(request, root)
            call(c, request, &b);
        buf_puts(&b, b.len > 1 ? "]" : "");
    } else {
        call(c, root, &b);
    }
    if (b.len > 1)
        send_json(c, &b);
    buf_fini(&b);
}

void
client_line(struct client *c, const char *line, size_t len)
{
    struct json_doc doc = {0};
    struct json_fault fault;
    struct buf b;

    c->is_busy = true;
    if (json_read_copy(&doc, line, len, &fault) == 0) {
        c->ops->parsed(c, doc.v);
        answer_line(c, doc.v);
    } else {
        buf_init(&b, SIZE_MAX);
        put_error(&b, NULL, PARSE_ERROR, fault.text);
        b.len--;
        send_json(c, &b);
    }
    json_fini(&doc);
    c->is_busy = false;
    settle(c);
}

void
client_init(struct client *c, struct supervisor *sv,
            const struct client_ops *ops)
{
    *c = (struct client){.sv = sv, .ops = ops};
    sv->n_clients++;
}

void
client_caught_up(struct client *c)
{
    LIST_FOR_EACH(it, &jobs) {
        struct job *j = CONTAINER_OF(it, struct job, link);
        if (j->client == c && j->bytes) {
            job_stream(j);
            return;
        }
    }
}

void
client_gone(struct client *c)
{
    c->is_gone = true;
    LIST_FOR_EACH(it, &jobs) {
        struct job *j = CONTAINER_OF(it, struct job, link);
        if (j->client == c && j->bytes) {
            job_end(j, "null");
            return;
        }
    }
    settle(c);
}

/* --- figures */

void
figures_put(const struct supervisor *s, struct buf *b)
{
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (!f || fscanf(f, "%*d %ld", &pages) != 1)
        abort();
    fclose(f);
    metrics_family(b, "clients", "gauge", "Of the fake core.");
    metrics_value(b, "clients", NULL, s->n_clients);
    metrics_family(b, "resident_bytes", "gauge", "Memory.");
    metrics_value(b, "resident_bytes", NULL, (uint64_t)pages << 12);
}

/* --- the program */

static struct supervisor sv;

static void
on_signal(struct source *s, uint32_t events)
{
    (void)s;
    (void)events;
    reactor_stop(&sv.reactor);
}

static int
serve(struct http *http)
{
    struct source signals = {.hfd = -1, .ready = on_signal};
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    (void)sigprocmask(SIG_SETMASK, &set, NULL);
    (void)signal(SIGPIPE, SIG_IGN);
    if (reactor_add(&sv.reactor, &signals, signalfd(-1, &set, 0), EPOLLIN) < 0)
        return 1;
    printf("%d\n", http_port(http));
    fflush(stdout);
    int r = reactor_run(&sv.reactor);
    http_free(http);
    release(&releasing);
    close(signals.hfd);
    return r < 0 || sv.n_clients;
}

int
main(int argc, char **argv)
{
    struct config *config = NULL;
    struct http *http = NULL;
    struct buf errors;

    (void)argc;
    buf_init(&errors, 65536);
    if (reactor_init(&sv.reactor) < 0 ||
        config_read(argv + 1, environ, &errors, &config) < 0)
        goto bad;
    sv.config = config;
    list_init(&sv.clients);
    if (http_new(&sv, &errors, &http) < 0)
        goto bad;
    int status = serve(http);
    reactor_fini(&sv.reactor);
    config_free(config);
    buf_fini(&errors);
    return status;
bad:
    config_print_errors(&errors);
    config_free(config);
    buf_fini(&errors);
    return 2;
}
