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
    json_int_t id, left, bytes;
};

static struct list jobs = {&jobs, &jobs};
static uint64_t streamed, behind;

/* --- answers */

static void
send_json(struct client *c, OWN json_t *json)
{
    char *text = json_dumps(json, JSON_COMPACT);

    if (!c->is_gone)
        c->ops->send(c, text, strlen(text));
    free(text);
    json_decref(json);
}

static void
settle(struct client *c)
{
    if (c->n_calls || c->is_busy)
        return;
    if (!c->is_gone) {
        c->ops->settled(c);
        return;
    }
    c->sv->n_clients--;
    c->ops->free(c);
}

static json_t *
result(json_int_t id, OWN json_t *value)
{
    return json_pack("{s:s,s:I,s:o}", "jsonrpc", "2.0", "id", id, "result",
                     value);
}

static void
job_end(struct job *j, OWN json_t *value)
{
    struct client *c = j->client;

    send_json(c, result(j->id, value));
    list_remove(&j->link);
    free(j);
    c->n_calls--;
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
        char *data = malloc((size_t)j->bytes + 1);
        memset(data, 'x', (size_t)j->bytes);
        data[j->bytes] = 0;
        send_json(j->client,
                  json_pack("{s:s,s:{s:s,s:I}}", "method", "output", "params",
                            "data", data, "left", j->left));
        free(data);
        streamed += (uint64_t)j->bytes;
        j->left--;
    }
    job_end(j, json_true());
}

static struct job *
job_new(struct client *c, json_int_t id, json_int_t n, json_int_t bytes)
{
    struct job *j = calloc(1, sizeof *j);

    *j = (struct job){.client = c, .id = id, .left = n, .bytes = bytes};
    list_push_back(&jobs, &j->link);
    c->n_calls++;
    return j;
}

/* --- calls */

static void
release(struct timer *t)
{
    (void)t;
    LIST_FOR_EACH_SAFE(it, &jobs) {
        struct job *j = CONTAINER_OF(it, struct job, link);
        if (!j->bytes)
            job_end(j, json_string("released"));
    }
}

static struct timer releasing = {.fire = release};

/* Not at once: answers come from the loop, as a worker's do. */
static json_t *
release_soon(struct supervisor *sv)
{
    json_int_t n = 0;

    LIST_FOR_EACH(it, &jobs)
        n += !CONTAINER_OF(it, struct job, link)->bytes;
    reactor_set_timer(&sv->reactor, &releasing, time_mono_ns());
    return json_integer(n);
}

/* The answer, or NULL: it comes later, or never. */
static json_t *
call(struct client *c, json_t *request)
{
    const char *method = json_string_value(json_object_get(request, "method"));
    json_t *params = json_object_get(request, "params");
    const json_t *id_json = json_object_get(request, "id");
    json_int_t id = json_integer_value(id_json), n = 0, bytes = 1;

    if (!method || !id_json)
        return NULL;
    if (!strcmp(method, "echo"))
        return result(id, params ? json_incref(params) : json_null());
    if (!strcmp(method, "release"))
        return result(id, release_soon(c->sv));
    if (!strcmp(method, "stats"))
        return result(id, json_pack("{s:I,s:I,s:I}", "clients",
                                    (json_int_t)c->sv->n_clients, "streamed",
                                    (json_int_t)streamed, "behind",
                                    (json_int_t)behind));
    if (!strcmp(method, "hang")) {
        (void)job_new(c, id, 0, 0);
    } else if (!strcmp(method, "stream")) {
        (void)json_unpack(params, "{s:I,s?I}", "n", &n, "bytes", &bytes);
        job_stream(job_new(c, id, n, bytes));
    }
    return NULL;
}

void
client_line(struct client *c, const char *line, size_t len)
{
    json_error_t e;
    size_t i;
    json_t *one, *root = json_loadb(line, len, 0, &e);
    json_t *list = json_array();

    c->is_busy = true;
    json_array_foreach(root, i, one)(void)
        json_array_append_new(list, call(c, one));
    if (json_array_size(list))
        send_json(c, json_incref(list));
    one = json_is_object(root) ? call(c, root) : NULL;
    if (one)
        send_json(c, one);
    if (!root)
        send_json(c, json_pack("{s:n,s:{s:i,s:s}}", "id", "error", "code",
                               -32700, "message", e.text));
    json_decref(root);
    json_decref(list);
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
            job_end(j, json_null());
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
