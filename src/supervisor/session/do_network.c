/* network.* and port.* of sessions. The supervisor has the policy and listens,
 * so a session needs no worker for them. A change is answered when the store
 * has it. */
#include "supervisor/session/forward.h"
#include "supervisor/session/life.h"
#include "supervisor/session/methods.h"
#include "supervisor/session/network_events.h"
#include "supervisor/session/session.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* A native command and an x86 computer have no broker. */
static bool
network_refuse_command(const struct session *s, struct call *q)
{
    if (!s->command && !session_has_disk(s))
        return false;
    answer_error(q, SESSION_ERROR, "The session runs %s and has no sandbox: %s",
                 s->command ? "a command" : "an x86 computer", s->id);
    return true;
}

/* --- changes */

/* The answer was begun before. */
static void
network_saved(struct session *s, void *arg, int error, const char *why)
{
    struct call *q = arg;

    if (error < 0)
        answer_error(q, SANDBOX_ERROR,
                     "EIO: the session's options were not saved: %s", why);
    else
        life_broker_finish(s->life, q);
}

/* Stores the options with an event, which is printed JSON. */
static void
network_save(struct session *s, OWN struct call *q, const char *kind,
             struct buf *event)
{
    if (event->error || session_write_options(s) < 0) {
        buf_fini(event);
        answer_error(q, INTERNAL_ERROR, "Internal error: out of memory");
        return;
    }
    session_note(s, kind, buf_steal(event), network_saved, q);
}

/* Answers a change of the policy that returned r. The new policy applies before
 * the store has it: a denial must not wait. */
static void
network_finish_set(struct session *s, OWN struct call *q, int r,
                   const char *why)
{
    struct buf event;

    if (r < 0) {
        answer_error(q, r == -ENOMEM ? INTERNAL_ERROR : INVALID_PARAMS, "%s",
                     why);
        return;
    }
    if (session_is_serving(s))
        life_broker_update(s->life);
    buf_init(&event, SIZE_MAX);
    buf_printf(&event, "{\"revision\":%" PRIu64 "}", s->network->revision);
    buf_add(&event, "", 1);
    buf_printf(answer_begin(q), "{\"revision\":%" PRIu64 "}",
               s->network->revision);
    network_save(s, q, "net.policy", &event);
}

void
do_session_network_set(struct call *q)
{
    struct session *s = routing_of(q)->session;
    char why[NETWORK_WHY_BYTES];

    if (network_refuse_command(s, q))
        return;
    int r = session_network_set(s, param(q, "network"), why);
    network_finish_set(s, q, r, why);
}

static void
network_add(OWN struct call *q, const struct json *allow,
            const struct json *deny)
{
    struct session *s = routing_of(q)->session;
    char why[NETWORK_WHY_BYTES];

    if (network_refuse_command(s, q))
        return;
    int r = session_network_add(s, allow, deny, why);
    network_finish_set(s, q, r, why);
}

void
do_session_network_allow(struct call *q)
{
    network_add(q, param(q, "rules"), NULL);
}

void
do_session_network_deny(struct call *q)
{
    network_add(q, NULL, param(q, "rules"));
}

void
do_session_network_get(struct call *q)
{
    const struct session *s = routing_of(q)->session;

    if (network_refuse_command(s, q))
        return;
    struct buf *b = answer_begin(q);
    buf_puts(b, "{");
    put_name(b, "network");
    session_network_put(b, s->network);
    put_number(b, "revision", s->network ? s->network->revision : 0);
    put_name(b, "connections");
    network_events_put_connections(s->life, b);
    put_name(b, "denied");
    network_events_put_denied(s, b);
    buf_puts(b, "}");
    answer_end(q);
}

/* --- ports */

/* Stores the forwards. The answer was begun before. */
static void
port_save(struct session *s, OWN struct call *q)
{
    struct buf event;

    buf_init(&event, SIZE_MAX);
    buf_puts(&event, "{\"ports\":");
    session_forward_put(&event, s);
    buf_add(&event, "}", 2);
    network_save(s, q, "net.ports", &event);
}

static void
port_refuse(OWN struct call *q, const char *address, int r)
{
    unsigned port = (unsigned)param_int(q, "port", 0);

    if (r == -EINVAL)
        answer_error(q, INVALID_PARAMS, "'%.100s' is not an address", address);
    else if (r == -EEXIST)
        answer_error(q, SANDBOX_ERROR, "EEXIST: port %u is forwarded already",
                     port);
    else if (r == -ENOSPC)
        answer_error(q, SANDBOX_ERROR,
                     "ENOSPC: %d ports are forwarded, the "
                     "maximum; port.unforward ends one",
                     FORWARDS_MAX);
    else
        answer_error(q, SANDBOX_ERROR,
                     "%s: cannot listen on %.100s port %u: %s",
                     strerrorname_np(-r), address,
                     (unsigned)param_int(q, "hostPort", 0), strerror(-r));
}

/* A session without a worker does not listen, so it is resumed first. */
void
do_session_port_forward(struct call *q)
{
    struct session *s = routing_of(q)->session;
    const char *given = param_text(q, "address"),
               *address = given ? given : "127.0.0.1";
    struct session_forward *f = NULL;

    if (network_refuse_command(s, q))
        return;
    if (!session_is_serving(s)) {
        session_refuse(s, q);
        return;
    }
    int r = session_forward_add(s, (uint16_t)param_int(q, "port", 0), address,
                                (uint16_t)param_int(q, "hostPort", 0), &f);
    if (r < 0) {
        port_refuse(q, address, r);
        return;
    }
    life_broker_update(s->life);
    struct buf *b = answer_begin(q);
    buf_puts(b, "{");
    put_name(b, "address");
    put_text(b, f->address);
    put_number(b, "port", f->host_port);
    buf_puts(b, "}");
    port_save(s, q);
}

void
do_session_port_unforward(struct call *q)
{
    struct session *s = routing_of(q)->session;
    unsigned port = (unsigned)param_int(q, "port", 0);
    struct session_forward *f = session_forward_find(s, (uint16_t)port);

    if (!f) {
        answer_error(q, SANDBOX_ERROR, "ENOENT: port %u is not forwarded",
                     port);
        return;
    }
    session_forward_free(f);
    buf_puts(answer_begin(q), "{\"ok\":true}");
    port_save(s, q);
}

void
do_session_port_list(struct call *q)
{
    struct buf *b = answer_begin(q);

    buf_puts(b, "{\"ports\":");
    session_forward_put(b, routing_of(q)->session);
    buf_puts(b, "}");
    answer_end(q);
}
