/* Sockets: listening, connecting, accepting, shutting down.
 *
 * A connection is complete as soon as its listener has space in the backlog:
 * both ends exist, and the client may send before the server accepts. Without
 * space, a blocking client waits for the listener; a non-blocking TCP client is
 * put on the list of stalled sockets, and is connected when a slot becomes
 * free. */
#include "kernel/kernel.h"
#include "kernel/outside.h"
#include "kernel/socket.h"

#include <errno.h>
#include <stdlib.h>

enum { BACKLOG_MAX = 4096 };

/* A second listen only changes the backlog. */
int
socket_listen(struct socket *s, struct task *t, int backlog)
{
    if (s->type == SOCK_DGRAM)
        return -EOPNOTSUPP;
    if (s->state != SOCK_IDLE && s->state != SOCK_LISTENING)
        return -EINVAL;
    int r = s->family->listen(s);
    if (r < 0)
        return r;
    s->backlog =
        backlog < 0 || backlog > BACKLOG_MAX ? BACKLOG_MAX : (size_t)backlog;
    s->state = SOCK_LISTENING;
    socket_set_cred(s, t);
    return 0;
}

/* --- connecting */

/* A new connection has the options of its listener, as on Linux. */
static void
socket_connect_inherit(struct socket *c, const struct socket *listener)
{
    c->sndbuf = listener->sndbuf;
    c->rcvbuf = listener->rcvbuf;
    c->rcvtimeo_ns = listener->rcvtimeo_ns;
    c->sndtimeo_ns = listener->sndtimeo_ns;
    c->passcred = listener->passcred;
    c->keepalive = listener->keepalive;
    c->nodelay = listener->nodelay;
    c->linger = listener->linger;
    c->v6only = listener->v6only;
    c->cred = listener->cred;
}

/* Creates the other end of s, which `listener` will accept. */
static int
socket_connect_server_end_new(struct socket *s, struct socket *listener,
                              OWN struct socket **ret)
{
    struct socket *c;

    int r = socket_new(s->kernel, listener->domain, listener->type,
                       listener->protocol, &c);
    if (r < 0)
        return r;
    if (!socket_is_inet(s))
        s->remote = listener->local;
    s->family->view(&s->remote, c->domain, &c->local);
    s->family->view(&s->local, c->domain, &c->remote);
    socket_connect_inherit(c, listener);
    c->peer_cred = s->cred;
    *ret = c;
    return 0;
}

/* Adds c to the connections that wait to be accepted. */
static void
socket_connect_offer(OWN struct socket *c, struct socket *listener)
{
    c->listener = listener;
    list_push_back(&listener->pending, &c->listen_link);
    listener->n_pending++;
    waitq_wake(&listener->events);
}

/* Joins s with a new socket that waits to be accepted. The client is connected
 * at once. */
static int
socket_connect_establish(struct socket *s, struct socket *listener)
{
    struct socket *c;

    int r = socket_connect_server_end_new(s, listener, &c);
    if (r < 0)
        return r;
    s->peer_cred = listener->cred;
    s->shut = 0;
    socket_join(s, c);
    socket_join(c, s);
    socket_connect_offer(c, listener);
    return 0;
}

/* One more than the backlog may wait, as on Linux. */
static bool
socket_connect_is_full(const struct socket *listener)
{
    return listener->n_pending > listener->backlog;
}

/* Connects the first socket that waits for a slot, after a connection was
 * accepted. */
static void
socket_connect_admit_stalled(struct socket *listener)
{
    waitq_wake(&listener->room);
    if (list_is_empty(&listener->stalled) || socket_connect_is_full(listener))
        return;
    struct socket *s =
        CONTAINER_OF(listener->stalled.next, struct socket, listen_link);
    list_remove(&s->listen_link);
    int r = socket_connect_establish(s, listener);
    if (r < 0) {
        s->state = SOCK_IDLE;
        s->error = -r;
    }
    waitq_wake(&s->events);
}

