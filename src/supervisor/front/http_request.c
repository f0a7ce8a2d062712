/* An HTTP request: its authorisation, its body, its client.
 *
 * Problem: guessing tokens must be slow, but a delay for each failure must not
 * become an attack on memory, nor delay clients with a token.
 *
 * Idea: a token bucket for all failures together. A burst is answered at once,
 * later failures wait in a list, and beyond ten seconds of delay the connection
 * is closed without an answer. Requests with a token never wait there. */
#include "supervisor/front/http_impl.h"

#include "base/json.h"
#include "base/version.h"
#include "supervisor/front/figures.h"
#include "supervisor/session/say.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    BODIES_BYTES = 64 << 20,
    METRICS_BYTES = 1 << 20,
    ERRORS_BYTES = 65536,
    FAILURES_BURST = 20,
};
/* Ten failures a second, and the maximum delay. */
static const int64_t failure_ns = 100000000, failure_most_ns = 10000000000;

/* --- the paths and their rights */
static const struct {
    const char *url, *method;
    bool is_open; /* to those without a token */
} paths[] = {
    [PATH_rpc] = {"/rpc", "POST", false},
    [PATH_health] = {"/health", "GET", true},
    [PATH_metrics] = {"/metrics", "GET", false},
};

const char *
http_request_method(const struct http_request *r)
{
    return paths[r->path].method;
}

/* Returns PATH_other for an unknown path. */
static enum http_path
http_request_find_path(const char *url)
{
    enum http_path p = 0;

    while (p < PATH_other && strcmp(paths[p].url, url) != 0)
        p++;
    return p;
}

static const char *
http_request_header(const struct http_request *r, const char *name)
{
    return r->http->mhd.lookup_connection_value(r->mhd, MHD_HEADER_KIND, name);
}

/* Browsers cannot send this type to another site without asking first, so a
 * page of somebody else cannot make requests in a user's name. */
static bool
http_request_is_json(const char *type)
{
    static const char json[] = "application/json";

    return type && !strncasecmp(type, json, sizeof json - 1) &&
           strchr("; \t", type[sizeof json - 1]);
}

/* A request that announces too many bytes is rejected before they are sent. */
static bool
http_request_is_too_long(const struct http_request *r)
{
    const char *length = http_request_header(r, "Content-Length");

    return length &&
           strtoull(length, NULL, 10) > r->http->sv->config->http_body_bytes;
}

static enum MHD_Result
http_request_count_length(void *arg, enum MHD_ValueKind kind, const char *name,
                          const char *value)
{
    (void)kind;
    (void)value;
    *(int *)arg += !strcasecmp(name, "Content-Length") ||
                   !strcasecmp(name, "Transfer-Encoding");
    return MHD_YES;
}

/* A proxy in front of us may have used the other length, and would see another
 * request than we do (request smuggling). */
static bool
http_request_has_two_lengths(const struct http_request *r)
{
    int n = 0;

    (void)r->http->mhd.get_connection_values(r->mhd, MHD_HEADER_KIND,
                                             http_request_count_length, &n);
    return n > 1;
}

/* HEAD is GET without a body. */
static bool
http_request_is_method(const struct http_request *r, const char *method)
{
    const char *right = paths[r->path].method;

    return !strcmp(method, right) ||
           (!strcmp(method, "HEAD") && !strcmp(right, "GET"));
}

/* The file may change at any time. A file with errors changes nothing. */
static void
http_request_refresh_tokens(struct http *h)
{
    const char *path = h->sv->config->http_tokens_file;
    CLEANUP(buf_fini) struct buf errors;

    buf_init(&errors, ERRORS_BYTES);
    if (!tokens_are_old(&h->tokens, path))
        return;
    int r = tokens_read(&h->tokens, path, &errors);
    buf_add(&errors, "", 1);
    if (r != 0)
        say(h->sv, LEVEL_error,
            "http: the file of tokens has errors, the old tokens stay valid: "
            "%s",
            errors.error ? "out of memory" : errors.p);
    else
        say(h->sv, LEVEL_info, "http: read %zu tokens", h->tokens.n);
}

/* A valid token makes the connection trusted, also for a path that needs
 * none. */
static bool
http_request_has_token(struct http_request *r)
{
    http_request_refresh_tokens(r->http);
    bool ok =
        tokens_find(&r->http->tokens, http_request_header(r, "Authorization"));
    http_conn_trust(r->conn, ok);
    return ok || paths[r->path].is_open;
}

/* The order matters: a stranger learns the paths, but nothing about the load or
 * the limits. */
