/* From a line to the handlers: which protocol, which method, which sandbox. */
#include "rpc/rpc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- sandboxes */

uint64_t
parse_sandbox_id(struct text t)
{
    uint64_t id = 0;

    if (!t.len || t.len > 18 || *t.p == '0')
        return 0;
    for (size_t i = 0; i < t.len; i++) {
        if (t.p[i] < '0' || t.p[i] > '9')
            return 0;
        id = id * 10 + (uint64_t)(t.p[i] - '0');
    }
    return id;
}

uint64_t
param_sandbox_id(const struct request *q)
{
    return parse_sandbox_id(json_text(param(q, "sandboxId")));
}

static void
dispatch_to_named(struct server *srv, OWN struct request *q,
                  const struct json *name)
{
    if (!json_is(name, JSON_STRING)) {
        answer_error(q, INVALID_PARAMS, "sandboxId must be a string");
        return;
    }
    struct slot *slot = slot_find(srv, param_sandbox_id(q));
    if (slot)
        slot_submit(slot, q);
    else
        answer_error(q, INVALID_PARAMS, "Unknown sandboxId: %.200s",
                     json_text(name).p);
}

static void
dispatch_to_slot(struct server *srv, OWN struct request *q)
{
    const struct json *name = param(q, "sandboxId");

    if (name && !(q->method->flags & (ROOT | LINE)))
        dispatch_to_named(srv, q, name);
    else if (srv->root)
        slot_submit(srv->root, q);
    else /* it may come before there is one */
        q->method->handle(q);
}

/* True: it was, and answered. */
static bool
is_refused(const struct server *srv, OWN struct request *q)
{
    if (srv->n_over)
        answer_error(q, INVALID_REQUEST,
                     "Too many requests: %zu wait for an answer", srv->n_over);
    return srv->n_over;
}

static void
dispatch_serve(struct server *srv, OWN struct request *q)
{
    char error[PARAM_ERROR_BYTES];
    unsigned flags = q->method->flags;
    const char *refused = srv->worker ? worker_refuses(q) : NULL;

    if (is_refused(srv, q))
        return;
    if (!srv->root && !(flags & EARLY))
        answer_error(q, INVALID_REQUEST, "Sandbox not created");
    else if (method_check(q->method, q->params, error) < 0)
        answer_error(q, INVALID_PARAMS, "%s", error);
    else if (refused)
        answer_error(q, SANDBOX_ERROR, "EPERM: not in a session: %s", refused);
    else if (flags & NO_SANDBOX)
        q->method->handle(q);
    else
        dispatch_to_slot(srv, q);
}

/* --- JSON-RPC */

/* A request that never became one. */
static void
reject(struct server *srv, struct message *msg, const char *id, int code,
       const char *text)
{
    srv->is_line = false;
    send_error(srv, msg, id, code, text);
}

static void
dispatch_call(struct server *srv, struct message *msg,
              const struct json *object, OWN char *id)
{
    struct text name = json_text(json_get(object, "method"));
    const struct json *params = json_get(object, "params");
    const struct method *m = method_find(name, false);
    char text[256];

    if (!m || (!srv->worker && !(m->where & SERVER))) {
        (void)snprintf(text, sizeof text, "Method not found: %.200s", name.p);
        if (id)
            reject(srv, msg, id, METHOD_NOT_FOUND, text);
        else
            answer_nothing(srv, msg);
        free(id);
        return;
    }
    struct request *q = request_new(srv, msg, m, params, id);
    if (!q)
        reject(srv, msg, NULL, INTERNAL_ERROR, "Internal error: out of memory");
    else if (params && !json_is(params, JSON_NULL) &&
             !json_is(params, JSON_OBJECT))
        answer_error(q, INVALID_PARAMS, "params must be an object");
    else
        dispatch_serve(srv, q);
}

static void
rpc_object(struct server *srv, struct message *msg, const struct json *object)
{
    const struct json *json_id = json_get(object, "id");
    const char *fault = request_fault(object);
    char *id = json_id ? message_id(json_id) : NULL;

    if (fault && callback_reply(srv, object)) {
        answer_nothing(srv, msg);
        free(id);
        return;
    }
    if (!fault) {
        srv->is_line = false;
        dispatch_call(srv, msg, object, id);
        return;
    }
    reject(srv, msg, id, INVALID_REQUEST, fault);
    free(id);
}

/* --- the line protocol */

/* The first request makes the root sandbox, with the defaults. */
static bool
have_root(struct server *srv)
{
    if (srv->root)
        return true;
    CLEANUP(config_putp) struct config *c = config_new(srv, NULL, NULL, true);
    return c && root_create(srv, c, NULL);
}

static void
serve_line(struct server *srv, OWN struct request *q, const struct json *id)
{
    char error[PARAM_ERROR_BYTES];

    if (is_refused(srv, q))
        return;
    if (!id || json_is(id, JSON_NULL))
        answer_error(q, INVALID_PARAMS, "Missing required param: id");
    else if (!json_is(id, JSON_STRING))
        answer_error(q, INVALID_PARAMS, "id must be a string");
    else if (method_check(q->method, q->params, error) < 0)
        answer_error(q, INVALID_PARAMS, "%s", error);
    else if (!have_root(srv))
        answer_error(q, INTERNAL_ERROR, "Internal error: out of memory");
    else
        dispatch_to_slot(srv, q);
}

static void
line_object(struct server *srv, struct message *msg, const struct json *object)
{
    const struct json *type = json_get(object, "type");
    const struct json *json_id = json_get(object, "id");
    char *id = json_id ? message_id(json_id) : NULL;

    if (!id)
        id = strdup("null");
    if (!json_is(type, JSON_STRING)) {
        send_line_error(srv, "error", id, "type must be a string");
        free(id);
        return;
    }
    srv->is_line = true;
    struct text name = json_text(type);
    const struct method *m = method_find(name, true);
    if (!m) {
        char text[256];
        (void)snprintf(text, sizeof text, "Unknown type: %.200s", name.p);
        send_line_error(srv, name.p, id, text);
        free(id);
        return;
    }
    struct request *q = request_new(srv, msg, m, object, id);
    if (q)
        serve_line(srv, q, json_id);
    else
        send_line_error(srv, m->name, NULL, "Internal error: out of memory");
}

/* --- lines */

static void
dispatch_object(void *to, struct message *msg, const struct json *object)
{
    struct server *srv = to;
    const struct json *id = json_get(object, "id");

    if (!json_is(object, JSON_OBJECT)) {
        send_error(srv, msg, NULL, INVALID_REQUEST,
                   "Invalid request: not an object");
    } else if (json_get(object, "jsonrpc")) {
        rpc_object(srv, msg, object);
    } else if (json_get(object, "type") && !msg->is_batch && !srv->worker) {
        line_object(srv, msg, object);
    } else {
        char *text = id ? message_id(id) : NULL;
        send_error(srv, msg, text, INVALID_REQUEST,
                   "Invalid request: neither \"jsonrpc\" nor \"type\"");
        free(text);
    }
}

static void
dispatch_refuse(void *to, int code, const char *text)
{
    send_error(to, NULL, NULL, code, text);
}

void
dispatch_line(struct server *srv, const char *line, size_t len)
{
    static const struct taker taker = {dispatch_object, dispatch_refuse};

    message_take(line, len, &taker, srv);
}

void
dispatch_too_large(struct server *srv)
{
    char text[80];

    (void)snprintf(text, sizeof text, "Request too large (limit: %zu bytes)",
                   srv->in.max);
    send_error(srv, NULL, NULL, PARSE_ERROR, text);
}
