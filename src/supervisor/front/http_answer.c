/* Answers to HTTP requests: complete ones, and streams of lines.
 *
 * The answer to a call with `stream` is sent line by line, as NDJSON or as
 * server-sent events. libmicrohttpd asks for bytes when it can send; without
 * any, the connection is suspended. If a client reads too slowly, `is_behind`
 * stops its worker. */
#include "supervisor/front/http_impl.h"

#include <string.h>

/* The maximum that is sent at once, and the number of waiting bytes from which
 * a client is too slow. It has caught up at half of that, so that a worker does
 * not stop and start with every block. */
enum { BLOCK_BYTES = 16384, BEHIND_BYTES = 1 << 20 };

/* The texts say what the client can change. */
static const struct {
    unsigned code;
    const char *text;
} statuses[] = {
    [STATUS_200] = {200, ""},
    [STATUS_204] = {204, ""},
    [STATUS_400] = {400, "the request has more than one length"},
    [STATUS_401] = {401, "a bearer token is required"},
    [STATUS_404] = {404, "there are /rpc, /health and /metrics"},
    [STATUS_405] = {405, "another method is required"},
    [STATUS_413] = {413, "the request is too long"},
    [STATUS_415] = {415, "the request must be application/json"},
    [STATUS_500] = {500, "out of memory"},
    [STATUS_503] = {503, "busy; try again"},
};

/* Queues the response, which it consumes, and counts it. */
static enum MHD_Result
http_answer_queue(struct http_request *r, enum http_status status,
                  OWN struct MHD_Response *p)
{
    const struct mhd *m = &r->http->mhd;

    if (!p)
        return MHD_NO;
    enum MHD_Result ok = m->queue_response(r->mhd, statuses[status].code, p);
    m->destroy_response(p);
    r->http->answered[r->path][status] += ok == MHD_YES;
    return ok;
}

static struct MHD_Response *
http_answer_typed(const struct http_request *r, const char *type,
                  struct MHD_Response *p)
{
    if (p)
        (void)r->http->mhd.add_response_header(p, "Content-Type", type);
    return p;
}

static struct MHD_Response *
http_answer_buffer(const struct http_request *r, const char *p, size_t len,
                   enum MHD_ResponseMemoryMode mode)
{
    return r->http->mhd.create_response_from_buffer(len, (void *)p, mode);
}

/* Sends a status with a line of text for people. A 401, 405 and 503 have the
 * headers that HTTP requires. */
enum MHD_Result
http_answer_status(struct http_request *r, enum http_status status)
{
    const struct mhd *m = &r->http->mhd;
    char text[128];

    http_conn_expect(r->conn, 0);
    int n = snprintf(text, sizeof text, "%s\n", statuses[status].text);
    struct MHD_Response *p = http_answer_buffer(
        r, text, status == STATUS_204 ? 0 : (size_t)n, MHD_RESPMEM_MUST_COPY);
    if (!p)
        return MHD_NO;
    if (status != STATUS_204)
        (void)http_answer_typed(r, "text/plain", p);
    if (status == STATUS_401)
        (void)m->add_response_header(p, "WWW-Authenticate",
                                     "Bearer realm=\"wasmsand\"");
    if (status == STATUS_405)
        (void)m->add_response_header(p, "Allow", http_request_method(r));
    if (status == STATUS_503)
        (void)m->add_response_header(p, "Retry-After", "1");
    return http_answer_queue(r, status, p);
}

/* The text is copied, so the caller may free it. */
enum MHD_Result
http_answer_text(struct http_request *r, const char *type,
                 const struct buf *text)
{
    if (text->error)
        return http_answer_status(r, STATUS_500);
    http_conn_expect(r->conn, text->len);
    return http_answer_queue(
        r, STATUS_200,
        http_answer_typed(
            r, type,
            http_answer_buffer(r, text->p, text->len, MHD_RESPMEM_MUST_COPY)));
}

/* --- lines */

static size_t
http_answer_pending(const struct http_request *r)
{
    return r->out.len - r->taken;
}

/* Discards sent bytes, if they are many or all: moving the rest after each
 * block would cost too much. */