static enum http_status
http_request_judge(struct http_request *r, const char *method)
{
    if (r->path == PATH_other)
        return STATUS_404;
    if (!http_request_is_method(r, method))
        return STATUS_405;
    if (!http_request_has_token(r))
        return STATUS_401;
    if (r->http->n_trusted > r->http->sv->config->http_connections)
        return STATUS_503;
    if (r->path == PATH_rpc &&
        !http_request_is_json(http_request_header(r, "Content-Type")))
        return STATUS_415;
    return http_request_is_too_long(r) ? STATUS_413 : STATUS_200;
}

/* --- failures to show a token */

/* Returns the delay of an answer, or -1 if too many are waiting. failure_at_ns
 * is the time at which the bucket is empty. */
static int64_t
http_request_failure_delay(struct http *h, int64_t now)
{
    int64_t at = h->failure_at_ns > now ? h->failure_at_ns : now;
    int64_t delay = at - now - FAILURES_BURST * failure_ns;

    if (delay > failure_most_ns)
        return -1;
    h->failure_at_ns = at + failure_ns;
    return delay > 0 ? delay : 0;
}

/* The other side waits for us now, so its deadline ends. */
void
http_request_suspend(struct http_request *r)
{
    r->is_suspended = true;
    r->http->mhd.suspend_connection(r->mhd);
    http_conn_wait(r->conn);
}

/* libmicrohttpd notices a resumed connection only in its next turn. */
void
http_request_resume(struct http_request *r)
{
    list_remove(&r->failure);
    if (!r->is_suspended)
        return;
    r->is_suspended = false;
    r->http->mhd.resume_connection(r->mhd);
    http_wake(r->http);
}

/* A request that has waited for its delay is answered now. */
static enum MHD_Result
http_request_refuse_stranger(struct http_request *r)
{
    struct http *h = r->http;
    int64_t now = time_mono_ns();
    int64_t delay = r->has_waited ? 0 : http_request_failure_delay(h, now);

    if (delay == 0)
        return http_answer_status(r, STATUS_401);
    if (delay < 0)
        return MHD_NO;
    r->has_waited = true;
    r->forgive_ns = now + delay;
    list_push_back(&h->failures, &r->failure);
    if (!h->forgive.at_ns)
        reactor_set_timer(&h->sv->reactor, &h->forgive, r->forgive_ns);
    http_request_suspend(r);
    return MHD_YES;
}

/* --- the body */

/* The bytes no longer count against the sum of all requests. */
static void
http_request_drop_body(struct http_request *r)
{
    r->http->body_bytes -= r->body.len;
    buf_fini(&r->body);
}

/* The bytes of all incomplete requests together are limited, too: many slow
 * senders must not fill the memory. */
static void
http_request_take_body(struct http_request *r, const char *data, size_t n)
{
    if (r->status != STATUS_200)
        return;
    if (n > r->body.max - r->body.len)
        r->status = STATUS_413;
    else if (n > BODIES_BYTES - r->http->body_bytes)
        r->status = STATUS_503;
    if (r->status != STATUS_200) {
        http_request_drop_body(r);
        return;
    }
    buf_add(&r->body, data, n);
    if (r->body.error)
        r->status = STATUS_503;
    else
        r->http->body_bytes += n;
}

/* A stream needs `stream: true` in the parameters; the Accept header chooses
 * the format. */
void
http_request_set_format(struct http_request *r, const struct json *line)
{
    const struct json *stream = json_get(json_get(line, "params"), "stream");
    const char *accept = http_request_header(r, "Accept");

    if (!json_is(stream, JSON_TRUE))
        return;
    r->format =
        accept && strstr(accept, "text/event-stream") ? AS_EVENTS : AS_LINES;
    r->client.takes_no_output = false;
}

/* --- answers */

/* The request becomes a client with a single line. Its body is not needed any
 * more. */
static void
http_request_call(struct http_request *r)
{
    client_init(&r->client, r->http->sv, &http_client_ops);
    r->client.takes_no_output = true; /* until the line asks for a stream */
    r->has_client = true;
    client_line(&r->client, r->body.len ? r->body.p : "", r->body.len);
    http_request_drop_body(r);
}

/* Called once when the body is complete, and again when the request is
 * resumed. */
static enum MHD_Result
http_request_answer_call(struct http_request *r)
{
    if (!r->has_client)
        http_request_call(r);
    if (r->is_settled || r->format != AS_JSON)
        return http_answer_lines(r);
    http_request_suspend(r);
    return MHD_YES;
}

