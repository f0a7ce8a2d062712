/* A guest decides how often it connects, so events must not fill the store.
 * Repeated denials of one host within DENIED_AGAIN_NS become one event with a
 * count. The rate of connections limits the other events. */
#include "supervisor/session/network_events.h"

#include "base/os_time.h"
#include "net/message.h"
#include "supervisor/session/events.h"
#include "supervisor/session/life.h"
#include "supervisor/session/session.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Repeated denials within this time are one event. */
#define DENIED_AGAIN_NS (10 * NS_PER_S)

static const char *const close_causes[N_CLOSE_CAUSES] = {
    [CLOSE_GUEST] = "guest",   [CLOSE_PEER] = "peer",
    [CLOSE_POLICY] = "policy", [CLOSE_LIMIT] = "limit",
    [CLOSE_BROKER] = "broker",
};

/* An open connection. */
struct network_connection {
    struct list link; /* in life_broker.connections */
    struct message_report opened;
    int64_t since_ns;
};

/* --- to the store */

struct network_event {
    struct store_job job;
    struct session *s;
    const char *kind;
    struct buf json;
    int64_t time_ms;
};

static int
network_event_run(struct store *store, struct store_job *j)
{
    const struct network_event *v = CONTAINER_OF(j, struct network_event, job);
    const struct store_event e = {.time_ms = v->time_ms,
                                  .session = v->s->id,
                                  .agent = v->s->agent,
                                  .kind = v->kind,
                                  .cause = "",
                                  .figures = v->json.p};

    return store_event_append(store, &e, NULL);
}

static void
network_event_done(struct store_job *j, int error)
{
    struct network_event *v = CONTAINER_OF(j, struct network_event, job);

    if (error == 0)
        events_happened(v->s->sv);
    buf_fini(&v->json);
    session_put(v->s);
    free(v);
}

/* Begins an event: the caller appends members. NULL: no memory, and the event
 * is lost. */
static struct network_event *
network_event_new(struct session *s, const char *kind)
{
    struct network_event *v = calloc(1, sizeof *v);

    if (!v)
        return NULL;
    v->s = session_get(s);
    v->kind = kind;
    v->time_ms = time_wall_ms();
    buf_init(&v->json, SIZE_MAX);
    buf_puts(&v->json, "{");
    return v;
}

/* The store need not have it at once: a lost connection is no state. */
static void
network_event_post(OWN struct network_event *v)
{
    buf_add(&v->json, "}", 2);
    v->job = (struct store_job){.kind = STORE_JOB_INTERVAL,
                                .run = network_event_run,
                                .done = network_event_done,
                                .bytes = v->json.len + sizeof *v};
    if (v->json.error)
        network_event_done(&v->job, v->json.error);
    else
        store_thread_post(v->s->sv->store_thread, &v->job);
}

/* --- members */

static bool
network_has_address(const struct message_report *r)
{
    static const struct in6_addr none;

    return memcmp(&r->ip, &none, sizeof none) != 0;
}

static void
network_put_host(struct buf *b, const struct message_report *r)
{
    char address[ADDRESS_TEXT_BYTES];

    address_print(&r->ip, address);
    put_name(b, "host");
    put_text(b, r->name_len ? r->name : address);
    if (r->kind != REPORT_DENY && network_has_address(r)) {
        put_name(b, "address");
        put_text(b, address);
    }
    if (r->port)
        put_number(b, "port", r->port);
}

static void
network_put_opened(struct buf *b, const struct message_report *r)
{
    put_number(b, "connection", r->connection);
    network_put_host(b, r);
}

/* --- connections */

static void
network_opened(struct life *l, const struct message_report *r)
{
    struct network_connection *c = malloc(sizeof *c);
    struct network_event *v = network_event_new(l->s, "net.open");

    l->s->sv->counters.network.opened++;
    if (c) {
        *c = (struct network_connection){.opened = *r,
                                         .since_ns = time_mono_ns()};
        list_push_back(&l->broker.connections, &c->link);
    }
    if (!v)
        return;
    network_put_opened(&v->json, r);
    put_number(&v->json, "ms", r->ms);
    network_event_post(v);
}

static struct network_connection *
network_find(const struct life *l, uint32_t number)
{
    LIST_FOR_EACH(it, &l->broker.connections) {
        struct network_connection *c =
            CONTAINER_OF(it, struct network_connection, link);
        if (c->opened.connection == number)
            return c;
    }
    return NULL;
}

