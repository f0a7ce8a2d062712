/* From a call to its handler or sandbox.
 *
 * The checks have a fixed order, which decides the error of a call with
 * several faults. The sandbox must exist, the parameters must be right, and a
 * worker may refuse the method. */
#include "rpc/dispatch.h"

#include "rpc/config.h"
#include "rpc/methods.h"
#include "rpc/slot.h"
#include "rpc/values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- sandboxes */

/* Ids are written in one way only: "07" or "+7" are names of no sandbox. */
uint64_t
dispatch_sandbox_id(struct text name)
{
    uint64_t id = 0;

    if (!name.len || name.len > 18 || *name.p == '0')
        return 0;
    for (size_t i = 0; i < name.len; i++) {
        if (name.p[i] < '0' || name.p[i] > '9')
            return 0;
        id = id * 10 + (uint64_t)(name.p[i] - '0');
    }
    return id;
}

/* Serves a call that names its sandbox. */
static void
dispatch_to_named(OWN struct call *q, const struct json *name)
{
    if (!json_is(name, JSON_STRING)) {
        answer_error(q, INVALID_PARAMS, "sandboxId must be a string");
        return;
    }
    struct slot *slot = slot_find(server_of(q), param_sandbox_id(q));
    if (slot)
        slot_submit(slot, q);
    else
        answer_error(q, INVALID_PARAMS, "Unknown sandboxId: %.200s",
                     json_text(name).p);
}

/* --- the line protocol */

/* The first request creates the root sandbox, with the defaults. */
static bool
dispatch_have_root(struct server *srv)
{
    if (srv->root)
        return true;
    CLEANUP(config_putp)
    struct sandbox_config *c = config_new(srv, NULL, NULL, true);
    return c && root_create(srv, c, NULL);
}

/* The id is checked here and not by a row, because its error is part of the
 * protocol. */
static void
dispatch_line(OWN struct call *q)
{
    const struct json *id = json_get(q->params, "id");
    char error[PARAM_ERROR_BYTES];

    if (!id || json_is(id, JSON_NULL))
        answer_error(q, INVALID_PARAMS, "Missing required param: id");
    else if (!json_is(id, JSON_STRING))
        answer_error(q, INVALID_PARAMS, "id must be a string");
    else if (method_check(q->peer->methods, q->method, q->params, error) < 0)
        answer_error(q, INVALID_PARAMS, "%s", error);
    else if (!dispatch_have_root(server_of(q)))
        answer_error(q, INTERNAL_ERROR, "Internal error: out of memory");
    else
        slot_submit(server_of(q)->root, q);
}

/* An object with a type is valid from here on, even if the type is unknown:
 * later errors are in this protocol. */
static void
dispatch_line_object(struct peer *p, struct message *msg,
                     const struct json *object, OWN char *id)
{
    struct text name = json_text(json_get(object, "type"));
    const struct method *m = method_find(p->methods, name, true);
    char text[256];

    p->is_line = true;
    if (m) {
        peer_call(p, msg, m, object, id);
        return;
    }
    (void)snprintf(text, sizeof text, "Unknown type: %.200s", name.p);
    peer_refuse_line(p, name.p, id, text);
    free(id);
}

/* The type is sent back in the answer, hence it must be a string. */
void
dispatch_other(struct peer *p, struct message *msg, const struct json *object)
{
    const struct json *type = json_get(object, "type");
    const struct json *json_id = json_get(object, "id");
    char *id = json_id ? message_id(json_id) : NULL;

    if (!type || msg->is_batch ||
        CONTAINER_OF(p, struct server, peer)->worker) {
        peer_refuse(p, msg, id, INVALID_REQUEST,
                    "Invalid request: neither \"jsonrpc\" nor \"type\"");
        free(id);
    } else if (!json_is(type, JSON_STRING)) {
        peer_refuse_line(p, "error", id, "type must be a string");
        free(id);
    } else {
        dispatch_line_object(p, msg, object, id ? id : strdup("null"));
    }
}

/* --- JSON-RPC */

/* Methods of the root sandbox ignore sandboxId. An EARLY call may come before
 * there is a sandbox. */
void
dispatch_call(OWN struct call *q)
{
    struct server *srv = server_of(q);
    unsigned flags = q->method->flags;
    const struct json *name = flags & ROOT ? NULL : param(q, "sandboxId");
    char error[PARAM_ERROR_BYTES];
    const char *refused = srv->worker ? worker_refuses(q) : NULL;

    if (flags & LINE)
        dispatch_line(q);
    else if (!srv->root && !(flags & EARLY))
        answer_error(q, INVALID_REQUEST, "Sandbox not created");
    else if (method_check(q->peer->methods, q->method, q->params, error) < 0)
        answer_error(q, INVALID_PARAMS, "%s", error);
    else if (refused)
        answer_error(q, SANDBOX_ERROR, "EPERM: not in a session: %s", refused);
    else if (flags & NO_SANDBOX || (!name && !srv->root))
        q->method->handle(q);
    else if (name)
        dispatch_to_named(q, name);
    else
        slot_submit(srv->root, q);
}