/* For load balancers, which have no token: it says nothing but the version. */
static enum MHD_Result
http_request_answer_health(struct http_request *r)
{
    CLEANUP(buf_fini) struct buf b;

    buf_init(&b, BUFSIZ);
    buf_puts(&b, "{\"status\":\"ok\",\"version\":\"" WSAND_VERSION "\"}\n");
    return http_answer_text(r, "application/json", &b);
}

static enum MHD_Result
http_request_answer_metrics(struct http_request *r)
{
    CLEANUP(buf_fini) struct buf b;

    buf_init(&b, METRICS_BYTES);
    figures_put(r->http->sv, &b);
    http_put_metrics(r->http, &b);
    return http_answer_text(r, "text/plain; version=0.0.4; charset=utf-8", &b);
}

static enum MHD_Result (*const answers[])(struct http_request *r) = {
    [PATH_rpc] = http_request_answer_call,
    [PATH_health] = http_request_answer_health,
    [PATH_metrics] = http_request_answer_metrics,
};

/* A connection that is being closed gets no answer. */
static enum MHD_Result
http_request_answer(struct http_request *r)
{
    if (r->conn->is_closing)
        return MHD_NO;
    if (r->status == STATUS_401)
        return http_request_refuse_stranger(r);
    return r->status == STATUS_200 ? answers[r->path](r)
                                   : http_answer_status(r, r->status);
}

/* --- creating and freeing */

/* The buffer for the body has the configured maximum, and grows as the body
 * arrives. */
static struct http_request *
http_request_new(struct http *h, struct MHD_Connection *connection,
                 const char *url)
{
    struct http_request *r = calloc(1, sizeof *r);
    const union MHD_ConnectionInfo *info = h->mhd.get_connection_info(
        connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

    if (!r || !info->socket_context) {
        free(r);
        return NULL;
    }
    *r = (struct http_request){.http = h,
                               .mhd = connection,
                               .conn = info->socket_context,
                               .path = http_request_find_path(url)};
    r->conn->request = r;
    list_init(&r->failure);
    buf_init(&r->body, h->sv->config->http_body_bytes);
    buf_init(&r->out, SIZE_MAX);
    return r;
}

/* A client that sends Expect waits for permission, so a refusal is sent at
 * once. Otherwise the body is read first, because many clients do not read an
 * answer before they have sent everything. After two lengths, the end of the
 * body is unknown. */
static enum MHD_Result
http_request_begin(struct http *h, struct MHD_Connection *connection,
                   const char *url, const char *method, void **ret)
{
    struct http_request *r = http_request_new(h, connection, url);

    *ret = r;
    if (!r)
        return MHD_NO;
    r->status = http_request_has_two_lengths(r) ? STATUS_400
                                                : http_request_judge(r, method);
    bool is_now = http_request_header(r, "Expect") || r->status == STATUS_400;
    return is_now && r->status != STATUS_200 ? http_answer_status(r, r->status)
                                             : MHD_YES;
}

/* An empty part is the end of the body. Each part is consumed completely, even
 * if it is dropped. */
enum MHD_Result
http_request_handle(void *cls, struct MHD_Connection *connection,
                    const char *url, const char *method, const char *version,
                    const char *data, size_t *size, void **ret_request)
{
    struct http_request *r = *ret_request;

    (void)version;
    if (!r)
        return http_request_begin(cls, connection, url, method, ret_request);
    if (!*size)
        return http_request_answer(r);
    http_request_take_body(r, data, *size);
    *size = 0;
    return MHD_YES;
}

/* Calls in progress go on without the client. The object lives until they are
 * answered. */
void
http_request_completed(void *cls, struct MHD_Connection *connection,
                       void **request, enum MHD_RequestTerminationCode how)
{
    struct http_request *r = *request;

    (void)cls;
    (void)connection;
    (void)how;
    if (!r)
        return;
    *request = NULL;
    http_conn_trust(r->conn, false);
    http_conn_expect(r->conn, 0);
    r->conn->request = NULL;
    r->conn = NULL;
    list_remove(&r->failure);
    http_request_drop_body(r);
    if (r->has_client)
        client_gone(&r->client);
    else
        http_request_free(r);
}

/* At the end of the supervisor: the request is answered with 503, or its stream
 * is cut off. */
void
http_request_abandon(struct http_request *r)
{
    r->status = STATUS_503;
    r->is_abandoned = true;
    http_request_resume(r);
}

void
http_request_free(struct http_request *r)
{
    buf_fini(&r->body);
    buf_fini(&r->out);
    free(r);
}
