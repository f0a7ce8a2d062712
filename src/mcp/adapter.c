/* MCP as a front end of the core (wire/README.md), before the server of
 * src/rpc, which runs on a thread of this process.
 *
 * A call of MCP is answered here, or becomes requests to the server through a
 * pipe. The server delivers its answers on threads of its own, which only add
 * them to the inbox. All other state belongs to the loop, so it needs no
 * locks, and no request can wait for a thread that waits for it. */
#include "mcp/adapter.h"

#include "base/hfd.h"
#include "base/os_time.h"
#include "base/version.h"
#include "mcp/adapter_impl.h"
#include "wasmsand.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define META "io.modelcontextprotocol/"
enum {
    LINE_BYTES_MAX = 32 << 20, /* of the client */
    CALLS_MAX = 64,
    GRACE_MS = 1000,  /* for calls at the end of input */
    DRAIN_MS = 10000, /* for a client that reads slowly, after that */
    NOT_SUPPORTED = -32022,
};

static const char *const versions[] = {"2026-07-28", "2025-11-25", "2025-06-18",
                                       "2025-03-26", "2024-11-05"};
static const char instructions[] =
    "A Linux sandbox with bash, GNU tools, git and Python. Files are under "
    "/home/user and stay until this server ends. Without sandbox_id, all calls "
    "use one default sandbox.";

/* --- results */

struct buf *
adapter_begin(struct call *q)
{
    struct buf *b = answer_begin(q);

    buf_puts(b, "{");
    return b;
}

void
adapter_end(OWN struct call *q)
{
    struct buf *b = &q->answer;

    if (adapter_call_of(q)->is_modern) {
        put_member(b, "resultType", "complete");
        buf_puts(b, ",\"_meta\":{\"" META "serverInfo\":{");
        put_member(b, "name", "wasmsand");
        put_member(b, "version", wsand_version());
        buf_puts(b, "}}");
    }
    buf_puts(b, "}");
    answer_end(q);
}

static void
adapter_put_cache(struct call *q)
{
    if (!adapter_call_of(q)->is_modern)
        return;
    put_number(&q->answer, "ttlMs", 60000);
    put_member(&q->answer, "cacheScope", "public");
}

/* --- methods without the server */

static void
do_initialize(struct call *q)
{
    struct text want = param_string(q, "protocolVersion");
    struct buf *b = answer_begin(q);
    const char *version = versions[1];

    for (size_t i = 1; i < sizeof versions / sizeof *versions; i++)
        if (want.p && text_is(want, versions[i]))
            version = versions[i];
    buf_puts(b, "{");
    put_member(b, "protocolVersion", version);
    buf_puts(b, ",\"capabilities\":{\"tools\":{}},\"serverInfo\":{");
    put_member(b, "name", "wasmsand");
    put_member(b, "version", wsand_version());
    buf_puts(b, "}");
    put_member(b, "instructions", instructions);
    adapter_end(q);
}

static void
do_discover(struct call *q)
{
    struct buf *b = answer_begin(q);

    buf_puts(b, "{\"supportedVersions\":[");
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        buf_puts(b, i ? "," : "");
        put_text(b, versions[i]);
    }
    buf_puts(b, "],\"capabilities\":{\"tools\":{}}");
    put_member(b, "instructions", instructions);
    adapter_put_cache(q);
    adapter_end(q);
}

static void
do_nothing(struct call *q)
{
    buf_puts(answer_begin(q), "{");
    adapter_end(q);
}

static void
do_tools_list(struct call *q)
{
    struct buf *b = answer_begin(q);

    buf_puts(b, "{\"tools\":");
    tool_put_list(b);
    adapter_put_cache(q);
    adapter_end(q);
}

/* --- requests to the server */

void
adapter_fail(OWN struct call *q, const char *text)
{
    struct buf *b = adapter_begin(q);

    buf_puts(b, "\"content\":[{\"type\":\"text\",\"text\":");
    put_text(b, text);
    buf_puts(b, "}]");
    put_bool(b, "isError", true);
    adapter_end(q);
}

