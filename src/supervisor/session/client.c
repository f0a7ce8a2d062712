/* The supervisor as a front end of the core: clients and their calls. */
#include "supervisor/session/client.h"

#include "supervisor/session/call.h"
#include "supervisor/session/methods.h"
#include "supervisor/session/output.h"
#include "supervisor/session/session.h"
#include "supervisor/session/supervisor.h"
#include "supervisor/session/worker_link.h"

#include <stdlib.h>

/* --- the delivery table */

static void
client_parsed(struct peer *p, const struct json *line)
{
    struct client *c = CONTAINER_OF(p, struct client, peer);

    if (c->ops->parsed)
        c->ops->parsed(c, line);
}

static struct call *
client_alloc(struct peer *p)
{
    struct client *c = CONTAINER_OF(p, struct client, peer);
    struct routing *r = calloc(1, sizeof *r);

    if (!r)
        return NULL;
    r->begun_ns = time_mono_ns();
    c->sv->counters.requests++;
    return &r->call;
}

static void
client_free_call(OWN struct call *q)
{
    struct routing *r = routing_of(q);
    struct counters *n = &client_of(q)->sv->counters;

    n->answered[method_index(q->method)][q->has_failed || r->has_failed]++;
    n->refused += q->has_failed;
    list_remove(&q->link);
    free(r);
}

/* Producers of output check is_behind themselves, so nothing waits here. */
static void
client_send(struct peer *p, const char *line, size_t len, bool may_wait)
{
    struct client *c = CONTAINER_OF(p, struct client, peer);

    (void)may_wait;
    if (!c->is_gone)
        c->ops->send(c, line, len - 1);
}

static bool
client_is_behind(struct peer *p)
{
    const struct client *c = CONTAINER_OF(p, struct client, peer);

    return c->ops->is_behind(c);
}

static void
client_go_on(struct client *c)
{
    if (!c->is_gone && !backlog_is_empty(&c->peer.waiting) &&
        !peer_is_full(&c->peer))
        c->ops->again(c);
}

/* Something that the client may have waited for is over. */
static void
client_put(struct client *c)
{
    client_go_on(c);
    if (c->peer.n_calls || c->is_busy || !backlog_is_empty(&c->peer.waiting))
        return;
    if (c->is_gone) {
        list_remove(&c->link);
        c->sv->n_clients--;
        c->ops->free(c);
    } else if (c->ops->settled) {
        c->ops->settled(c);
    }
}

static void
client_answered(struct peer *p)
{
    client_put(CONTAINER_OF(p, struct client, peer));
}

/* --- clients */

void
client_init(struct client *c, struct supervisor *sv,
            const struct client_ops *ops)
{
    static const struct peer_ops peer_ops = {.calls_max = 1024,
                                             .bytes_max = 16 << 20,
                                             .urgent_max = 1024,
                                             .parsed = client_parsed,
                                             .alloc = client_alloc,
                                             .serve = session_dispatch,
                                             .finish = answer_send,
                                             .free = client_free_call,
                                             .answered = client_answered,
                                             .send = client_send,
                                             .is_behind = client_is_behind};

    *c = (struct client){.sv = sv, .ops = ops};
    peer_init(&c->peer, &peer_ops, &session_methods);
    c->peer.has_one = !ops->again;
    list_init(&c->stalled);
    list_push_back(&sv->clients, &c->link);
    sv->n_clients++;
    sv->counters.clients++;
}

void
client_caught_up(struct client *c)
{
    worker_link_go_on(c);
    client_go_on(c);
}

void
client_gone(struct client *c)
{
    if (c->is_gone)
        return;
    c->is_gone = true;
    backlog_fini(&c->peer.waiting);
    c->is_busy = true;
    output_forget_client(c);
    c->is_busy = false;
    client_put(c);
}

/* --- lines */

void
client_line(struct client *c, const char *line, size_t len)
{
    c->is_busy = true;
    peer_line(&c->peer, line, len);
    c->is_busy = false;
    client_put(c);
}

void
client_take_waiting(struct client *c)
{
    c->is_busy = true;
    while (peer_take_waiting(&c->peer))
        ;
    c->is_busy = false;
    client_put(c);
}

void
client_too_large(struct client *c, size_t limit)
{
    peer_too_large(&c->peer, limit);
    client_put(c);
}

/* --- cancelling what waits */

static bool
client_is_run_of(const void *arg, const struct method *m,
                 const struct json *params)
{
    const struct session *s = arg;
    const struct json *id = json_get(params, "sessionId");

    return method_is(m, "run") && json_is(id, JSON_STRING) &&
           text_is(json_text(id), s->id);
}

bool
client_cancel_waiting(OWN struct call *q)
{
    const struct json *requested = param(q, "requestId");
    const struct session *s = routing_of(q)->session;
    char *id = requested ? message_id(requested) : NULL;
    const struct waiting_run w = {id, s->id, client_is_run_of, s};
    bool is = (id || !requested) && peer_cancel_waiting(q->peer, &w);

    free(id);
    if (is) {
        buf_puts(answer_begin(q), "{\"ok\":true,\"cancelled\":true}");
        answer_end(q);
    }
    return is;
}
