/* Lines of input: served, kept for later, or rejected.
 *
 * Problem: the number of requests in progress must be bounded, but the loop
 * cannot just stop reading. A request to cancel, the client's answer to a
 * request of ours, or the end of input may be the event that all others wait
 * for.
 *
 * Idea: as many requests as allowed are parsed and served. Further lines wait
 * unparsed, and the loop continues to read and to pick out the urgent ones.
 * Memory stays bounded: a line beyond the backlog's size is rejected, and a
 * client that does not read these answers is not read from. */
#include "rpc/rpc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    REQUESTS_MAX = 4096,
    REQUEST_BYTES_MAX = 64 << 20,
    URGENT_MAX = 4096, /* served for a client that does not read */
};

static bool
has_too_many(struct server *srv)
{
    return srv->n_requests > REQUESTS_MAX ||
           srv->request_bytes > REQUEST_BYTES_MAX ||
           (writer_is_behind(&srv->out) && !srv->is_cancelling);
}

/* Set the flag before testing the condition; otherwise a request freed in
 * between would not wake us. */
bool
input_is_full(struct server *srv)
{
    srv->wants_fewer = true;
    if (has_too_many(srv))
        return true;
    srv->wants_fewer = srv->is_ending;
    return false;
}

bool
input_is_stuck(struct server *srv)
{
    return srv->waiting.is_full && writer_is_behind(&srv->out) &&
           !srv->is_cancelling;
}

/* --- cancelling what waits */

static bool
input_is_run_of(const void *arg, const struct json *object)
{
    const struct slot *wanted = arg;
    const struct json *params = json_get(object, "params");
    const struct json *name = json_get(object, "method");
    bool is_line = !json_get(object, "jsonrpc");

    if (is_line)
        name = json_get(object, "type");
    if (!json_is(name, JSON_STRING))
        return false;
    const struct method *method = method_find(json_text(name), is_line);
    const struct json *slot = is_line ? NULL : json_get(params, "sandboxId");
    uint64_t id =
        json_is(slot, JSON_STRING) ? parse_sandbox_id(json_text(slot)) : 0;
    return method && method->handle == do_run && id == wanted->id;
}

bool
input_cancel(struct server *srv, const struct slot *slot, const char *id)
{
    const struct wanted w = {id, input_is_run_of, slot};
    char name[24];

    slot_name(slot, name);
    return backlog_cancel(&srv->waiting, &w, name);
}

bool
input_was_cancelled(struct server *srv, const struct slot *slot, const char *id)
{
    char name[24];

    if (list_is_empty(&srv->waiting.cancelled))
        return false;
    slot_name(slot, name);
    return backlog_was_cancelled(&srv->waiting, name, id);
}

/* --- lines */

/* May the line overtake those that wait? */
static bool
input_is_urgent(const char *line, size_t len)
{
    static const char ours[] = "cb_"; /* ids of our own requests */
    const struct method *m;
    struct envelope e;

    if (!envelope_read(line, len, &e))
        return false;
    if (e.method.len)
        m = method_find(e.method, false);
    else if (e.type.len)
        m = method_find(e.type, true);
    else
        return e.id.len > strlen(ours) && !memcmp(e.id.p, ours, strlen(ours));
    return m && m->flags & URGENT;
}

/* Urgent requests have short answers, but not without end. */
static bool
may_overtake(struct server *srv)
{
    if (!writer_is_behind(&srv->out))
        srv->n_urgent = 0;
    return srv->n_urgent++ < URGENT_MAX;
}

static void
input_refuse_line(struct server *srv, const char *line, size_t len)
{
    srv->n_over = srv->n_requests + srv->waiting.n_lines;
    dispatch_line(srv, line, len);
    srv->n_over = 0;
}

static void
input_take_line(struct server *srv, const char *line, size_t len)
{
    if ((backlog_is_empty(&srv->waiting) && !input_is_full(srv)) ||
        (input_is_urgent(line, len) && may_overtake(srv)))
        dispatch_line(srv, line, len);
    else if (backlog_put(&srv->waiting, line, len) < 0)
        input_refuse_line(srv, line, len);
}

static void
take_waiting(struct server *srv)
{
    const char *line;
    size_t len;

    if (!backlog_is_empty(&srv->waiting) && writer_is_broken(&srv->out))
        backlog_fini(&srv->waiting); /* nobody is there to be answered */
    while (leader_is_here(&srv->leader) && !input_is_full(srv) &&
           backlog_take(&srv->waiting, &line, &len))
        dispatch_line(srv, line, len);
}

static bool
input_is_blank(const char *p, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (p[i] != ' ' && p[i] != '\t' && p[i] != '\r')
            return false;
    return true;
}

bool
input_take(struct server *srv)
{
    char *line;
    size_t len;

    take_waiting(srv);
    while (leader_is_here(&srv->leader)) {
        if (srv->is_deaf || input_is_stuck(srv))
            return srv->is_deaf && backlog_is_empty(&srv->waiting);
        switch (frame_next(&srv->in, &line, &len)) {
        case FRAME_MORE:
            return backlog_is_empty(&srv->waiting);
        case FRAME_LINE:
            if (!input_is_blank(line, len))
                input_take_line(srv, line, len);
            break;
        case FRAME_TOO_LARGE:
            dispatch_too_large(srv);
            break;
        }
    }
    return true;
}

bool
input_has_more(const struct server *srv)
{
    return !frame_is_empty(&srv->in) || !backlog_is_empty(&srv->waiting);
}

void
input_init(struct server *srv)
{
    frame_init(&srv->in, 0);
    backlog_init(&srv->waiting);
}

void
input_fini(struct server *srv)
{
    backlog_fini(&srv->waiting);
    frame_fini(&srv->in);
}
