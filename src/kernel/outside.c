/* The broker's answers, and the making of connections. */
#include "kernel/outside.h"

#include "kernel/denial.h"
#include "kernel/inbound.h"
#include "kernel/outside_impl.h"
#include "kernel/socket.h"
#include "net/address.h"
#include "net/message.h"
#include "net/policy.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

/* --- the broker */

/* Called by the scheduler when there is an answer. */
static void
outside_woken(struct waiter *w)
{
    outside_run(CONTAINER_OF(w, struct outside, on_answer));
}

int
outside_new(struct kernel *k, const struct outside_ops *ops, void *arg,
            OWN struct outside **ret)
{
    struct outside *o = malloc(sizeof *o);

    if (!o)
        return -ENOMEM;
    *o = (struct outside){.kernel = k,
                          .ops = ops,
                          .arg = arg,
                          .is_on = true,
                          .on_answer = {.wake = outside_woken, .stays = true}};
    host_watch_init(&o->watch, k, -1);
    waitq_add(&o->watch.queue, &o->on_answer);
    list_init(&o->ends);
    list_init(&o->questions);
    names_init(&o->names);
    *ret = o;
    return 0;
}

void
outside_free(OWN struct outside *o)
{
    if (!o)
        return;
    waiter_remove(&o->on_answer);
    host_watch_fini(&o->watch);
    names_fini(&o->names);
    free(o);
}

/* The broker is watched while a connection or a question exists, because its
 * end resets them, and while connections may come from outside. */
void
outside_watch(struct outside *o)
{
    bool is_needed =
        o->is_open || !list_is_empty(&o->ends) || !list_is_empty(&o->questions);
    int hfd = o->ops->answers(o->arg);

    if (hfd != o->watch.hfd)
        list_remove(&o->watch.link);
    o->watch.hfd = hfd;
    if (hfd >= 0 && is_needed)
        host_watch_arm(&o->watch, o->kernel,
                       o->is_stalled ? POLLIN | POLLOUT : POLLIN);
    else
        list_remove(&o->watch.link);
}

/* A socket that was connecting gets the error as the result of its connect; a
 * connection is reset. */
static void
outside_reset(struct outside_end *e, int error)
{
    struct socket *s = e->socket;

    s->error = error;
    if (s->state == SOCK_CONNECTING) {
        s->state = SOCK_IDLE;
        s->was_async = false;
        outside_end_free(e);
        if (s->is_autobound)
            s->family->unbind(s);
    } else {
        s->shut = SHUT_BITS;
        outside_end_close(e);
    }
    waitq_wake(&s->events);
}

/* Without its broker, nothing could end a connection that a new policy
 * denies. */
static void
outside_lose_broker(struct outside *o)
{
    LIST_FOR_EACH_SAFE(it, &o->ends) {
        struct outside_end *e = CONTAINER_OF(it, struct outside_end, link);
        outside_reset(e, ECONNRESET);
    }
    outside_names_fail(o);
}

int64_t
outside_first_failed(struct outside_end *e)
{
    struct socket *s = e->socket;

    outside_lose_broker(s->kernel->outside);
    return socket_take_error(s);
}

void
outside_set_on(struct outside *o, bool is_on)
{
    o->is_on = is_on;
    if (!is_on)
        outside_lose_broker(o);
}

void
outside_open(struct outside *o)
{
    o->is_open = true;
    outside_watch(o);
}

struct outside *
outside_of(const struct kernel *k)
{
    return k->outside && k->outside->is_on ? k->outside : NULL;
}

int
outside_ask(struct outside *o, const struct message_request *q)
{
    int r = o->ops->ask(o->arg, q);

    if (r == -EPIPE) {
        outside_lose_broker(o);
        r = o->ops->ask(o->arg, q);
    }
    return r;
}

/* --- answers */

static struct outside_end *
outside_find(struct outside *o, uint32_t id)
{
    LIST_FOR_EACH(it, &o->ends) {
        struct outside_end *e = CONTAINER_OF(it, struct outside_end, link);
        if (e->id == id)
            return e;
    }
    return NULL;
}

/* Returns the host of a connection as programs and users know it: its name, or
 * its address. */