/* Sends a request and returns its id; 0: the server gets no more. */
static uint64_t
adapter_send_request(struct adapter *d, const char *method, const char *params,
                     size_t len)
{
    uint64_t id = d->last_id + 1;
    struct buf b;

    buf_init(&b, SIZE_MAX);
    buf_printf(&b, "{\"jsonrpc\":\"2.0\",\"id\":%" PRIu64, id);
    put_member(&b, "method", method);
    put_name(&b, "params");
    buf_add(&b, params, len);
    buf_puts(&b, "}\n");
    bool is_fine = !b.error && !d->is_closed;
    if (is_fine) {
        d->last_id = id;
        writer_put(&d->server, b.p, b.len, false);
    }
    buf_fini(&b);
    return is_fine ? id : 0;
}

void
adapter_ask(OWN struct call *q, const char *method, const struct buf *params)
{
    struct adapter *d = adapter_of(q);

    uint64_t id = params->error
                      ? 0
                      : adapter_send_request(d, method, params->p, params->len);
    if (!id) {
        adapter_fail(q, params->error ? "out of memory" : "the server ends");
        return;
    }
    adapter_call_of(q)->id = id;
    list_push_back(&d->pending, &q->link);
}

/* --- calls of tools */

static bool
is_same_sandbox(const struct call *a, const struct call *b)
{
    struct text x = json_text(adapter_arg(a, "sandbox_id"));
    struct text y = json_text(adapter_arg(b, "sandbox_id"));

    return x.len == y.len && (!x.len || !memcmp(x.p, y.p, x.len));
}

/* An edit is two requests to the server. No other call to its sandbox may come
 * between them, or its changes would be lost. */
static bool
adapter_must_hold(struct adapter *d, const struct call *q)
{
    if (d->sandbox != SANDBOX_READY)
        return true;
    LIST_FOR_EACH(it, &d->pending) {
        const struct call *other = CONTAINER_OF(it, struct call, link);
        if (adapter_call_of(other)->tool->done == done_edit_file &&
            is_same_sandbox(other, q))
            return true;
    }
    return false;
}

static void
put_file_params(struct buf *b, const struct call *q)
{
    struct text data = json_text(adapter_arg(q, "content"));

    put_name(b, "data");
    if (text_is(json_text(adapter_arg(q, "encoding")), "base64"))
        put_string(b, data.p, data.len);
    else
        put_base64(b, data.p, data.len);
    put_bool(b, "parents", true);
}

static void
adapter_begin_tool(OWN struct call *q)
{
    const struct adapter_call *c = adapter_call_of(q);
    struct buf p;

    buf_init(&p, SIZE_MAX);
    buf_puts(&p, "{");
    tool_put_params(&p, c->tool, c->args);
    if (!strcmp(c->tool->method, "files.write"))
        put_file_params(&p, q);
    if (!strcmp(c->tool->method, "files.read"))
        put_number(&p, "length", FILE_BYTES_MAX + 1);
    if (!strcmp(c->tool->method, "run"))
        put_member(&p, "keep", "ends");
    buf_puts(&p, "}");
    adapter_ask(q, c->tool->method, &p);
    buf_fini(&p);
}

/* Begins the held calls that need not wait any more, in their order. */
static void
adapter_release(struct adapter *d)
{
    LIST_FOR_EACH_SAFE(it, &d->held) {
        struct call *q = CONTAINER_OF(it, struct call, link);
        if (adapter_must_hold(d, q))
            continue;
        list_remove(it);
        adapter_begin_tool(q);
    }
}

/* Ends all calls of a list with an error. */
static void
adapter_fail_all(struct list *calls, const char *text)
{
    LIST_FOR_EACH_SAFE(it, calls) {
        list_remove(it);
        adapter_fail(CONTAINER_OF(it, struct call, link), text);
    }
}