static void
http_answer_compact(struct http_request *r)
{
    if (r->taken < r->out.len && r->taken < BEHIND_BYTES)
        return;
    memmove(r->out.p, r->out.p + r->taken, http_answer_pending(r));
    r->out.len -= r->taken;
    r->taken = 0;
}

/* Called by libmicrohttpd when it can send more. The stream ends when all calls
 * are answered and all bytes are sent. */
static ssize_t
http_answer_read_stream(void *cls, uint64_t pos, char *to, size_t max)
{
    struct http_request *r = cls;
    size_t n = http_answer_pending(r) < max ? http_answer_pending(r) : max;

    (void)pos;
    if (r->out.error || r->is_abandoned || r->conn->is_closing)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (!n && r->is_settled)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (!n) {
        http_request_suspend(r);
        return 0;
    }
    memcpy(to, r->out.p + r->taken, n);
    r->taken += n;
    http_answer_compact(r);
    http_conn_expect(r->conn, 0);
    if (r->is_behind && http_answer_pending(r) < BEHIND_BYTES / 2) {
        r->is_behind = false;
        client_caught_up(&r->client);
    }
    return (ssize_t)n;
}

/* The length is not known in advance, so HTTP/1.1 sends it in chunks. */
static enum MHD_Result
http_answer_stream(struct http_request *r)
{
    const struct mhd *m = &r->http->mhd;
    const char *type =
        r->format == AS_EVENTS ? "text/event-stream" : "application/x-ndjson";

    http_conn_expect(r->conn, 0);
    struct MHD_Response *p = http_answer_typed(
        r, type,
        m->create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK_BYTES,
                                         http_answer_read_stream, r, NULL));
    if (p)
        (void)m->add_response_header(p, "Cache-Control", "no-store");
    return http_answer_queue(r, STATUS_200, p);
}

/* Without `stream`, all lines are one body. A batch may have several. */
enum MHD_Result
http_answer_lines(struct http_request *r)
{
    if (r->format != AS_JSON)
        return http_answer_stream(r);
    if (r->out.error)
        return http_answer_status(r, STATUS_500);
    if (!r->lines)
        return http_answer_status(r, STATUS_204);
    http_conn_expect(r->conn, r->out.len);
    return http_answer_queue(
        r, STATUS_200,
        http_answer_typed(
            r, r->lines == 1 ? "application/json" : "application/x-ndjson",
            http_answer_buffer(r, r->out.p, r->out.len,
                               MHD_RESPMEM_PERSISTENT)));
}

/* --- as a client */

static struct http_request *
http_answer_request_of(const struct client *c)
{
    return CONTAINER_OF(c, struct http_request, client);
}

/* A line for a request that has ended is dropped. */
static void
http_answer_on_parsed(struct client *c, const struct json *line)
{
    http_request_set_format(http_answer_request_of(c), line);
}

static void
http_answer_on_send(struct client *c, const char *line, size_t len)
{
    struct http_request *r = http_answer_request_of(c);

    if (!r->conn || r->is_settled)
        return;
    buf_puts(&r->out, r->format == AS_EVENTS ? "data: " : "");
    buf_add(&r->out, line, len);
    buf_puts(&r->out, r->format == AS_EVENTS ? "\n\n" : "\n");
    r->lines++;
    if (http_answer_pending(r) > BEHIND_BYTES)
        r->is_behind = true;
    if (r->format != AS_JSON)
        http_request_resume(r);
}

static bool
http_answer_on_is_behind(const struct client *c)
{
    return http_answer_request_of(c)->is_behind;
}

/* All calls of the request are answered. */
static void
http_answer_on_settled(struct client *c)
{
    struct http_request *r = http_answer_request_of(c);

    r->is_settled = true;
    http_request_resume(r);
}

static void
http_answer_on_free(struct client *c)
{
    http_request_free(http_answer_request_of(c));
}

const struct client_ops http_client_ops = {
    .parsed = http_answer_on_parsed,
    .send = http_answer_on_send,
    .is_behind = http_answer_on_is_behind,
    .settled = http_answer_on_settled,
    .free = http_answer_on_free,
};
