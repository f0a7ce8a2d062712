/* Sockets: sending and receiving.
 *
 * A message goes straight into the queue of its receiver; there is no send
 * queue. A sender waits for space in that queue. Streams fill up the last
 * packet; datagrams and records are one packet each. */
#include "kernel/kernel.h"
#include "kernel/outside.h"
#include "kernel/packet.h"
#include "kernel/socket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    STREAM_PACKET_MIN = 2048,
    STREAM_PACKET_LARGE = 8 << 10, /* what is longer gets the largest size */
    UDP_BYTES_MAX = 65507,
};

static size_t
socket_io_min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* --- space in queues */

/* Returns the maximum size of s's messages in the queue of `to`. */
static size_t
socket_io_limit_of(const struct socket *s, const struct socket *to)
{
    if (s->type == SOCK_DGRAM)
        return to->rcvbuf;
    return socket_is_inet(s) ? s->sndbuf + to->rcvbuf : s->sndbuf;
}

/* Writable means that a third of the space is free, so that a fast writer and a
 * slow reader do not alternate for every packet. */
bool
socket_has_room(const struct socket *s)
{
    const struct socket *p = s->peer;

    return !p || list_is_empty(&p->queue) ||
           p->queued * 3 <= socket_io_limit_of(s, p) * 2;
}

/* Wakes sockets that wait for space, after the queue of s became shorter. */
static void
socket_io_wake_senders(struct socket *s)
{
    waitq_wake(&s->room);
    LIST_FOR_EACH(it, &s->peers) {
        struct socket *p = CONTAINER_OF(it, struct socket, peer_link);
        if (!p->wants_room || !socket_has_room(p))
            continue;
        p->wants_room = false;
        waitq_wake(&p->events);
    }
}

/* The cost counts against the receiver's space, not the sender's. */
static void
socket_io_enqueue(struct socket *to, OWN struct packet *p)
{
    list_push_back(&to->queue, &p->link);
    to->queued += packet_cost(p);
    inflight_add(to, p);
}

/* The cost is released before the packet, whose files may be anything. */
static void
socket_io_dequeue(struct socket *s, struct packet *p)
{
    s->queued -= packet_cost(p);
    packet_free(p);
}

void
socket_drop_queue(struct socket *s)
{
    while (!list_is_empty(&s->queue))
        socket_io_dequeue(s, CONTAINER_OF(s->queue.next, struct packet, link));
}

/* A stream counts all bytes, a datagram socket those of the next message. */
size_t
socket_readable(const struct socket *s)
{
    size_t n = 0;

    LIST_FOR_EACH(it, &s->queue) {
        n += packet_len(CONTAINER_OF(it, struct packet, link));
        if (!socket_is_stream(s))
            break;
    }
    return n;
}

/* --- sending */

static bool
socket_io_is_same_cred(const struct sock_cred *a, const struct sock_cred *b)
{
    return a->pid == b->pid && a->uid == b->uid && a->gid == b->gid;
}

/* Returns a packet for len bytes and the other parts of m. The references of
 * files move from the message to the packet. */
static int
packet_for(struct socket *to, struct sock_msg *m, size_t len,
           OWN struct packet **ret)
{
    struct packet *p;

    int r = packet_new(to->kernel, len + m->scm.n_files * sizeof(struct file *),
                       &p);
    if (r < 0)
        return r;
    p->scm = m->scm;
    m->scm.files = NULL;
    m->scm.n_files = 0;
    *ret = p;
    return 0;
}

/* Adds bytes to the last packet of the queue, if they may join it: packets with
 * files or of another sender must stay apart, because a read reports these. */
static size_t
socket_io_fill_last(struct socket *to, struct sock_msg *m, size_t len)
{
    if (list_is_empty(&to->queue) || m->scm.n_files)
        return 0;
    struct packet *p = CONTAINER_OF(to->queue.prev, struct packet, link);
    if (p->scm.n_files || !socket_io_is_same_cred(&p->scm.cred, &m->scm.cred))
        return 0;
    size_t n = socket_io_min_size(len, p->cap - p->end);
    iov_copy_from(&m->data, p->data + p->end, n);
    p->end += n;
    return n;
}

/* Small packets are allocated with space for more bytes; large ones have one
 * size, and are reused. */
static int64_t
socket_io_add_packet(struct socket *to, struct sock_msg *m, size_t len)
{
    struct packet *p;

    size_t cap = len < STREAM_PACKET_MIN     ? STREAM_PACKET_MIN
                 : len > STREAM_PACKET_LARGE ? PACKET_KEPT_BYTES
                                             : len;
    len = socket_io_min_size(len, cap);
    int r = packet_for(to, m, cap, &p);
    if (r < 0)
        return r;
    iov_copy_from(&m->data, p->data, len);
    p->end = len;
    socket_io_enqueue(to, p);
    return (int64_t)len;
}

/* The limit is checked before a packet and not within one, so a queue may
 * exceed it by one packet. */