/* The default sandbox is made at the first call. */
static void
adapter_need_sandbox(struct adapter *d)
{
    if (d->sandbox != SANDBOX_ABSENT)
        return;
    d->create_id =
        adapter_send_request(d, "create", d->create, strlen(d->create));
    if (d->create_id)
        d->sandbox = SANDBOX_CREATING;
    else
        adapter_fail_all(&d->held, "the server ends");
}

/* After a failure, the next call tries again. */
static void
adapter_created(struct adapter *d, const char *error)
{
    char text[ANSWER_TEXT_BYTES];

    d->create_id = 0;
    d->sandbox = error ? SANDBOX_ABSENT : SANDBOX_READY;
    (void)snprintf(text, sizeof text, "The sandbox cannot be created: %s",
                   error ? error : "");
    if (error)
        adapter_fail_all(&d->held, text);
    else
        adapter_release(d);
}

static void
do_tools_call(struct call *q)
{
    struct adapter_call *c = adapter_call_of(q);
    struct adapter *d = adapter_of(q);
    char error[PARAM_ERROR_BYTES];

    c->tool = tool_find(param_string(q, "name"));
    if (!c->tool) {
        answer_error(q, INVALID_PARAMS, "Unknown tool: %.200s",
                     param_text(q, "name") ? param_text(q, "name") : "");
        return;
    }
    c->args = param(q, "arguments");
    if (tool_check(c->tool, c->args, error) < 0) {
        adapter_fail(q, error);
        return;
    }
    if (!adapter_must_hold(d, q)) {
        adapter_begin_tool(q);
        return;
    }
    list_push_back(&d->held, &q->link);
    adapter_need_sandbox(d);
}

/* --- cancelling */

static struct call *
adapter_find_call(struct list *calls, const char *id)
{
    LIST_FOR_EACH(it, calls) {
        struct call *q = CONTAINER_OF(it, struct call, link);
        if (q->id && id_equals(q->id, id))
            return q;
    }
    return NULL;
}

static bool
is_tools_call(const void *arg, const struct method *m,
              const struct json *params)
{
    (void)arg;
    (void)params;
    return m->handle == do_tools_call;
}

/* Stops the command of a call, if there is one. The server answers the call
 * then, and adapter_finish drops the answer. */
static void
adapter_cancel_pending(struct adapter *d, struct call *q)
{
    const struct json *sandbox = adapter_arg(q, "sandbox_id");
    struct buf p;

    buf_init(&p, SIZE_MAX);
    buf_printf(&p, "{\"requestId\":%" PRIu64, adapter_call_of(q)->id);
    if (sandbox) {
        put_name(&p, "sandboxId");
        json_put(&p, sandbox);
    }
    buf_puts(&p, "}");
    if (!p.error)
        (void)adapter_send_request(d, "cancel", p.p, p.len);
    buf_fini(&p);
}

/* A call that was cancelled gets no answer, as the protocol demands. */
static void
adapter_cancel(struct adapter *d, const char *id)
{
    const struct waiting_run w = {id, "", is_tools_call, NULL};
    struct call *q = adapter_find_call(&d->pending, id);

    if (q) {
        adapter_call_of(q)->is_cancelled = true;
        adapter_cancel_pending(d, q);
        return;
    }
    q = adapter_find_call(&d->held, id);
    if (!q) {
        (void)peer_cancel_waiting(&d->peer, &w);
        return;
    }
    adapter_call_of(q)->is_cancelled = true;
    list_remove(&q->link);
    adapter_fail(q, "cancelled");
}

static void
do_cancelled(struct call *q)
{
    const struct json *id = param(q, "requestId");
    char *text = id ? message_id(id) : NULL;

    if (text)
        adapter_cancel(adapter_of(q), text);
    free(text);
    answer_ok(q);
}

/* --- answers of the server */

