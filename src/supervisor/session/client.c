/* From a client's line to calls. */
#include "supervisor/session/client.h"

#include "base/json.h"
#include "supervisor/session/call.h"
#include "supervisor/session/output.h"
#include "supervisor/session/session.h"
#include "supervisor/session/supervisor.h"
#include "supervisor/session/worker_link.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void
client_init(struct client *c, struct supervisor *sv,
            const struct client_ops *ops)
{
    *c = (struct client){.sv = sv, .ops = ops};
    list_init(&c->calls);
    backlog_init(&c->waiting);
    list_init(&c->stalled);
    list_push_back(&sv->clients, &c->link);
    sv->n_clients++;
    sv->counters.clients++;
}

static void
client_end(struct client *c)
{
    list_remove(&c->link);
    c->sv->n_clients--;
    c->ops->free(c);
}

/* --- lines that wait */

/* A client has no more than so much under way. */
enum { CALLS_MAX = 1024, CALL_BYTES_MAX = 16 << 20 };
enum { URGENT_MAX = 1024 }; /* served for a client that does not read */

static bool
client_is_full(const struct client *c)
{
    return c->n_calls >= CALLS_MAX || c->call_bytes >= CALL_BYTES_MAX ||
           c->ops->is_behind(c);
}

bool
client_is_stuck(const struct client *c)
{
    return c->waiting.is_full && c->ops->is_behind(c);
}

static void
go_on(struct client *c)
{
    if (!c->is_gone && !backlog_is_empty(&c->waiting) && !client_is_full(c))
        c->ops->again(c);
}

void
client_put(struct client *c)
{
    go_on(c);
    if (c->n_calls || c->is_busy || !backlog_is_empty(&c->waiting))
        return;
    if (c->is_gone)
        client_end(c);
    else if (c->ops->settled)
        c->ops->settled(c);
}

void
client_caught_up(struct client *c)
{
    worker_link_go_on(c);
    go_on(c);
}

void
client_gone(struct client *c)
{
    if (c->is_gone)
        return;
    c->is_gone = true;
    backlog_fini(&c->waiting);
    c->is_busy = true;
    output_forget_client(c);
    c->is_busy = false;
    client_put(c);
}

/* --- lines */

static void
client_call(struct client *c, struct message *msg, const struct json *object,
            OWN char *id)
{
    struct text name = json_text(json_get(object, "method"));
    const struct json *params = json_get(object, "params");
    const struct method *m = method_find(name);
    char text[256];

    if (!m) {
        (void)snprintf(text, sizeof text, "Method not found: %.200s", name.p);
        if (id)
            client_refuse(c, msg, id, METHOD_NOT_FOUND, text);
        else
            client_pass_over(c, msg);
        free(id);
        return;
    }
    struct call *q = call_new(c, msg, m, params, id);
    if (!q)
        client_refuse(c, msg, NULL, INTERNAL_ERROR,
                      "Internal error: out of memory");
    else if (params && !json_is(params, JSON_NULL) &&
             !json_is(params, JSON_OBJECT))
        call_error(q, INVALID_PARAMS, "params must be an object");
    else if (c->n_over)
        call_error(q, INVALID_REQUEST,
                   "Too many requests: %zu wait for an answer", c->n_over);
    else
        session_dispatch(q);
}

static void
take_object(void *to, struct message *msg, const struct json *object)
{
    struct client *c = to;
    const char *fault = json_is(object, JSON_OBJECT)
                            ? request_fault(object)
                            : "Invalid request: not an object";
    const struct json *json_id = json_get(object, "id");
    char *id = json_id ? message_id(json_id) : NULL;

    if (!fault) {
        client_call(c, msg, object, id);
        return;
    }
    client_refuse(c, msg, id, INVALID_REQUEST, fault);
    free(id);
}

static void
refuse(void *to, int code, const char *text)
{
    client_refuse(to, NULL, NULL, code, text);
}

static bool
client_is_blank(const char *line, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
            return false;
    return true;
}

static void
client_take(struct client *c, const char *line, size_t len)
{
    static const struct taker taker = {take_object, refuse};

    message_take(line, len, &taker, c);
}

static void
client_refuse_line(struct client *c, const char *line, size_t len)
{
    c->n_over = c->n_calls + c->waiting.n_lines;
    client_take(c, line, len);
    c->n_over = 0;
}

/* May the line overtake those that wait? Only what has a short answer may, and
 * not without end. */
static bool
client_is_urgent(struct client *c, const char *line, size_t len)
{
    struct envelope e;
    const struct method *m =
        envelope_read(line, len, &e) ? method_find(e.method) : NULL;

    if (!m || !(m->flags & URGENT))
        return false;
    if (!c->ops->is_behind(c))
        c->n_urgent = 0;
    return c->n_urgent++ < URGENT_MAX;
}

void
client_line(struct client *c, const char *line, size_t len)
{
    bool is_next =
        !c->ops->again || (backlog_is_empty(&c->waiting) && !client_is_full(c));

    c->is_busy = true;
    if (client_is_blank(line, len))
        ; /* no answer */
    else if (is_next || client_is_urgent(c, line, len))
        client_take(c, line, len);
    else if (backlog_put(&c->waiting, line, len) < 0)
        client_refuse_line(c, line, len);
    c->is_busy = false;
    client_put(c);
}

void
client_take_waiting(struct client *c)
{
    const char *line;
    size_t len;

    c->is_busy = true;
    while (!client_is_full(c) && backlog_take(&c->waiting, &line, &len))
        client_take(c, line, len);
    c->is_busy = false;
    client_put(c);
}

/* --- cancelling what waits */

static bool
client_is_run_of(const void *arg, const struct json *object)
{
    const struct session *s = arg;
    const struct json *name = json_get(object, "method");
    const struct json *id = json_get(json_get(object, "params"), "sessionId");

    if (!json_is(name, JSON_STRING) || !json_is(id, JSON_STRING))
        return false;
    const struct method *method = method_find(json_text(name));
    return method && method_is(method, "run") && text_is(json_text(id), s->id);
}

bool
client_cancel_waiting(OWN struct call *q)
{
    const struct json *requested = call_param(q, "requestId");
    char *id = requested ? message_id(requested) : NULL;
    const struct wanted w = {id, client_is_run_of, q->session};
    bool is = (id || !requested) &&
              backlog_cancel(&q->client->waiting, &w, q->session->id);

    free(id);
    if (is) {
        buf_puts(call_begin(q), "{\"ok\":true,\"cancelled\":true}");
        call_end(q);
    }
    return is;
}

void
client_too_large(struct client *c, size_t limit)
{
    char text[80];

    (void)snprintf(text, sizeof text, "Request too large (limit: %zu bytes)",
                   limit);
    client_refuse(c, NULL, NULL, PARSE_ERROR, text);
    client_put(c);
}