static int64_t
socket_io_fill_stream(struct socket *s, struct socket *to, struct sock_msg *m)
{
    size_t limit = socket_io_limit_of(s, to);
    size_t sent = socket_io_fill_last(to, m, m->len);

    while (sent < m->len && to->queued < limit) {
        int64_t n = socket_io_add_packet(to, m, m->len - sent);
        if (n < 0)
            return sent ? (int64_t)sent : n;
        sent += (size_t)n;
    }
    if (sent < m->len)
        s->wants_room = true;
    if (!sent)
        return -EAGAIN;
    waitq_wake(&to->events);
    return (int64_t)sent;
}

/* Returns 0 if a connection may be written to. An error of a TCP socket is
 * reported once, before anything else. */
static int
socket_io_check_connected(struct socket *s)
{
    if (s->error && socket_is_inet(s))
        return socket_take_error(s);
    if (s->shut & SHUT_BIT_WR)
        return -EPIPE;
    if (s->state == SOCK_CONNECTING)
        return -EAGAIN;
    if (s->state != SOCK_CONNECTED)
        return socket_is_inet(s) ? -EPIPE : -ENOTCONN;
    return 0;
}

/* Without a peer, TCP still accepts one write, and fails from the next one
 * on. */
static int64_t
socket_io_send_stream(struct socket *s, struct sock_msg *m)
{
    int r = socket_io_check_connected(s);

    if (r < 0)
        return r;
    if (m->name.len && !socket_is_inet(s))
        return -EISCONN;
    if (!s->peer) {
        /* TCP: the first bytes after the other end is gone get a reset. */
        s->shut = SHUT_BITS;
        s->error = EPIPE;
        return (int64_t)m->len;
    }
    return m->len ? socket_io_fill_stream(s, s->peer, m) : 0;
}

/* Sends one packet to `to`, whole. -EAGAIN if its queue is full; an empty queue
 * accepts a packet of any size, so that no message waits for ever. */
static int64_t
socket_io_send_packet(struct socket *s, struct socket *to, struct sock_msg *m)
{
    size_t cost = sizeof(struct packet) + m->len;
    struct packet *p;

    if (!list_is_empty(&to->queue) &&
        to->queued + cost > socket_io_limit_of(s, to)) {
        s->wants_room = true;
        m->wait = to == s->peer ? &s->events : &to->room;
        return -EAGAIN;
    }
    int r = packet_for(to, m, m->len, &p);
    if (r < 0)
        return r;
    iov_copy_from(&m->data, p->data, m->len);
    p->end = m->len;
    if (s->type == SOCK_DGRAM)
        s->family->view(&s->local, to->domain, &p->from);
    socket_io_enqueue(to, p);
    waitq_wake(&to->events);
    return (int64_t)m->len;
}

void
socket_deliver(struct socket *s, const struct sock_addr *from, const void *p,
               size_t len)
{
    struct packet *k;

    if (s->queued + sizeof *k + len > s->rcvbuf ||
        packet_new(s->kernel, len, &k) < 0)
        return;
    memcpy(k->data, p, len);
    k->end = len;
    k->from = *from;
    socket_io_enqueue(s, k);
    waitq_wake(&s->events);
}

/* A record is bounded by the send buffer, so that it can ever be sent. */
static int64_t
socket_io_send_record(struct socket *s, struct sock_msg *m)
{
    int r = socket_io_check_connected(s);

    if (r < 0)
        return r;
    if (m->name.len)
        return -EISCONN;
    if (m->len > s->sndbuf)
        return -EMSGSIZE;
    return socket_io_send_packet(s, s->peer, m);
}

/* A receiver that is connected to somebody else refuses the message. */
static int64_t
socket_io_send_unix_dgram(struct socket *s, struct task *t, struct sock_msg *m)
{
    struct socket *to = s->peer;

    if (m->len > s->sndbuf)
        return -EMSGSIZE;
    if (s->shut & SHUT_BIT_WR)
        return -EPIPE;
    if (!m->name.len && !to) {
        bool was = s->state == SOCK_CONNECTED;
        s->state = SOCK_IDLE;
        return was ? -ECONNREFUSED : -ENOTCONN;
    }
    int r = m->name.len ? s->family->find(s, t, &m->name, &to) : 0;
    if (r < 0)
        return r;
    if (to->peer && to->peer != s)
        return -EPERM;
    if (to->shut & SHUT_BIT_RD)
        return -EPIPE;
    return socket_io_send_packet(s, to, m);
}

/* Sends a datagram. One without a receiver, or for a full queue, is lost as in
 * a network; a connected socket gets ECONNREFUSED with its next call. */
static int64_t
socket_io_send_udp(struct socket *s, struct task *t, struct sock_msg *m)
{
    bool has_name = m->name.len;
    struct sock_addr *addr = has_name ? &m->name : &s->remote;
    struct socket *to = NULL;

    if (s->error)
        return socket_take_error(s);
    if (s->shut & SHUT_BIT_WR)
        return -EPIPE;
    if (!addr->len)
        return -EDESTADDRREQ;
    if (m->len > UDP_BYTES_MAX)
        return -EMSGSIZE;
    int r = s->family->autobind(s);
    if (r == 0 && s->family->is_outside(s, addr))
        return outside_send_datagram(s, t, addr, m);
    if (r == 0)
        r = s->family->find(s, t, addr, &to);
    if (r < 0 && r != -ECONNREFUSED)
        return r;
    if (!to) {
        if (!has_name)
            s->error = ECONNREFUSED;
        waitq_wake(&s->events);
        return (int64_t)m->len;
    }
    int64_t n = socket_io_send_packet(s, to, m);
    return n == -EAGAIN ? (int64_t)m->len : n;
}