static struct call *
adapter_take_pending(struct adapter *d, uint64_t id)
{
    LIST_FOR_EACH_SAFE(it, &d->pending) {
        struct call *q = CONTAINER_OF(it, struct call, link);
        if (adapter_call_of(q)->id == id) {
            list_remove(it);
            return q;
        }
    }
    return NULL;
}

/* Answers to requests that no call waits for are dropped. */
static void
adapter_take_answer(struct adapter *d, const struct json *m)
{
    const char *error = json_text(json_get(json_get(m, "error"), "message")).p;
    const struct json *result = error ? NULL : json_get(m, "result");
    uint64_t id = (uint64_t)json_integer(json_get(m, "id"));

    if (!id)
        return;
    if (id == d->create_id) {
        adapter_created(d, error);
        return;
    }
    struct call *q = adapter_take_pending(d, id);
    if (!q)
        return;
    struct adapter_call *c = adapter_call_of(q);
    if (!result && !error)
        error = "the server gave no result";
    (c->step ? c->step : c->tool->done)(q, result, error);
    adapter_release(d);
}

static void
adapter_take_inbox(struct adapter *d)
{
    struct json_fault fault;
    struct json_doc doc;
    struct buf b;

    pthread_mutex_lock(&d->lock);
    b = d->inbox;
    buf_init(&d->inbox, SIZE_MAX);
    pthread_mutex_unlock(&d->lock);
    if (b.error)
        adapter_fail_all(&d->pending, "out of memory");
    const char *at = b.p, *end = b.len ? b.p + b.len : b.p;
    for (const char *nl;
         at < end && (nl = memchr(at, '\n', (size_t)(end - at))); at = nl + 1) {
        if (json_read_copy(&doc, at, (size_t)(nl - at), &fault) < 0)
            continue;
        adapter_take_answer(d, doc.v);
        json_fini(&doc);
    }
    buf_fini(&b);
}

static void
adapter_wake(const struct adapter *d)
{
    uint64_t one = 1;
    ssize_t n = write(d->wake_hfd, &one, sizeof one);

    (void)n; /* a full counter wakes too */
}

/* On a thread of the server, which must not wait: lines, with newlines. */
static void
adapter_deliver(void *arg, const char *bytes, size_t len)
{
    struct adapter *d = arg;

    pthread_mutex_lock(&d->lock);
    buf_add(&d->inbox, bytes, len);
    pthread_mutex_unlock(&d->lock);
    adapter_wake(d);
}

/* --- the table of the core */

static const struct method methods[] = {
#define ROW(n, f, fl)                                                  \
    {                                                                  \
        .name = n, .name_len = sizeof n - 1, .handle = f, .flags = fl, \
        .where = SERVER                                                \
    }
    ROW("initialize", do_initialize, 0),
    ROW("server/discover", do_discover, 0),
    ROW("ping", do_nothing, URGENT),
    ROW("tools/list", do_tools_list, 0),
    ROW("tools/call", do_tools_call, 0),
    ROW("notifications/cancelled", do_cancelled, URGENT),
};
static const struct method_table table = {
    .rows = methods, .n = sizeof methods / sizeof *methods, .where = SERVER};

static struct call *
adapter_alloc(struct peer *p)
{
    struct adapter_call *c = calloc(1, sizeof *c);

    (void)p;
    return c ? &c->call : NULL;
}

static void
adapter_free(OWN struct call *q)
{
    free(adapter_call_of(q)->kept);
    free(adapter_call_of(q));
}

static void
adapter_refuse_version(OWN struct call *q, const struct json *wanted)
{
    struct buf b;

    buf_init(&b, SIZE_MAX);
    buf_printf(&b, "{\"code\":%d", NOT_SUPPORTED);
    put_member(&b, "message", "Unsupported protocol version");
    put_name(&b, "data");
    buf_puts(&b, "{\"supported\":[");
    for (size_t i = 0; i < sizeof versions / sizeof *versions; i++) {
        buf_puts(&b, i ? "," : "");
        put_text(&b, versions[i]);
    }
    buf_puts(&b, "],\"requested\":");
    json_put(&b, wanted);
    buf_puts(&b, "}}");
    answer_pass(q, (struct text){"error", 5}, (struct text){b.p, b.len});
    if (b.error)
        q->answer.error = b.error;
    buf_fini(&b);
    answer_end(q);
}

