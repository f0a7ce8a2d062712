/* From a client's line to calls. */
#include "supervisor/client.h"

#include "supervisor/call.h"
#include "supervisor/route.h"
#include "supervisor/supervisor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void
client_init(struct client *c, struct supervisor *sv,
            const struct client_ops *ops)
{
    *c = (struct client){.sv = sv, .ops = ops};
    list_init(&c->calls);
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

void
client_put(struct client *c)
{
    if (c->n_calls || c->is_busy)
        return;
    if (c->is_gone)
        client_end(c);
    else if (c->ops->settled)
        c->ops->settled(c);
}

void
client_caught_up(struct client *c)
{
    route_go_on(c);
}

void
client_gone(struct client *c)
{
    if (c->is_gone)
        return;
    c->is_gone = true;
    c->is_busy = true;
    route_forget_client(c);
    c->is_busy = false;
    client_put(c);
}

/* --- lines */

static void
call(struct client *c, struct message *msg, const json_t *object, OWN char *id)
{
    struct text name = message_text(msg, json_object_get(object, "method"));
    const json_t *params = json_object_get(object, "params");
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
    else if (params && !json_is_null(params) && !json_is_object(params))
        call_error(q, INVALID_PARAMS, "params must be an object");
    else
        route_call(q);
}

static void
take_object(void *to, struct message *msg, const json_t *object)
{
    struct client *c = to;
    const char *fault = json_is_object(object)
                            ? request_fault(object)
                            : "Invalid request: not an object";
    const json_t *json_id = json_object_get(object, "id");
    char *id = json_id ? message_id(msg, json_id) : NULL;

    if (!fault) {
        call(c, msg, object, id);
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
is_blank(const char *line, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r')
            return false;
    return true;
}

void
client_line(struct client *c, const char *line, size_t len)
{
    static const struct taker taker = {take_object, refuse};

    c->is_busy = true;
    if (!is_blank(line, len))
        message_take(line, len, &taker, c);
    c->is_busy = false;
    client_put(c);
}

void
client_too_large(struct client *c)
{
    client_refuse(c, NULL, NULL, PARSE_ERROR,
                  "Request too large (limit: 8388608 bytes)");
    client_put(c);
}
