/* Requests and their answers. */
#include "rpc/rpc.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT_BYTES = 512 };

struct request *
request_new(struct server *srv, struct message *msg, const struct method *m,
            const struct json *params, OWN char *id)
{
    struct request *q = calloc(1, sizeof *q);

    if (!q) {
        free(id);
        return NULL;
    }
    *q = (struct request){.srv = srv,
                          .msg = message_get(msg),
                          .method = m,
                          .params = params,
                          .id = id};
    list_init(&q->link);
    list_init(&q->run_link);
    buf_init(&q->answer, SIZE_MAX);
    srv->n_requests++;
    srv->request_bytes += msg->len;
    return q;
}

bool
request_is_line(const struct request *q)
{
    return q->method->flags & LINE;
}

static void
request_free(struct request *q)
{
    struct server *srv = q->srv;

    srv->request_bytes -= q->msg->len;
    message_put(q->msg);
    buf_fini(&q->answer);
    free(q->id);
    free(q);
    srv->n_requests--;
    if (srv->wants_fewer)
        loop_wake(srv);
}

/* --- sending */

static void
send_line(struct server *srv, const char *p, size_t len)
{
    writer_put(&srv->out, p, len, !leader_is_here(&srv->leader));
}

/* A whole answer; a newline is at its end. */
static void
request_deliver(struct server *srv, struct message *msg, const char *p,
                size_t len)
{
    if (!msg || !msg->is_batch) {
        if (len)
            send_line(srv, p, len);
        return;
    }
    if (!message_add_answer(msg, p, len ? len - 1 : 0))
        return;
    send_line(srv, msg->answers.p, msg->answers.len);
    buf_fini(&msg->answers);
}

/* --- errors */

/* Answers have the same members as when all is well. */
static void
put_line_error(struct buf *b, const char *type, const char *id,
               const char *text)
{
    static const struct {
        const char *type, *members;
    } rows[] = {
        {"shell", ",\"stdout\":\"\",\"stderr\":\"\",\"exit_code\":null,"
                  "\"timed_out\":false"},
        {"write_file", ",\"success\":false"},
        {"read_file", ",\"content\":null,\"success\":false"},
        {"reset", ",\"success\":false"},
    };

    buf_puts(b, "{\"type\":");
    put_text(b, type);
    buf_puts(b, ",\"id\":");
    buf_puts(b, id ? id : "null");
    buf_puts(b, ",\"error\":");
    put_text(b, text);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (!strcmp(type, rows[i].type))
            buf_puts(b, rows[i].members);
    buf_puts(b, "}\n");
}

void
send_error(struct server *srv, struct message *msg, const char *id, int code,
           const char *text)
{
    struct buf b;

    buf_init(&b, SIZE_MAX);
    if (srv->is_line && !(msg && msg->is_batch))
        put_line_error(&b, "error", id, text);
    else
        put_error(&b, id, code, text);
    request_deliver(srv, msg, b.p, b.error ? 0 : b.len);
    buf_fini(&b);
}

void
send_line_error(struct server *srv, const char *type, const char *id,
                const char *text)
{
    struct buf b;

    buf_init(&b, SIZE_MAX);
    put_line_error(&b, type, id, text);
    request_deliver(srv, NULL, b.p, b.error ? 0 : b.len);
    buf_fini(&b);
}

void
answer_nothing(struct server *srv, struct message *msg)
{
    request_deliver(srv, msg, NULL, 0);
}

void
answer_held(OWN struct request *q)
{
    struct buf *b = &q->answer;

    if (q->commit && b->len) {
        b->len -= strlen("}\n");
        buf_printf(b, ",\"commit\":%" PRIu64 "}\n", q->commit);
    }
    request_deliver(q->srv, q->msg, b->p, q->id && !b->error ? b->len : 0);
    request_free(q);
}

/* The answer is in q->answer. A worker's names what the job has changed, which
 * was sent before. */
static void
request_answer(OWN struct request *q)
{
    if (q->is_job && q->srv->worker && !q->commit)
        q->commit = worker_commit(q->srv->worker, q->sb, false);
    if (!q->is_held)
        answer_held(q);
}

static void
request_answer_text(OWN struct request *q, int code, const char *text)
{
    buf_fini(&q->answer);
    if (q->id && request_is_line(q))
        put_line_error(&q->answer, q->method->name, q->id, text);
    else if (q->id)
        put_error(&q->answer, q->id, code, text);
    request_answer(q);
}

void
answer_error(OWN struct request *q, int code, const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    request_answer_text(q, code, text);
}

void
answer_failure(OWN struct request *q, const struct wsand_error *err)
{
    request_answer_text(q, SANDBOX_ERROR, err->message);
}

void
answer_status(OWN struct request *q, int r, const struct wsand_error *err)
{
    if (r == 0)
        answer_ok(q);
    else
        answer_failure(q, err);
}

/* --- results */

struct buf *
answer_begin(struct request *q)
{
    struct buf *b = &q->answer;

    if (request_is_line(q)) {
        buf_puts(b, "{\"type\":");
        put_text(b, q->method->name);
        buf_puts(b, ",\"id\":");
        buf_puts(b, q->id);
    } else {
        buf_puts(b, "{\"jsonrpc\":\"2.0\",\"id\":");
        buf_puts(b, q->id ? q->id : "null");
        buf_puts(b, ",\"result\":");
    }
    return b;
}

void
answer_end(OWN struct request *q)
{
    struct buf *b = &q->answer;

    buf_puts(b, "}\n");
    if (b->error) {
        request_answer_text(q, INTERNAL_ERROR, "Internal error: out of memory");
        return;
    }
    if (q->msg->is_batch && message_is_full(q->msg, b->len)) {
        request_answer_text(
            q, INTERNAL_ERROR,
            "Internal error: the answers of the batch are too large");
        return;
    }
    request_answer(q);
}

void
answer_ok(OWN struct request *q)
{
    buf_puts(answer_begin(q), "{\"ok\":true}");
    answer_end(q);
}
