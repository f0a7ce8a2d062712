/* From lines to calls, and from answers to lines.
 *
 * A line passes four steps, each of which may end it. peer_line serves it now,
 * keeps it for later or rejects it. peer_take parses it, as one request or a
 * batch. peer_take_object tells requests from answers to requests of ours and
 * from objects of another protocol, and finds the method. peer_call makes the
 * request a call, which belongs to the front end from then on. */
#include "wire/peer.h"

#include "wire/answer.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
peer_init(struct peer *p, const struct peer_ops *ops,
          const struct method_table *methods)
{
    *p = (struct peer){.ops = ops, .methods = methods};
    backlog_init(&p->waiting);
}

void
peer_fini(struct peer *p)
{
    backlog_fini(&p->waiting);
}

/* --- errors that belong to no call */

/* A line that cannot be attributed is answered in the protocol of the last
 * valid line. Batches exist in JSON-RPC only. */
void
peer_refuse(struct peer *p, struct message *msg, const char *id, int code,
            const char *text)
{
    struct buf b;

    buf_init(&b, SIZE_MAX);
    if (p->is_line && !(msg && msg->is_batch))
        put_line_error(&b, "error", id, text);
    else
        put_error(&b, id, code, text);
    answer_deliver(p, msg, b.p, b.error ? 0 : b.len);
    buf_fini(&b);
}

void
peer_refuse_line(struct peer *p, const char *type, const char *id,
                 const char *text)
{
    struct buf b;

    buf_init(&b, SIZE_MAX);
    put_line_error(&b, type, id, text);
    answer_deliver(p, NULL, b.p, b.error ? 0 : b.len);
    buf_fini(&b);
}

void
peer_too_large(struct peer *p, size_t limit)
{
    char text[80];

    (void)snprintf(text, sizeof text, "Request too large (limit: %zu bytes)",
                   limit);
    peer_refuse(p, NULL, NULL, PARSE_ERROR, text);
}

/* --- objects */

/* The counters include the call from now on, so that further lines wait if
 * there are too many. answer_send subtracts it again. A line beyond the size of
 * the backlog is parsed only to find its ids: each of its requests gets an
 * answer, as every request does. */
void
peer_call(struct peer *p, struct message *msg, const struct method *m,
          const struct json *params, OWN char *id)
{
    struct call *q = p->ops->alloc(p);

    if (!q) {
        free(id);
        peer_refuse(p, msg, NULL, INTERNAL_ERROR,
                    "Internal error: out of memory");
        return;
    }
    list_init(&q->link);
    q->peer = p;
    q->msg = message_get(msg);
    q->method = m;
    q->params = params;
    q->id = id;
    buf_init(&q->answer, SIZE_MAX);
    p->n_calls++;
    p->call_bytes += msg->len;
    if (params && !json_is(params, JSON_NULL) && !json_is(params, JSON_OBJECT))
        answer_error(q, INVALID_PARAMS, "params must be an object");
    else if (p->n_over)
        answer_error(q, INVALID_REQUEST,
                     "Too many requests: %zu wait for an answer", p->n_over);
    else
        p->ops->serve(q);
}

/* An answer to a request of ours has no method, so it is a faulty request; the
 * front end is asked first. Such an answer gets none, and neither does a
 * notification of an unknown method. Both count in a batch. */
static void
peer_take_object(struct peer *p, struct message *msg, const struct json *object)
{
    const struct json *json_id = json_get(object, "id");
    struct text name = json_text(json_get(object, "method"));
    char text[256];

    if (!json_is(object, JSON_OBJECT)) {
        peer_refuse(p, msg, NULL, INVALID_REQUEST,
                    "Invalid request: not an object");
        return;
    }
    if (p->ops->other && !json_get(object, "jsonrpc")) {
        p->ops->other(p, msg, object);
        return;
    }
    const char *fault = request_fault(object);
    if (fault && p->ops->reply && p->ops->reply(p, object)) {
        answer_deliver(p, msg, NULL, 0);
        return;
    }
    p->is_line = false;
    char *id = json_id ? message_id(json_id) : NULL;
    const struct method *m =
        fault ? NULL : method_find(p->methods, name, false);
    if (m) {
        peer_call(p, msg, m, json_get(object, "params"), id);
        return;
    }
    if (fault) {
        peer_refuse(p, msg, id, INVALID_REQUEST, fault);
    } else if (id) {
        (void)snprintf(text, sizeof text, "Method not found: %.200s", name.p);
        peer_refuse(p, msg, id, METHOD_NOT_FOUND, text);
    } else {
        answer_deliver(p, msg, NULL, 0);
    }
    free(id);
}

