/* Output of runs and processes, for the client that started them. */
#include "supervisor/session/output.h"

#include "supervisor/session/events.h"
#include "supervisor/session/life.h"
#include "supervisor/session/session.h"

#include <inttypes.h>
#include <stdlib.h>

enum { ROUTES_MAX = 1024 }; /* of one session */

/* --- the client of a process */

/* The client of a process. */
struct route {
    struct list link; /* in worker_link.routes */
    uint64_t process;
    struct client *client;
    bool has_pty, has_window;
};

/* Returns a member that is a number, or 0 if there is none. */
static uint64_t
output_member_number(struct text object, const char *name)
{
    struct json_member m;
    struct json_scan s;
    uint64_t n = 0;

    if (!json_scan_begin(object, &s))
        return 0;
    while (json_scan_next(&s, &m))
        if (text_is(m.name, name))
            (void)text_number(m.value, &n);
    return n;
}

static void
route_free(struct life *l, struct route *r)
{
    list_remove(&r->link);
    l->link.n_routes--;
    free(r);
}

/* Returns the route of a process, or NULL. */
static struct route *
output_find_route(const struct life *l, uint64_t process)
{
    LIST_FOR_EACH(it, &l->link.routes) {
        struct route *r = CONTAINER_OF(it, struct route, link);
        if (r->process == process)
            return r;
    }
    return NULL;
}

/* The client of this output is gone. Its window would never open again and the
 * process would wait for ever, so it gets a window without limit; its output is
 * dropped. */
static void
output_open_window(struct life *l, const char *id_name, uint64_t id)
{
    struct buf b;

    buf_init(&b, SIZE_MAX);
    buf_printf(&b, "{\"%s\":%" PRIu64 ",\"bytes\":%" PRIi64 "}", id_name, id,
               INT64_C(1) << 53);
    if (!b.error)
        worker_link_ask(l, ASK_WINDOW, "output.window", &b);
    buf_fini(&b);
}

/* Removes a route whose process may still write. */
static void
output_drop_route(struct life *l, struct route *r)
{
    if (r->has_window)
        output_open_window(l, "processId", r->process);
    route_free(l, r);
}

/* The output of a new process goes to the client of the call that started it.
 * If there are too many routes, the oldest is dropped. */
void
output_add_route(struct life *l, const struct call *q, struct text result)
{
    struct route *r = calloc(1, sizeof *r);

    if (!r)
        return;
    *r = (struct route){.process = output_member_number(result, "processId"),
                        .client = client_of(q),
                        .has_pty = param_bool(q, "pty", false),
                        .has_window = param(q, "windowBytes")};
    list_push_back(&l->link.routes, &r->link);
    l->link.n_routes++;
    if (client_of(q)->is_gone)
        output_drop_route(l, r);
    else if (l->link.n_routes > ROUTES_MAX)
        output_drop_route(
            l, CONTAINER_OF(l->link.routes.next, struct route, link));
}

/* Called when the end of a process was reported: it writes no more. */
void
output_end_route(struct life *l, const struct call *q)
{
    struct route *r =
        output_find_route(l, (uint64_t)param_int(q, "processId", 0));

    if (r && r->client == client_of(q))
        route_free(l, r);
}

/* The worker is gone, so no window has to be opened. */
void
output_end_routes(struct life *l)
{
    LIST_FOR_EACH_SAFE(it, &l->link.routes)
        route_free(l, CONTAINER_OF(it, struct route, link));
}

/* --- passing it on */

/* Returns the receiver, or NULL if there is none or it is gone. For a run,
 * *ret_id is the client's own id of the request. */
static struct client *
output_client_of(const struct life *l, struct text params, const char **ret_id)
{
    uint64_t number = output_member_number(params, "request_id");
    const struct call *q = number ? worker_link_find_open(l, number) : NULL;
    const struct route *r =
        number
            ? NULL
            : output_find_route(l, output_member_number(params, "process_id"));
    struct client *c = q && q->id ? client_of(q) : r ? r->client : NULL;

    *ret_id = q ? q->id : NULL;
    return c && !c->is_gone && !c->takes_no_output ? c : NULL;
}

/* Members are copied by name, so that a hostile worker cannot add any, for
 * example another sessionId. */
static bool
output_is_member(struct text name)
{
    static const char *const names[] = {"request_id", "process_id", "stream",
                                        "data",       "seq",        "encoding"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (text_is(name, names[i]))
            return true;
    return false;
}

/* Replaces the worker's number of a request by the client's id. */
static void
output_put(struct buf *b, const struct session *s, struct text params,
           const char *id)
{
    struct json_member m;
    struct json_scan scan;

    buf_puts(b, "{\"jsonrpc\":\"2.0\",\"method\":\"output\",\"params\":{");
    put_name(b, "sessionId");
    put_text(b, s->id);
    (void)json_scan_begin(params, &scan);
    while (json_scan_next(&scan, &m)) {
        if (!output_is_member(m.name))
            continue;
        buf_puts(b, ",\"");
        buf_add(b, m.name.p, m.name.len);
        buf_puts(b, "\":");
        if (id && text_is(m.name, "request_id"))
            buf_puts(b, id);
        else
            buf_add(b, m.value.p, m.value.len);
    }
    buf_puts(b, "}}\n");
}

/* If the client is behind now, nothing more is read from this worker until it
 * has caught up. Output thus waits in the worker, not in our memory. */
void
output_pass(struct life *l, struct text params)
{
    const char *id;
    struct client *c = output_client_of(l, params, &id);
    struct buf b;

    l->used_ns = time_mono_ns();
    if (!c)
        return;
    buf_init(&b, SIZE_MAX);
    output_put(&b, l->s, params, id);
    if (!b.error)
        c->peer.ops->send(&c->peer, b.p, b.len, false);
    buf_fini(&b);
    if (c->ops->is_behind(c))
        list_push_back(&c->stalled, &l->link.stall);
}

/* --- clients that go */

/* A terminal whose client is gone is hung up, as if its window had been
 * closed. */
static void
output_hang_up(struct life *l, const struct route *r)
{
    struct buf b;

    buf_init(&b, SIZE_MAX);
    buf_printf(&b, "{\"processId\":%" PRIu64 ",\"signal\":1}", r->process);
    if (!b.error)
        worker_link_ask(l, ASK_HANG_UP, "process.kill", &b);
    buf_fini(&b);
}

/* Processes of the client go on without it. Terminals are hung up, and windows
 * are opened for ever. */
static void
output_forget_in(struct life *l, const struct client *c)
{
    LIST_FOR_EACH_SAFE(it, &l->link.routes) {
        struct route *r = CONTAINER_OF(it, struct route, link);
        if (r->client != c)
            continue;
        if (r->has_pty)
            output_hang_up(l, r);
        output_drop_route(l, r);
    }
    LIST_FOR_EACH(it, &l->link.open) {
        const struct call *q = CONTAINER_OF(it, struct call, link);
        if (client_of(q) == c && method_is(q->method, "run") &&
            param(q, "windowBytes"))
            output_open_window(l, "requestId", routing_of(q)->number);
    }
}

/* Workers that waited for this client continue. */
void
output_forget_client(struct client *c)
{
    worker_link_go_on(c);
    events_forget_client(c->sv, c);
    LIST_FOR_EACH(it, &c->sv->lives)
        output_forget_in(CONTAINER_OF(it, struct life, all), c);
}
