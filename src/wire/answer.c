/* Answers to calls, in both protocols.
 *
 * An answer is built in the buffer of its call, with its newline, so that it
 * is sent with one write. The protocol follows from the method: methods of the
 * line protocol have the flag LINE. A batch collects the answers of its calls,
 * in the order in which they end, and the last one sends them as one array. */
#include "wire/answer.h"

#include "wire/peer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- sending */

/* A batch counts every answer, also those that are not sent. If none of its
 * answers is sent, the batch has none either. */
void
answer_deliver(struct peer *p, struct message *msg, const char *line,
               size_t len)
{
    if (msg && msg->is_batch) {
        if (!message_add_answer(msg, line, len ? len - 1 : 0))
            return;
        line = msg->answers.p;
        len = msg->answers.len;
    }
    if (len)
        p->ops->send(p, line, len, true);
}

/* The order matters at the end of the server: the call is freed before the
 * counters, and the loop ends only when the counters are 0. So nothing of a
 * call is used after the peer is gone. */
void
answer_send(OWN struct call *q)
{
    struct peer *p = q->peer;
    size_t bytes = q->msg->len;
    size_t len = q->id && !q->answer.error ? q->answer.len : 0;

    if (q->msg->is_batch)
        answer_deliver(p, q->msg, q->answer.p, len);
    else if (len)
        p->ops->send(p, q->answer.p, len, true);
    message_put(q->msg);
    buf_fini(&q->answer);
    free(q->id);
    p->ops->free(q);
    p->call_bytes -= bytes;
    p->n_calls--;
    p->ops->answered(p);
}

/* --- errors */

/* Answers have the same members as when all is well. */
void
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

/* A result that was begun is discarded. Notifications get no answer, but their
 * end is reported to the front end in the same way. */
void
answer_error_text(OWN struct call *q, int code, const char *text)
{
    buf_fini(&q->answer);
    if (q->id && call_is_line(q))
        put_line_error(&q->answer, q->method->name, q->id, text);
    else if (q->id)
        put_error(&q->answer, q->id, code, text);
    q->has_failed = true;
    q->peer->ops->finish(q);
}

void
answer_error(OWN struct call *q, int code, const char *format, ...)
{
    char text[ANSWER_TEXT_BYTES];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    answer_error_text(q, code, text);
}

/* --- results */

/* The id comes back as it was written. */
struct buf *
answer_begin(struct call *q)
{
    struct buf *b = &q->answer;

    if (call_is_line(q)) {
        buf_puts(b, "{\"type\":");
        put_text(b, q->method->name);
    } else {
        buf_puts(b, "{\"jsonrpc\":\"2.0\"");
    }
    buf_puts(b, ",\"id\":");
    buf_puts(b, q->id ? q->id : "null");
    if (!call_is_line(q))
        buf_puts(b, ",\"result\":");
    return b;
}

void
answer_pass(struct call *q, struct text name, struct text value)
{
    struct buf *b = &q->answer;

    buf_puts(b, "{\"jsonrpc\":\"2.0\",\"id\":");
    buf_puts(b, q->id ? q->id : "null");
    buf_puts(b, ",\"");
    buf_add(b, name.p, name.len);
    buf_puts(b, "\":");
    buf_add(b, value.p, value.len);
}

/* A result that does not fit, because memory or the batch is full, becomes an
 * error, so that the client learns about it. */
void
answer_end(OWN struct call *q)
{
    struct buf *b = &q->answer;

    buf_puts(b, "}\n");
    if (b->error)
        answer_error_text(q, INTERNAL_ERROR, "Internal error: out of memory");
    else if (q->msg->is_batch && message_is_full(q->msg, b->len))
        answer_error_text(
            q, INTERNAL_ERROR,
            "Internal error: the answers of the batch are too large");
    else
        q->peer->ops->finish(q);
}

void
answer_ok(OWN struct call *q)
{
    buf_puts(answer_begin(q), "{\"ok\":true}");
    answer_end(q);
}