/* A datagram socket only gets a default destination. AF_UNSPEC removes it. */
static int
socket_connect_dgram(struct socket *s, struct task *t, struct sock_addr *addr)
{
    struct socket *to = NULL;

    if (addr->sa.sa_family == AF_UNSPEC) {
        socket_leave_peer(s);
        s->state = SOCK_IDLE;
        s->remote.len = 0;
        return 0;
    }
    int r = s->family->find(s, t, addr, &to);
    /* UDP finds out when it sends. */
    if (r < 0 && !(r == -ECONNREFUSED && socket_is_inet(s)))
        return r;
    r = socket_is_inet(s) ? s->family->autobind(s) : 0;
    if (r < 0)
        return r;
    socket_leave_peer(s);
    if (to && !socket_is_inet(s))
        socket_join(s, to);
    s->state = SOCK_CONNECTED;
    s->remote = *addr;
    s->family->connected(s);
    return 0;
}

/* Returns the result of a second connect on the same socket. */
static int
socket_connect_again(struct socket *s)
{
    if (s->was_async && s->state == SOCK_CONNECTED) {
        s->was_async = false;
        return 0;
    }
    if (s->state == SOCK_CONNECTING)
        return -EALREADY;
    if (s->state == SOCK_LISTENING && !socket_is_inet(s))
        return -EINVAL;
    return -EISCONN;
}

/* Turns the outcome of a non-blocking TCP connect into -EINPROGRESS: the
 * program polls and reads SO_ERROR. */
static int
socket_connect_async(struct socket *s, struct socket *listener, int r)
{
    s->was_async = true;
    if (r == -EAGAIN) {
        s->state = SOCK_CONNECTING;
        list_push_back(&listener->stalled, &s->listen_link);
    } else if (r < 0) {
        s->error = -r;
        s->shut = SHUT_BITS;
        s->was_async = false;
    }
    return -EINPROGRESS;
}

/* Binds s if it has no name, and connects it to the listener, if `found` is 0.
 * A name that was given for a refused connection is released again. */
static int
socket_connect_found(struct socket *s, const struct sock_addr *addr,
                     struct socket *listener, int found)
{
    int r = socket_is_inet(s) ? s->family->autobind(s) : 0;

    if (r < 0)
        return r;
    if (found < 0) {
        if (s->is_autobound)
            s->family->unbind(s);
        return found;
    }
    s->remote = *addr;
    s->family->connected(s);
    return socket_connect_is_full(listener)
               ? -EAGAIN
               : socket_connect_establish(s, listener);
}

/* Unix sockets report every error at once; TCP reports a refused connection
 * only after the local port was chosen. */
int
socket_connect(struct socket *s, struct task *t, bool may_wait,
               struct sock_addr *addr, struct waitq **ret_wait)
{
    struct socket *listener = NULL;

    if (s->type == SOCK_DGRAM)
        return socket_connect_dgram(s, t, addr);
    *ret_wait = &s->events;
    if (s->state == SOCK_CONNECTING && s->out && may_wait)
        return outside_connect(s, t, may_wait, addr);
    if (s->state != SOCK_IDLE)
        return socket_connect_again(s);
    int r = socket_take_error(s);
    if (r < 0)
        return r;
    socket_set_cred(s, t);
    if (outside_of(s->kernel) && socket_is_inet(s) &&
        s->family->is_outside(s, addr))
        return outside_connect(s, t, may_wait, addr);
    r = s->family->find(s, t, addr, &listener);
    if (r == 0 && listener->state != SOCK_LISTENING)
        r = -ECONNREFUSED;
    if (r < 0 && (r != -ECONNREFUSED || !socket_is_inet(s)))
        return r;
    r = socket_connect_found(s, addr, listener, r);
    bool is_outcome = r == 0 || r == -EAGAIN || r == -ECONNREFUSED;
    if (!may_wait && socket_is_inet(s) && is_outcome)
        return socket_connect_async(s, listener, r);
    if (r == -EAGAIN)
        *ret_wait = &listener->room;
    return r;
}