static void
outside_host_of(const struct outside *o, const struct sock_addr *addr,
                char ret[HOSTNAME_MAX + 1])
{
    struct in6_addr ip;
    const char *name = NULL;

    if (addr->sa.sa_family == AF_INET)
        address_map_v4(&addr->in.sin_addr, &ip);
    else
        ip = addr->in6.sin6_addr;
    if (o && address_is_v4(&ip))
        name = names_find(&o->names, ip.s6_addr + 12);
    if (name)
        memcpy(ret, name, strlen(name) + 1);
    else
        address_print(&ip, ret);
}

void
outside_deny(struct kernel *k, uint64_t run_tag, const struct sock_addr *addr,
             const char *reason)
{
    char host[HOSTNAME_MAX + 1];

    outside_host_of(k->outside, addr, host);
    kernel_deny_host(k, run_tag, host, ntohs(addr->in.sin_port), reason);
}

static void
outside_answer_connect(struct outside_end *e, const struct message_answer *a,
                       OWN int hfd)
{
    struct socket *s = e->socket;

    if (a->error || hfd < 0) {
        if (a->verdict > VERDICT_ALLOWED && a->verdict < N_VERDICTS)
            outside_deny(s->kernel, e->run_tag, &s->remote,
                         verdict_word((enum verdict)a->verdict));
        outside_reset(e, a->error ? a->error : ECONNREFUSED);
        return;
    }
    outside_end_open(e, hfd);
    s->state = SOCK_CONNECTED;
    s->shut = 0;
    waitq_wake(&s->events);
}

/* Returns the error of a connection that the broker has ended. Its host is the
 * cause if there is no verdict; 0 is an orderly end. */
static int
outside_end_error(const struct message_answer *a)
{
    switch (a->verdict) {
    case VERDICT_ALLOWED:
        return a->error;
    case VERDICT_BYTES:
        return ENETDOWN;
    case VERDICT_TLS:
        return EACCES;
    default:
        return ECONNRESET;
    }
}

static void
outside_end_ended(struct outside_end *e, const struct message_answer *a)
{
    if (!e || (e->hfd < 0 && !e->is_first))
        return;
    if (a->verdict == VERDICT_BYTES || a->verdict == VERDICT_TLS)
        outside_deny(e->socket->kernel, e->run_tag, &e->socket->remote,
                     verdict_word((enum verdict)a->verdict));
    outside_reset(e, outside_end_error(a));
}

/* The broker wants first bytes: those of a new connection, or more of them. */
static void
outside_end_wanted(struct outside_end *e)
{
    if (!e)
        return;
    if (e->socket->state == SOCK_CONNECTING) {
        e->is_first = true;
        e->socket->state = SOCK_CONNECTED;
        e->socket->shut = 0;
    }
    e->is_checked = false;
    waitq_wake(&e->socket->events);
}

/* An answer for a socket that is gone is dropped, and its descriptor closed.
 * The broker closes its copy after REQUEST_CLOSE, which is sent again: the
 * first one may have gone to a former broker. */
static void
outside_connected(struct outside *o, const struct message_answer *a,
                  OWN int hfd)
{
    struct outside_end *e = outside_find(o, a->id);
    const struct message_request q = {.kind = REQUEST_CLOSE, .id = a->id};

    if (e && e->hfd < 0 && e->socket->state == SOCK_CONNECTING) {
        outside_answer_connect(e, a, hfd);
    } else if (e && e->is_first && hfd >= 0) {
        e->is_first = e->is_checked = false;
        outside_end_open(e, hfd);
        waitq_wake(&e->socket->events);
    } else if (hfd >= 0) {
        o->kernel->host->stream_close(hfd);
        (void)o->ops->ask(o->arg, &q);
    }
}

static void
outside_handle(struct outside *o, const struct message_answer *a, OWN int hfd)
{
    switch ((enum message_answer_kind)a->kind) {
    case ANSWER_CONNECT:
    case ANSWER_FIRST:
        outside_connected(o, a, hfd);
        return;
    case ANSWER_INCOMING:
        inbound_deliver(o->kernel, (uint16_t)a->id, hfd);
        return;
    case ANSWER_LOOKUP:
        outside_names_answer(o, a);
        break;
    case ANSWER_ENDED:
        outside_end_ended(outside_find(o, a->id), a);
        break;
    case ANSWER_LOST:
        outside_lose_broker(o);
        break;
    case ANSWER_WANT_FIRST:
        outside_end_wanted(outside_find(o, a->id));
        break;
    }
    if (hfd >= 0)
        o->kernel->host->stream_close(hfd);
}