/* Unix and TCP streams share one path; datagrams differ by family. */
int64_t
socket_send(struct socket *s, struct task *t, struct sock_msg *m)
{
    m->wait = &s->events;
    if (m->flags & MSG_OOB)
        return -EOPNOTSUPP;
    if (s->out)
        return outside_send(s, m);
    if (socket_is_stream(s))
        return socket_io_send_stream(s, m);
    if (s->type == SOCK_SEQPACKET)
        return socket_io_send_record(s, m);
    return socket_is_inet(s) ? socket_io_send_udp(s, t, m)
                             : socket_io_send_unix_dgram(s, t, m);
}

/* --- receiving */

/* Moves the ancillary data of p to m; MSG_PEEK gets copies of the
 * references. */
static int
socket_io_take_scm(struct packet *p, struct sock_msg *m)
{
    size_t n = p->scm.n_files;

    m->scm.cred = p->scm.cred;
    if (!n)
        return 0;
    if (!(m->flags & MSG_PEEK)) {
        inflight_remove(p);
        m->scm = p->scm;
        p->scm.files = NULL;
        p->scm.n_files = 0;
        return 0;
    }
    m->scm.files = malloc(n * sizeof *m->scm.files);
    if (!m->scm.files)
        return -ENOMEM;
    for (size_t i = 0; i < n; i++)
        m->scm.files[i] = file_get(p->scm.files[i]);
    m->scm.n_files = n;
    return 0;
}

/* Returns true if bytes of p can follow others in one read. */
static bool
socket_io_may_join(const struct socket *s, const struct packet *p,
                   const struct sock_msg *m)
{
    if (m->scm.n_files || p->scm.n_files)
        return false;
    return !s->passcred || socket_io_is_same_cred(&p->scm.cred, &m->scm.cred);
}

/* One read takes bytes of several packets, up to the next one with files or
 * another sender. */
static int64_t
socket_io_take_stream(struct socket *s, struct sock_msg *m)
{
    bool peeks = m->flags & MSG_PEEK;
    size_t got = 0;

    LIST_FOR_EACH_SAFE(it, &s->queue) {
        struct packet *p = CONTAINER_OF(it, struct packet, link);
        if (got == m->len || (got && !socket_io_may_join(s, p, m)))
            break;
        int r = got ? 0 : socket_io_take_scm(p, m);
        if (r < 0)
            return r;
        size_t n = socket_io_min_size(m->len - got, packet_len(p));
        if (!(m->flags & MSG_TRUNC))
            iov_copy_to(&m->data, p->data + p->start, n);
        got += n;
        if (peeks)
            continue;
        p->start += n;
        if (!packet_len(p))
            socket_io_dequeue(s, p);
    }
    if (!peeks)
        socket_io_wake_senders(s);
    return (int64_t)got;
}

/* The rest of a message that does not fit is lost, and MSG_TRUNC reports it. */
static int64_t
socket_io_take_packet(struct socket *s, struct sock_msg *m)
{
    struct packet *p = CONTAINER_OF(s->queue.next, struct packet, link);
    size_t len = packet_len(p), n = socket_io_min_size(len, m->len);

    int r = socket_io_take_scm(p, m);
    if (r < 0)
        return r;
    iov_copy_to(&m->data, p->data, n);
    m->name = p->from;
    if (n < len)
        m->out_flags |= MSG_TRUNC;
    if (!(m->flags & MSG_PEEK)) {
        socket_io_dequeue(s, p);
        socket_io_wake_senders(s);
    }
    return m->flags & MSG_TRUNC ? (int64_t)len : (int64_t)n;
}

/* Returns the result of a read from an empty queue. */
static int
socket_io_why_empty(struct socket *s)
{
    bool is_dgram = s->type == SOCK_DGRAM;

    if (s->error)
        return socket_take_error(s);
    if (s->shut & SHUT_BIT_RD)
        return 0;
    if (is_dgram || s->state == SOCK_CONNECTED || s->state == SOCK_CONNECTING)
        return -EAGAIN;
    if (socket_is_inet(s) || s->type == SOCK_SEQPACKET)
        return -ENOTCONN;
    return -EINVAL;
}

/* There is no urgent data. */
int64_t
socket_recv(struct socket *s, struct task *t, struct sock_msg *m)
{
    (void)t;
    m->wait = &s->events;
    if (m->flags & MSG_OOB)
        return socket_is_inet(s) ? -EINVAL : -EOPNOTSUPP;
    if (s->out)
        return outside_recv(s, m);
    if (list_is_empty(&s->queue))
        return socket_io_why_empty(s);
    return socket_is_stream(s) ? socket_io_take_stream(s, m)
                               : socket_io_take_packet(s, m);
}