static void
network_closed(struct life *l, const struct message_report *r)
{
    struct network_connection *c = network_find(l, r->connection);
    struct network_event *v = network_event_new(l->s, "net.close");

    l->broker.bytes += r->sent + r->received;
    l->s->sv->counters.network.sent += r->sent;
    l->s->sv->counters.network.received += r->received;
    if (c) {
        list_remove(&c->link);
        free(c);
    }
    if (!v)
        return;
    network_put_opened(&v->json, r);
    put_number(&v->json, "sent", r->sent);
    put_number(&v->json, "received", r->received);
    put_number(&v->json, "ms", r->ms);
    put_name(&v->json, "cause");
    put_text(&v->json, close_causes[r->reason]);
    network_event_post(v);
}

/* The figures of these connections are lost with their broker. */
void
network_events_lose(struct life *l)
{
    while (!list_is_empty(&l->broker.connections)) {
        const struct network_connection *c = CONTAINER_OF(
            l->broker.connections.next, struct network_connection, link);
        struct message_report r = c->opened;
        r.kind = REPORT_CLOSE;
        r.reason = CLOSE_BROKER;
        r.ms = (uint32_t)((time_mono_ns() - c->since_ns) / NS_PER_MS);
        network_closed(l, &r);
    }
}

/* --- denials */

/* Returns the entry of this host, or a free one, or that of the oldest
 * event. */
static struct network_denied *
network_denied_of(struct session_network *n, const struct message_report *r,
                  const char *host)
{
    struct network_denied *oldest = n->denied;

    for (size_t i = 0; i < n->n_denied; i++) {
        struct network_denied *d = &n->denied[i];
        if (d->port == r->port && d->reason == (enum verdict)r->reason &&
            !strcmp(d->host, host))
            return d;
        if (d->reported_ns < oldest->reported_ns)
            oldest = d;
    }
    if (n->n_denied < NETWORK_DENIED_MAX)
        oldest = &n->denied[n->n_denied++];
    *oldest = (struct network_denied){.port = r->port,
                                      .reason = (enum verdict)r->reason};
    memcpy(oldest->host, host, strlen(host) + 1);
    return oldest;
}

static void
network_denied(struct life *l, const struct message_report *r)
{
    char host[HOSTNAME_MAX + 1];
    int64_t now_ns = time_mono_ns();

    l->s->sv->counters.network.denied++;
    if (r->name_len)
        memcpy(host, r->name, r->name_len + 1U);
    else
        address_print(&r->ip, host);
    struct network_denied *d = network_denied_of(l->s->network, r, host);
    d->count++;
    if (d->reported_ns && now_ns < d->reported_ns + DENIED_AGAIN_NS)
        return;
    struct network_event *v = network_event_new(l->s, "net.deny");
    if (!v)
        return;
    network_put_host(&v->json, r);
    put_name(&v->json, "reason");
    put_text(&v->json, verdict_word(d->reason));
    put_number(&v->json, "count", d->count - d->reported);
    d->reported = d->count;
    d->reported_ns = now_ns;
    network_event_post(v);
}

void
network_events_take(struct life *l, const struct message_report *r)
{
    switch ((enum message_report_kind)r->kind) {
    case REPORT_OPEN:
        network_opened(l, r);
        break;
    case REPORT_CLOSE:
        network_closed(l, r);
        break;
    case REPORT_DENY:
        network_denied(l, r);
        break;
    }
}

/* --- for network.get */

void
network_events_put_connections(const struct life *l, struct buf *b)
{
    const char *separator = "";
    int64_t now_ns = time_mono_ns();

    buf_puts(b, "[");
    if (l)
        LIST_FOR_EACH(it, &l->broker.connections) {
            const struct network_connection *c =
                CONTAINER_OF(it, struct network_connection, link);
            buf_puts(b, separator);
            buf_puts(b, "{");
            network_put_opened(b, &c->opened);
            put_number(b, "ms", (uint64_t)((now_ns - c->since_ns) / NS_PER_MS));
            buf_puts(b, "}");
            separator = ",";
        }
    buf_puts(b, "]");
}

void
network_events_put_denied(const struct session *s, struct buf *b)
{
    const struct session_network *n = s->network;

    buf_puts(b, "[");
    for (size_t i = 0; n && i < n->n_denied; i++) {
        const struct network_denied *d = &n->denied[i];
        buf_puts(b, i ? ",{" : "{");
        put_name(b, "host");
        put_text(b, d->host);
        if (d->port)
            put_number(b, "port", d->port);
        put_name(b, "reason");
        put_text(b, verdict_word(d->reason));
        put_number(b, "count", d->count);
        buf_puts(b, "}");
    }
    buf_puts(b, "]");
}
