/* Calls and their answers. */
#include "supervisor/session/call.h"

#include "base/json.h"
#include "supervisor/session/supervisor.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct call *
call_new(struct client *c, struct message *msg, const struct method *m,
         const struct json *params, OWN char *id)
{
    struct call *q = calloc(1, sizeof *q);

    if (!q) {
        free(id);
        return NULL;
    }
    *q = (struct call){.client = c,
                       .msg = message_get(msg),
                       .method = m,
                       .params = params,
                       .id = id,
                       .begun_ns = time_mono_ns()};
    list_init(&q->turn);
    list_push_back(&c->calls, &q->link);
    buf_init(&q->answer, SIZE_MAX);
    c->n_calls++;
    c->call_bytes += msg->len;
    c->sv->counters.requests++;
    return q;
}

static void
call_free(OWN struct call *q)
{
    struct client *c = q->client;

    c->sv->counters.answered[method_index(q->method)][q->has_failed]++;
    list_remove(&q->link);
    list_remove(&q->turn);
    c->n_calls--;
    c->call_bytes -= q->msg->len;
    message_put(q->msg);
    buf_fini(&q->answer);
    free(q->id);
    free(q);
    client_put(c);
}

/* --- sending */

/* A whole answer, with its newline; len 0: none. */
static void
deliver(struct client *c, struct message *msg, const char *p, size_t len)
{
    if (msg && msg->is_batch) {
        if (!message_add_answer(msg, p, len ? len - 1 : 0))
            return;
        p = msg->answers.p;
        len = msg->answers.len;
    }
    if (len && !c->is_gone)
        c->ops->send(c, p, len - 1);
}

void
client_pass_over(struct client *c, struct message *msg)
{
    deliver(c, msg, NULL, 0);
}

void
client_refuse(struct client *c, struct message *msg, const char *id, int code,
              const char *text)
{
    struct buf b;

    buf_init(&b, SIZE_MAX);
    put_error(&b, id, code, text);
    deliver(c, msg, b.p, b.error ? 0 : b.len);
    buf_fini(&b);
}

static void
call_answer_text(OWN struct call *q, int code, const char *text)
{
    buf_fini(&q->answer);
    if (q->id)
        put_error(&q->answer, q->id, code, text);
    q->has_failed = true;
    q->client->sv->counters.refused++;
    deliver(q->client, q->msg, q->answer.p,
            q->answer.error ? 0 : q->answer.len);
    call_free(q);
}

void
call_error(OWN struct call *q, int code, const char *format, ...)
{
    char text[CALL_TEXT_BYTES];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    call_answer_text(q, code, text);
}

static void
put_head(struct call *q)
{
    buf_puts(&q->answer, "{\"jsonrpc\":\"2.0\",\"id\":");
    buf_puts(&q->answer, q->id ? q->id : "null");
}

struct buf *
call_begin(struct call *q)
{
    put_head(q);
    buf_puts(&q->answer, ",\"result\":");
    return &q->answer;
}

void
call_end(OWN struct call *q)
{
    struct buf *b = &q->answer;

    buf_puts(b, "}\n");
    if (b->error) {
        call_answer_text(q, INTERNAL_ERROR, "Internal error: out of memory");
        return;
    }
    if (q->msg->is_batch && message_is_full(q->msg, b->len)) {
        call_answer_text(
            q, INTERNAL_ERROR,
            "Internal error: the answers of the batch are too large");
        return;
    }
    deliver(q->client, q->msg, b->p, q->id ? b->len : 0);
    call_free(q);
}

void
call_pass(struct call *q, struct text name, struct text value)
{
    put_head(q);
    q->has_failed = text_is(name, "error");
    buf_puts(&q->answer, ",\"");
    buf_add(&q->answer, name.p, name.len);
    buf_puts(&q->answer, "\":");
    buf_add(&q->answer, value.p, value.len);
}

/* --- parameters */

const struct json *
call_param(const struct call *q, const char *name)
{
    const struct json *v = json_get(q->params, name);

    return json_is(v, JSON_NULL) ? NULL : v;
}

const char *
call_text(const struct call *q, const char *name)
{
    const struct json *v = call_param(q, name);

    return v ? json_text(v).p : NULL;
}

int64_t
call_int(const struct call *q, const char *name, int64_t absent)
{
    int64_t n = absent;

    (void)json_whole(call_param(q, name), &n);
    return n;
}

bool
call_bool(const struct call *q, const char *name, bool absent)
{
    const struct json *v = call_param(q, name);

    return v ? json_is(v, JSON_TRUE) : absent;
}