/* --- accepting */

/* The guest sees a connection over the loopback interface, from a port of its
 * own. */
int
socket_accept_outside(struct socket *listener, int hfd)
{
    struct net *net = listener->kernel->net;
    struct socket *c;

    if (socket_connect_is_full(listener))
        return -ECONNREFUSED;
    int r = socket_new(listener->kernel, listener->domain, SOCK_STREAM,
                       listener->protocol, &c);
    if (r < 0)
        return r;
    r = outside_accept(c, hfd);
    if (r < 0) {
        socket_free(c);
        return r;
    }
    const struct sock_addr local = listener->local;
    c->family->view(&local, c->domain, &c->local);
    c->remote = c->local;
    c->remote.in.sin_port = htons(inet_next_port(net));
    socket_connect_inherit(c, listener);
    socket_connect_offer(c, listener);
    return 0;
}

/* The new connection is no longer held by its listener, and a slot becomes
 * free. */
int
socket_accept(struct socket *s, OWN struct socket **ret)
{
    if (s->type == SOCK_DGRAM)
        return -EOPNOTSUPP;
    if (s->state != SOCK_LISTENING)
        return -EINVAL;
    if (list_is_empty(&s->pending))
        return s->shut & SHUT_BIT_RD ? -EINVAL : -EAGAIN;
    struct socket *c =
        CONTAINER_OF(s->pending.next, struct socket, listen_link);
    list_remove(&c->listen_link);
    c->listener = NULL;
    s->n_pending--;
    socket_connect_admit_stalled(s);
    *ret = c;
    return 0;
}

/* Stalled clients are refused, and connections that nobody accepted are
 * reset. */
void
socket_listen_end(struct socket *s)
{
    while (!list_is_empty(&s->stalled)) {
        struct socket *c =
            CONTAINER_OF(s->stalled.next, struct socket, listen_link);
        list_remove(&c->listen_link);
        c->state = SOCK_IDLE;
        c->error = ECONNREFUSED;
        waitq_wake(&c->events);
    }
    while (!list_is_empty(&s->pending)) {
        struct socket *c =
            CONTAINER_OF(s->pending.next, struct socket, listen_link);
        list_remove(&c->listen_link);
        if (c->peer)
            c->peer->error = ECONNRESET;
        socket_free(c);
    }
    s->n_pending = 0;
}

/* --- shutting down */

/* TCP reports only the end of data to the peer. A Unix socket that is shut down
 * for reading also makes the peer's writes fail. */
int
socket_shutdown(struct socket *s, int how)
{
    unsigned bits = (unsigned)how + 1;

    if (how < SHUT_RD || how > SHUT_RDWR)
        return -EINVAL;
    if (s->state == SOCK_LISTENING) {
        s->shut |= bits;
        if (bits & SHUT_BIT_RD && socket_is_inet(s)) {
            socket_listen_end(s);
            s->state = SOCK_IDLE;
        }
        waitq_wake(&s->events);
        return 0;
    }
    if (s->out)
        return outside_shutdown(s, how);
    if (s->state != SOCK_CONNECTED &&
        (socket_is_inet(s) || s->type != SOCK_DGRAM))
        return -ENOTCONN;
    struct socket *p = s->peer;
    if (s->type != SOCK_DGRAM && socket_is_inet(s) && s->shut & SHUT_BIT_WR &&
        (!p || p->shut & SHUT_BIT_WR))
        return -ENOTCONN;
    s->shut |= bits;
    waitq_wake(&s->events);
    if (s->type == SOCK_DGRAM || !p)
        return 0;
    if (bits & SHUT_BIT_WR)
        p->shut |= SHUT_BIT_RD;
    if (bits & SHUT_BIT_RD && !socket_is_inet(s))
        p->shut |= SHUT_BIT_WR;
    waitq_wake(&p->events);
    return 0;
}