/* A request that names a version in _meta is of the modern era. Notifications
 * of requests would have no answer, so they are ignored. */
static void
adapter_serve(OWN struct call *q)
{
    struct adapter *d = adapter_of(q);
    const struct json *meta = json_get(q->params, "_meta");
    const struct json *v = json_get(meta, META "protocolVersion");

    adapter_call_of(q)->is_modern = v;
    if (q->id && backlog_was_cancelled(&d->peer.waiting, "", q->id)) {
        adapter_call_of(q)->is_cancelled = true;
        answer_ok(q);
    } else if (!q->id && q->method->handle != do_cancelled) {
        answer_ok(q);
    } else if (v && !text_is(json_text(v), versions[0])) {
        adapter_refuse_version(q, v);
    } else if (v && q->id &&
               !json_is(json_get(meta, META "clientCapabilities"),
                        JSON_OBJECT)) {
        answer_error(q, INVALID_PARAMS,
                     "Missing required param: _meta." META
                     "clientCapabilities");
    } else {
        q->method->handle(q);
    }
}

static void
adapter_finish(OWN struct call *q)
{
    if (adapter_call_of(q)->is_cancelled || !q->id)
        q->answer.len = 0;
    answer_send(q);
}

static void
adapter_answered(struct peer *p)
{
    (void)p;
}

static void
adapter_send(struct peer *p, const char *line, size_t len, bool may_wait)
{
    (void)may_wait;
    writer_put(&CONTAINER_OF(p, struct adapter, peer)->out, line, len, false);
}

static bool
adapter_is_behind(struct peer *p)
{
    return writer_is_behind(&CONTAINER_OF(p, struct adapter, peer)->out);
}

static const struct peer_ops ops = {.calls_max = CALLS_MAX,
                                    .bytes_max = 64 << 20,
                                    .urgent_max = 4096,
                                    .alloc = adapter_alloc,
                                    .serve = adapter_serve,
                                    .finish = adapter_finish,
                                    .free = adapter_free,
                                    .answered = adapter_answered,
                                    .send = adapter_send,
                                    .is_behind = adapter_is_behind};

/* --- the loop */

static void
adapter_take_lines(struct adapter *d)
{
    enum frame_event e;
    char *line;
    size_t len;

    while (peer_take_waiting(&d->peer))
        ;
    while ((e = frame_next(&d->in, &line, &len)) != FRAME_MORE)
        if (e == FRAME_LINE)
            peer_line(&d->peer, line, len);
        else
            peer_too_large(&d->peer, d->in.max);
}

/* Tells the server that no request follows. It cancels what still runs, and
 * ends. */
static void
adapter_close_server(struct adapter *d)
{
    if (d->is_closed)
        return;
    d->is_closed = true;
    writer_fini(&d->server);
}

static bool
adapter_is_idle(struct adapter *d)
{
    return !d->peer.n_calls && backlog_is_empty(&d->peer.waiting) &&
           !writer_has_more(&d->server);
}

/* Waits for the next event and serves it. until_ns: when calls are no longer
 * waited for; 0: the input is open. False: the input has ended. */
