/* Connections to hosts outside: the transfer of data, and readiness.
 *
 * The descriptor of the host does not block. A transfer that cannot continue
 * asks the scheduler to watch the descriptor, which wakes the socket's own
 * queue when it is ready. Callers wait on that queue as for every other socket.
 */
#include "kernel/outside.h"

#include "kernel/outside_impl.h"
#include "kernel/socket.h"
#include "net/message.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

enum {
    TRANSFER_MAX = 1 << 20, /* so that a call takes bounded time */
    PEEK_BYTES = 2048,
};

static const struct host_ops *
outside_end_ops(const struct outside_end *e)
{
    return e->socket->kernel->host;
}

static void
outside_end_ready(struct waiter *w)
{
    struct outside_end *e = CONTAINER_OF(w, struct outside_end, on_ready);

    waitq_wake(&e->socket->events);
}

int
outside_end_new(struct socket *s, uint64_t run_tag)
{
    struct limits *l = &s->kernel->limits;
    struct outside_end *e;

    if (!limits_charge(l, LIMIT_memory, sizeof *e))
        return -ENOMEM;
    e = malloc(sizeof *e);
    if (!e) {
        limits_uncharge(l, LIMIT_memory, sizeof *e);
        return -ENOMEM;
    }
    *e = (struct outside_end){
        .socket = s,
        .hfd = -1,
        .run_tag = run_tag,
        .on_ready = {.wake = outside_end_ready, .stays = true}};
    host_watch_init(&e->watch, s->kernel, -1);
    waitq_add(&e->watch.queue, &e->on_ready);
    list_init(&e->link);
    s->out = e;
    return 0;
}

void
outside_end_open(struct outside_end *e, OWN int hfd)
{
    e->hfd = e->watch.hfd = hfd;
}

/* The watch must not be polled any more: the number of the descriptor may soon
 * be that of another one. A thread that polls it now keeps the connection open
 * after the close, so it is shut down first. */
void
outside_end_close(struct outside_end *e)
{
    const struct host_ops *ops = outside_end_ops(e);

    list_remove(&e->watch.link);
    if (e->hfd >= 0) {
        (void)ops->stream_shutdown(e->hfd, SHUT_RDWR);
        ops->stream_close(e->hfd);
    }
    e->hfd = e->watch.hfd = -1;
    e->is_first = e->is_checked = false;
}

void
outside_end_free(OWN struct outside_end *e)
{
    struct socket *s = e->socket;

    outside_end_close(e);
    waiter_remove(&e->on_ready);
    host_watch_fini(&e->watch);
    list_remove(&e->link);
    s->out = NULL;
    limits_uncharge(&s->kernel->limits, LIMIT_memory, sizeof *e);
    free(e);
}

int
outside_accept(struct socket *s, int hfd)
{
    int r = outside_end_new(s, 0);

    if (r < 0)
        return r;
    outside_end_open(s->out, hfd);
    s->state = SOCK_CONNECTED;
    return 0;
}

/* --- transfers */

/* Moves bytes between the pieces of m and the descriptor until one transfer is
 * short. Returns the number of bytes, or the error of the first transfer. */
static int64_t
outside_end_move(struct outside_end *e, struct sock_msg *m, bool is_send)
{
    const struct host_ops *ops = outside_end_ops(e);
    bool peeks = m->flags & MSG_PEEK;
    int64_t done = 0;

    while (done < TRANSFER_MAX && (size_t)done < m->len) {
        size_t len;
        void *p = iov_piece(&m->data, &len);
        if (!len)
            break;
        if (len > TRANSFER_MAX)
            len = TRANSFER_MAX;
        int64_t n = is_send ? ops->stream_send(e->hfd, p, len)
                            : ops->stream_recv(e->hfd, p, len, peeks);
        if (n < 0)
            return done ? done : n;
        iov_advance(&m->data, (size_t)n);
        done += n;
        if ((size_t)n < len || peeks)
            break;
    }
    return done;
}

/* --- first bytes */

/* Passes one piece of them to the broker. `left` is the number of bytes of the
 * call from here. Returns the length of the piece, or -errno. */
static int64_t
outside_end_ask_first(struct outside_end *e, struct sock_msg *m, size_t left)
{
    struct outside *o = e->socket->kernel->outside;
    struct message_request q = {.kind = REQUEST_FIRST, .id = e->id};
    struct iov before = m->data;

    q.name_len =
        (uint16_t)(left < sizeof q.name ? left : (size_t)MESSAGE_FIRST_BYTES);
    q.port = q.name_len == left;
    iov_copy_from(&m->data, q.name, q.name_len);
    int r = o->ops->ask(o->arg, &q);
    if (r == 0)
        return q.name_len;
    m->data = before;
    return r;
}

/* The next bytes wait for the broker's answer. If the broker does not keep up,
 * the caller waits until it does. */
static int64_t
outside_end_send_first(struct outside_end *e, struct sock_msg *m)
{
    size_t len =
        m->len < MESSAGE_FIRST_BYTES_MAX ? m->len : MESSAGE_FIRST_BYTES_MAX;
    int64_t done = 0, n = 0;

    if (e->is_checked)
        return -EAGAIN;
    while ((size_t)done < len && n >= 0) {
        n = outside_end_ask_first(e, m, len - (size_t)done);
        done += n > 0 ? n : 0;
    }
    e->is_checked = n >= 0;
    if (n >= 0)
        return done;
    if (n != -ENOBUFS)
        return outside_first_failed(e);
    outside_stall(e->socket->kernel->outside);
    return done ? done : -EAGAIN;
}