void
outside_stall(struct outside *o)
{
    o->is_stalled = true;
    outside_watch(o);
}

/* Lets senders of first bytes try again. */
static void
outside_continue(struct outside *o)
{
    o->is_stalled = false;
    LIST_FOR_EACH(it, &o->ends) {
        struct outside_end *e = CONTAINER_OF(it, struct outside_end, link);
        if (e->is_first)
            waitq_wake(&e->socket->events);
    }
}

void
outside_run(struct outside *o)
{
    struct message_answer a;
    int hfd = -1, r;

    while ((r = o->ops->take(o->arg, &a, &hfd)) == 0)
        outside_handle(o, &a, hfd);
    if (r == -EPIPE)
        outside_lose_broker(o);
    if (o->is_stalled)
        outside_continue(o);
    outside_watch(o);
}

/* --- connecting */

static void
outside_request(const struct outside *o, const struct sock_addr *addr,
                struct message_request *q)
{
    const char *name = NULL;

    *q = (struct message_request){.kind = REQUEST_CONNECT,
                                  .port = ntohs(addr->in.sin_port)};
    if (addr->sa.sa_family == AF_INET)
        address_map_v4(&addr->in.sin_addr, &q->ip);
    else
        q->ip = addr->in6.sin6_addr;
    if (address_is_v4(&q->ip))
        name = names_find(&o->names, q->ip.s6_addr + 12);
    if (!name)
        return;
    q->name_len = (uint16_t)strlen(name);
    memcpy(q->name, name, q->name_len);
}

/* Begins a connection. Programs fall back to IPv4 after EAFNOSUPPORT: names
 * have no IPv6 addresses here. */
static int
outside_begin(struct socket *s, struct task *t, const struct sock_addr *addr)
{
    struct outside *o = s->kernel->outside;
    struct message_request q;

    if (s->domain == AF_INET6 && !IN6_IS_ADDR_V4MAPPED(&addr->in6.sin6_addr))
        return -EAFNOSUPPORT;
    outside_request(o, addr, &q);
    if (!q.port)
        return -ECONNREFUSED;
    int r = s->family->autobind(s);
    if (r < 0)
        return r;
    s->remote = *addr;
    s->family->connected(s);
    r = outside_end_new(s, t->run_tag);
    if (r < 0)
        return r;
    s->state = SOCK_CONNECTING;
    q.id = s->out->id = ++o->last_id;
    list_push_back(&o->ends, &s->out->link);
    r = outside_ask(o, &q);
    if (r < 0) {
        outside_reset(s->out, ENETUNREACH);
        return socket_take_error(s);
    }
    outside_watch(o);
    return 0;
}

/* A blocking call is repeated after each wake-up, and finds the socket
 * connected, or idle with an error: see socket_connect. */
int
outside_connect(struct socket *s, struct task *t, bool may_wait,
                const struct sock_addr *addr)
{
    int r = s->state == SOCK_IDLE ? outside_begin(s, t, addr) : 0;

    if (r < 0)
        return r;
    s->was_async = true;
    return may_wait ? -EAGAIN : -EINPROGRESS;
}

/* The broker has a copy of the descriptor, so closing ours alone would not end
 * the connection. */
void
outside_release(struct socket *s)
{
    struct outside *o = s->kernel->outside;
    struct outside_end *e = s->out;

    if (o)
        outside_names_forget(o, s);
    if (!e)
        return;
    const struct message_request q = {.kind = REQUEST_CLOSE, .id = e->id};
    bool is_known =
        e->id && (s->state == SOCK_CONNECTING || e->is_first || e->hfd >= 0);
    outside_end_free(e);
    if (!o)
        return;
    if (is_known && o->ops->ask(o->arg, &q) == -EPIPE)
        outside_lose_broker(o);
    outside_watch(o);
}

/* --- copies of processes */

bool
outside_is_file(const struct file *f)
{
    const struct socket *s = socket_of_file(f);

    return s && s->out;
}

int
outside_reset_file(struct kernel *k, OWN struct file **ret)
{
    struct socket *s;

    int r = socket_new(k, AF_INET, SOCK_STREAM, 0, &s);
    if (r < 0)
        return r;
    s->state = SOCK_CONNECTED;
    s->shut = SHUT_BITS;
    s->error = ECONNRESET;
    return socket_file_new(s, 0, ret);
}