/* --- lines */

/* The number of expected answers is set before the first request is served:
 * some are answered before this returns, others much later, and the last one
 * sends the line. */
static void
peer_take_batch(struct peer *p, struct message *m)
{
    size_t n = json_count(m->root);

    if (n < 1 || n > BATCH_MAX) {
        peer_refuse(p, NULL, NULL, INVALID_REQUEST,
                    n ? "Invalid request: more than 1000 in a batch"
                      : "Invalid request: an empty batch");
        return;
    }
    m->is_batch = true;
    m->n_left = n;
    JSON_EACH(request, m->root)
        peer_take_object(p, m, request);
}

/* The only place where the JSON of a request is parsed. */
static void
peer_take(struct peer *p, const char *line, size_t len)
{
    char reason[MESSAGE_ERROR_BYTES] = "", text[MESSAGE_ERROR_BYTES + 16];
    CLEANUP(message_putp) struct message *m = NULL;

    int r = message_new(line, len, &m, reason);
    if (r == -EINVAL) {
        (void)snprintf(text, sizeof text, "Parse error: %s", reason);
        peer_refuse(p, NULL, NULL, PARSE_ERROR, text);
        return;
    }
    if (r != 0) {
        peer_refuse(p, NULL, NULL, INTERNAL_ERROR,
                    "Internal error: out of memory");
        return;
    }
    if (p->ops->parsed)
        p->ops->parsed(p, m->root);
    if (json_is(m->root, JSON_ARRAY))
        peer_take_batch(p, m);
    else
        peer_take_object(p, m, m->root);
}

/* A string without its quotes, found without parsing the line. */
static bool
peer_is_reply(const struct peer *p, struct text id)
{
    const char *prefix = p->ops->reply_prefix;

    return prefix && id.len > strlen(prefix) &&
           !memcmp(id.p, prefix, strlen(prefix));
}

/* May the line overtake those that wait? Only requests with a short answer may,
 * and not without end. */
static bool
peer_is_urgent(struct peer *p, const char *line, size_t len)
{
    const struct method *m;
    struct envelope e;

    if (!envelope_read(line, len, &e))
        return false;
    if (!e.method.len && !e.type.len) {
        if (!peer_is_reply(p, e.id))
            return false;
    } else {
        m = e.method.len ? method_find(p->methods, e.method, false)
                         : method_find(p->methods, e.type, true);
        if (!m || !(m->flags & URGENT))
            return false;
    }
    if (!p->ops->is_behind(p))
        p->n_urgent = 0;
    return p->n_urgent++ < p->ops->urgent_max;
}

/* Blank lines get no answer, as both protocols demand. Lines are served in
 * order, except urgent ones: while a line waits, all others wait behind it. A
 * peer with a single line never waits, because nothing would wake it up. */
void
peer_line(struct peer *p, const char *line, size_t len)
{
    size_t i = 0;

    while (i < len && (line[i] == ' ' || line[i] == '\t' || line[i] == '\r'))
        i++;
    if (i == len)
        return;
    if (p->has_one || (backlog_is_empty(&p->waiting) && !peer_is_full(p)) ||
        peer_is_urgent(p, line, len)) {
        peer_take(p, line, len);
    } else if (backlog_put(&p->waiting, line, len) < 0) {
        p->n_over = p->n_calls + p->waiting.n_lines;
        peer_take(p, line, len);
        p->n_over = 0;
    }
}

/* backlog_take is also called once after the last line, to drop the marks of
 * cancelled requests. */
bool
peer_take_waiting(struct peer *p)
{
    const char *line;
    size_t len;

    if (peer_is_full(p) || !backlog_take(&p->waiting, &line, &len))
        return false;
    peer_take(p, line, len);
    return true;
}

/* --- cancelling runs whose lines wait */

struct peer_search {
    const struct peer *p;
    const struct waiting_run *run;
};

static bool
peer_is_wanted(const void *arg, const struct json *object)
{
    const struct peer_search *s = arg;
    bool is_line = s->p->ops->other && !json_get(object, "jsonrpc");
    const struct json *name = json_get(object, is_line ? "type" : "method");

    if (!json_is(name, JSON_STRING))
        return false;
    const struct method *m =
        method_find(s->p->methods, json_text(name), is_line);
    return m &&
           s->run->is_wanted(s->run->arg, m,
                             is_line ? object : json_get(object, "params"));
}

bool
peer_cancel_waiting(struct peer *p, const struct waiting_run *w)
{
    const struct peer_search s = {p, w};
    const struct wanted wanted = {w->id, peer_is_wanted, &s};

    return backlog_cancel(&p->waiting, &wanted, w->scope);
}