static bool
adapter_turn(struct adapter *d, int64_t until_ns)
{
    bool reads = !until_ns && !peer_is_stuck(&d->peer);
    int64_t left_ms = (until_ns - time_mono_ns()) / NS_PER_MS + 1;
    bool has_time = until_ns && !d->is_closed;
    uint64_t n;

    struct pollfd p[] = {
        {reads ? STDIN_FILENO : -1, POLLIN, 0},
        {d->wake_hfd, POLLIN, 0},
        {writer_has_more(&d->out) ? d->out.out.hfd : -1, POLLOUT, 0},
        {!d->is_closed && writer_has_more(&d->server) ? d->server.out.hfd : -1,
         POLLOUT, 0}};
    if (poll(p, 4, !has_time ? -1 : left_ms > 0 ? (int)left_ms : 0) < 0)
        return true;
    if (p[1].revents && read(d->wake_hfd, &n, sizeof n) < 0)
        return true; /* another wake-up follows */
    writer_flush(&d->out);
    if (!d->is_closed)
        writer_flush(&d->server);
    adapter_take_inbox(d);
    int r = p[0].revents ? frame_read(&d->in, STDIN_FILENO, true) : 1;
    bool is_open = r > 0 || r == -EINTR || r == -EAGAIN;
    if (!is_open)
        frame_end(&d->in);
    adapter_take_lines(d);
    return is_open;
}

/* Until the end of input, and then until all calls are answered, or their time
 * is over, and the server has ended. */
static void
adapter_loop(struct adapter *d)
{
    int64_t until_ns = 0;

    while (!d->server_is_gone) {
        if (!adapter_turn(d, until_ns))
            until_ns = time_mono_ns() + GRACE_MS * NS_PER_MS;
        if (writer_is_broken(&d->out) ||
            (until_ns && (adapter_is_idle(d) || time_mono_ns() >= until_ns)))
            adapter_close_server(d);
    }
    adapter_take_inbox(d);
    adapter_fail_all(&d->pending, "the server has ended");
    adapter_fail_all(&d->held, "the server has ended");
}

/* Sends the rest of the output, as far as the client reads it. */
static void
adapter_drain(struct adapter *d)
{
    while (writer_has_more(&d->out) && !writer_is_broken(&d->out)) {
        struct pollfd p = {d->out.out.hfd, POLLOUT, 0};
        if (poll(&p, 1, DRAIN_MS) <= 0)
            return;
        writer_flush(&d->out);
    }
}

static void *
adapter_serve_thread(void *arg)
{
    struct adapter *d = arg;
    intptr_t status = server_main(&d->options, d->server_hfds[0], -1);

    d->server_is_gone = true;
    adapter_wake(d);
    return (void *)status;
}

static bool
adapter_init(struct adapter *d, const struct server_options *o,
             const char *create)
{
    d->options = *o;
    d->options.deliver = adapter_deliver;
    d->options.deliver_arg = d;
    d->options.grace_ms = 1; /* the loop has waited before */
    d->create = create;
    d->wake_hfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    list_init(&d->pending);
    list_init(&d->held);
    (void)pthread_mutex_init(&d->lock, NULL);
    buf_init(&d->inbox, SIZE_MAX);
    frame_init(&d->in, LINE_BYTES_MAX);
    writer_init(&d->out, STDOUT_FILENO, d->wake_hfd);
    peer_init(&d->peer, &ops, &table);
    if (d->wake_hfd < 0 || pipe2(d->server_hfds, O_CLOEXEC) < 0)
        return false;
    writer_init(&d->server, d->server_hfds[1], d->wake_hfd);
    (void)close(d->server_hfds[1]);
    return true;
}

int
adapter_main(const struct server_options *o, const char *create)
{
    static struct adapter d;
    pthread_t thread;
    void *status = NULL;

    (void)signal(SIGPIPE, SIG_IGN);
    if (!adapter_init(&d, o, create) ||
        pthread_create(&thread, NULL, adapter_serve_thread, &d) != 0)
        return 2;
    adapter_loop(&d);
    (void)pthread_join(thread, &status);
    adapter_drain(&d);
    adapter_close_server(&d);
    peer_fini(&d.peer);
    frame_fini(&d.in);
    writer_fini(&d.out);
    buf_fini(&d.inbox);
    (void)close(d.server_hfds[0]);
    (void)close(d.wake_hfd);
    (void)pthread_mutex_destroy(&d.lock);
    return (int)(intptr_t)status;
}