/* Ending a connection before its first bytes leaves nothing to be checked. */
static int
outside_end_shutdown_first(struct outside_end *e, int how)
{
    struct outside *o = e->socket->kernel->outside;
    const struct message_request q = {.kind = REQUEST_CLOSE, .id = e->id};

    if (how != SHUT_RD) {
        (void)o->ops->ask(o->arg, &q);
        outside_end_close(e);
    }
    waitq_wake(&e->socket->events);
    return 0;
}

/* --- waiting for the host */

/* Returns the result of a transfer that found the connection ended. If the
 * broker has ended it, the reason has arrived, but may not have been read. */
static int64_t
outside_end_reason(struct socket *s, int64_t n)
{
    if (s->kernel->outside)
        outside_run(s->kernel->outside);
    return s->error ? socket_take_error(s) : n;
}

/* A short transfer is watched too: an edge-triggered epoll reports the next
 * change only if somebody sees it. */
static int64_t
outside_end_transfer(struct socket *s, struct sock_msg *m, short events)
{
    struct outside_end *e = s->out;
    bool is_send = events & POLLOUT;

    m->wait = &s->events;
    if (s->state == SOCK_CONNECTING)
        return -EAGAIN;
    if (s->error)
        return socket_take_error(s);
    if (e->is_first && m->len)
        return is_send ? outside_end_send_first(e, m) : -EAGAIN;
    if (e->hfd < 0)
        return is_send ? -EPIPE : 0;
    int64_t n = m->len ? outside_end_move(e, m, is_send) : 0;
    if (n == -EAGAIN || (n > 0 && (size_t)n < m->len))
        host_watch_arm(&e->watch, s->kernel, events);
    return n > 0 || n == -EAGAIN || !m->len ? n : outside_end_reason(s, n);
}

int64_t
outside_send(struct socket *s, struct sock_msg *m)
{
    if (s->shut & SHUT_BIT_WR && !s->error)
        return -EPIPE;
    return outside_end_transfer(s, m, POLLOUT);
}

/* MSG_TRUNC on a stream drops the bytes. */
int64_t
outside_recv(struct socket *s, struct sock_msg *m)
{
    uint8_t dropped[PEEK_BYTES];
    struct sock_msg into = *m;

    if (!(m->flags & MSG_TRUNC))
        return outside_end_transfer(s, m, POLLIN);
    into.len = m->len < sizeof dropped ? m->len : sizeof dropped;
    iov_init_buf(&into.data, dropped, into.len);
    int64_t n = outside_end_transfer(s, &into, POLLIN);
    m->wait = into.wait;
    return n;
}

size_t
outside_readable(struct socket *s)
{
    uint8_t bytes[PEEK_BYTES];
    const struct outside_end *e = s->out;
    int64_t n = e->hfd < 0 ? 0
                           : outside_end_ops(e)->stream_recv(
                                 e->hfd, bytes, sizeof bytes, true);

    return n > 0 ? (size_t)n : 0;
}

/* The host reports an error of a connection once, to a read as well as to
 * SO_ERROR. Reading nothing therefore finds it. */
int
outside_take_error(struct socket *s)
{
    const struct outside_end *e = s->out;
    uint8_t byte;

    if (s->error || e->hfd < 0)
        return socket_take_error(s);
    int64_t n =
        outside_end_ops(e)->stream_recv(e->hfd, &byte, sizeof byte, true);
    return n < 0 && n != -EAGAIN ? (int)n : 0;
}

/* --- readiness and end */

/* Watches the events that are not true now. */
short
outside_poll(struct socket *s)
{
    struct outside_end *e = s->out;
    short wanted = POLLIN | POLLOUT | POLLRDHUP;

    if (s->state == SOCK_CONNECTING)
        return 0;
    if (e->is_first)
        return e->is_checked ? 0 : POLLOUT | POLLWRNORM;
    if (e->hfd < 0)
        return (short)(POLLIN | POLLRDNORM | POLLOUT | POLLWRNORM | POLLRDHUP |
                       POLLHUP | (s->error ? POLLERR : 0));
    short now = host_watch_poll(&e->watch, s->kernel, wanted, NULL);
    host_watch_arm(&e->watch, s->kernel, (short)(wanted & ~now));
    if (now & POLLIN)
        now |= POLLRDNORM;
    if (now & POLLOUT)
        now |= POLLWRNORM;
    return now;
}

int
outside_shutdown(struct socket *s, int how)
{
    struct outside_end *e = s->out;

    if (s->state != SOCK_CONNECTED)
        return -ENOTCONN;
    s->shut |= (unsigned)how + 1;
    if (e->is_first)
        return outside_end_shutdown_first(e, how);
    int r = e->hfd < 0 ? -ENOTCONN
                       : outside_end_ops(e)->stream_shutdown(e->hfd, how);
    waitq_wake(&s->events);
    return r;
}
