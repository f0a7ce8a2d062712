/* Sockets: life, files, peers, poll.
 *
 * Both ends of a connection are in this kernel. A connection therefore has no
 * buffers of its own: sending puts bytes into the queue of the other end.
 * Differences between TCP and Unix sockets that programs can see (errors after
 * the peer is gone, half-open connections) are kept. */
#include "kernel/socket.h"

#include "kernel/kernel.h"
#include "kernel/outside.h"
#include "kernel/packet.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>

bool
socket_is_stream(const struct socket *s)
{
    return s->type == SOCK_STREAM;
}

bool
socket_is_inet(const struct socket *s)
{
    return s->domain != AF_UNIX;
}

/* --- which kinds there are */

/* Raw sockets need rights that no user of a sandbox has. */
static int
socket_check_inet(int type, int *protocol)
{
    int usual = type == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP;

    if (type == SOCK_RAW)
        return -EPERM;
    if (type != SOCK_STREAM && type != SOCK_DGRAM)
        return -ESOCKTNOSUPPORT;
    if (*protocol && *protocol != usual)
        return -EPROTONOSUPPORT;
    *protocol = usual;
    return 0;
}

static int
socket_check_unix(int *type, int protocol)
{
    if (protocol && protocol != PF_UNIX)
        return -EPROTONOSUPPORT;
    if (*type == SOCK_RAW)
        *type = SOCK_DGRAM; /* as Linux does */
    if (*type != SOCK_STREAM && *type != SOCK_DGRAM && *type != SOCK_SEQPACKET)
        return -ESOCKTNOSUPPORT;
    return 0;
}

static int
socket_check_kind(int domain, int *type, int *protocol)
{
    if (domain == AF_INET || domain == AF_INET6)
        return socket_check_inet(*type, protocol);
    if (domain != AF_UNIX)
        return -EAFNOSUPPORT;
    int r = socket_check_unix(type, *protocol);
    *protocol = 0;
    return r;
}

/* --- life */

static void
socket_init_lists(struct socket *s)
{
    list_init(&s->all);
    list_init(&s->peers);
    list_init(&s->peer_link);
    list_init(&s->queue);
    list_init(&s->pending);
    list_init(&s->stalled);
    list_init(&s->listen_link);
    list_init(&s->bound);
    list_init(&s->carried);
    list_init(&s->carrier_link);
    list_init(&s->gc_link);
    waitq_init(&s->events);
    waitq_init(&s->room);
}

/* The credentials are set by the caller; those of the peer are unknown. */
int
socket_new(struct kernel *k, int domain, int type, int protocol,
           OWN struct socket **ret)
{
    int r = socket_check_kind(domain, &type, &protocol);

    if (r < 0)
        return r;
    struct net *net = net_need(k);
    if (!net || !limits_charge(&k->limits, LIMIT_memory, sizeof **ret))
        return -ENOMEM;
    struct socket *s = malloc(sizeof *s);
    if (!s) {
        limits_uncharge(&k->limits, LIMIT_memory, sizeof *s);
        return -ENOMEM;
    }
    *s = (struct socket){
        .kernel = k,
        .family = domain == AF_UNIX ? &unix_family : &inet_family,
        .domain = domain,
        .type = type,
        .protocol = protocol,
        .sndbuf = SOCKET_BUFFER_BYTES,
        .rcvbuf = SOCKET_BUFFER_BYTES,
        .peer_cred = {0, UINT32_MAX, UINT32_MAX},
    };
    socket_init_lists(s);
    list_push_back(&net->sockets, &s->all);
    *ret = s;
    return 0;
}

void
socket_set_cred(struct socket *s, const struct task *t)
{
    s->cred = (struct sock_cred){t->pid, t->as.cred.uid, t->as.cred.gid};
}

/* One direction only. A connection joins both ends to each other. */
void
socket_join(struct socket *a, struct socket *b)
{
    a->peer = b;
    list_remove(&a->peer_link);
    list_push_back(&b->peers, &a->peer_link);
    a->state = SOCK_CONNECTED;
}

void
socket_leave_peer(struct socket *s)
{
    list_remove(&s->peer_link);
    s->peer = NULL;
}

/* True if closing s resets its connection: it leaves data unread, or it is a
 * TCP socket that was configured so (SO_LINGER). */
static bool
socket_is_reset(const struct socket *s)
{
    if (!list_is_empty(&s->queue))
        return true;
    return socket_is_inet(s) && s->linger.l_onoff && !s->linger.l_linger;
}

/* Records that the peer of p is gone. A stream reads the end of file; a reset
 * also reports an error. A datagram socket only loses its default
 * destination. */
static void
socket_lose_peer(struct socket *p, bool resets)
{
    socket_leave_peer(p);
    if (p->type != SOCK_DGRAM) {
        p->shut |= socket_is_inet(p) ? SHUT_BIT_RD : SHUT_BITS;
        if (resets) {
            p->shut = SHUT_BITS;
            p->error = ECONNRESET;
            p->is_reset = socket_is_inet(p);
        }
    }
    waitq_wake(&p->events);
}

/* Sockets that have s as their peer are found by its list, since several
 * datagram sockets may be connected to one. */
void
socket_free(OWN struct socket *s)
{
    if (!s)
        return;
    bool resets = socket_is_reset(s);
    outside_release(s);
    socket_listen_end(s);
    socket_leave_peer(s);
    while (!list_is_empty(&s->peers))
        socket_lose_peer(CONTAINER_OF(s->peers.next, struct socket, peer_link),
                         resets);
    s->family->unbind(s);
    list_remove(&s->listen_link);
    socket_drop_queue(s);
    list_remove(&s->carrier_link);
    waitq_fini(&s->events);
    waitq_fini(&s->room);
    list_remove(&s->all);
    if (list_is_empty(&s->kernel->net->sockets))
        net_drop_spare(s->kernel->net);
    limits_uncharge(&s->kernel->limits, LIMIT_memory, sizeof *s);
    free(s);
}

int
socket_take_error(struct socket *s)
{
    int e = s->error;

    s->error = 0;
    return -e;
}

/* --- files */

/* Sets the deadline of the socket's own time limit before io.c waits. Such a
 * call is not restarted after a signal, as on Linux. */
static void
socket_limit_wait(struct task *t, int64_t timeout_ns)
{
    if (!timeout_ns)
        return;
    int64_t deadline = clock_after(&t->kernel->clock, timeout_ns);
    (void)thread_deadline(t->thread, deadline);
    t->thread->call.restartable = false;
}

/* Files in the message have no receiver here, and are dropped as on Linux. */
static int64_t
socket_file_read(struct file *f, struct task *t, void *buf, size_t len,
                 uint64_t *pos)
{
    struct socket *s = f->obj;
    struct sock_msg m = {.len = len};

    (void)pos;
    iov_init_buf(&m.data, buf, len);
    int64_t r = socket_recv(s, t, &m);
    scm_fini(&m.scm);
    if (r == -EAGAIN)
        socket_limit_wait(t, s->rcvtimeo_ns);
    return r;
}

static int64_t
socket_file_write(struct file *f, struct task *t, const void *buf, size_t len,
                  uint64_t *pos)
{
    struct socket *s = f->obj;
    struct sock_msg m = {.len = len};

    (void)pos;
    /* A message to send is only read. */
    iov_init_buf(&m.data, (void *)(uintptr_t)buf, len);
    socket_set_cred(s, t);
    m.scm.cred = s->cred;
    int64_t r = socket_send(s, t, &m);
    if (r == -EAGAIN)
        socket_limit_wait(t, s->sndtimeo_ns);
    return r;
}

/* An unconnected stream polls as hung up and writable, as on Linux. */
static short
socket_poll_connection(struct socket *s)
{
    short events = 0;

    if (s->state == SOCK_IDLE)
        events |= POLLOUT | POLLWRNORM | POLLHUP;
    if (s->shut & SHUT_BIT_RD)
        events |= POLLIN | POLLRDNORM | POLLRDHUP;
    if (s->shut == SHUT_BITS)
        events |= POLLHUP;
    return events;
}

/* The wish for space is recorded, so that a reader of the peer wakes this
 * socket only if somebody waits for it. */
static short
socket_poll(struct file *f, struct poll_table *pt)
{
    struct socket *s = f->obj;
    short events = s->error ? POLLERR : 0;

    poll_wait(pt, &s->events);
    if (s->out)
        return outside_poll(s);
    if (s->state == SOCK_CONNECTING)
        return events;
    if (!list_is_empty(&s->queue) || !list_is_empty(&s->pending))
        events |= POLLIN | POLLRDNORM;
    if (s->state == SOCK_LISTENING)
        return events;
    if (s->type != SOCK_DGRAM)
        events |= socket_poll_connection(s);
    if (s->error)
        events |= POLLIN | POLLRDNORM;
    if (socket_has_room(s))
        events |= POLLOUT | POLLWRNORM;
    else
        s->wants_room = true;
    return events;
}

/* TIOCOUTQ counts the bytes that the peer has not read yet. */
static int64_t
socket_ioctl(struct file *f, struct task *t, uint32_t cmd, uint32_t arg)
{
    struct socket *s = f->obj;
    int32_t n;

    if (cmd != FIONREAD && cmd != TIOCOUTQ)
        return -ENOTTY;
    if (s->state == SOCK_LISTENING)
        return -EINVAL;
    if (cmd == FIONREAD)
        n = (int32_t)(s->out ? outside_readable(s) : socket_readable(s));
    else
        n = s->peer ? (int32_t)socket_readable(s->peer) : 0;
    return copy_to_guest(t, arg, &n, sizeof n);
}

static int
socket_getattr(struct file *f, struct attr *ret)
{
    return file_anon_attr(f, S_IFSOCK | 0777, ret);
}

static void
socket_release(struct file *f)
{
    socket_free(f->obj);
}

static const struct file_ops socket_ops = {
    .kind = "socket",
    .read = socket_file_read,
    .write = socket_file_write,
    .poll = socket_poll,
    .getattr = socket_getattr,
    .ioctl = socket_ioctl,
    .release = socket_release,
};

/* A datagram or record is one message; a stream has none. */
int
socket_file_new(OWN struct socket *s, uint32_t flags, OWN struct file **ret)
{
    bool is_message = !socket_is_stream(s);
    int r = file_new(&s->kernel->vfs, &socket_ops, s, O_RDWR | flags, ret);

    if (r < 0)
        return r;
    (*ret)->is_message = is_message;
    s->file = *ret;
    return 0;
}

struct socket *
socket_of_file(const struct file *f)
{
    return f->ops == &socket_ops ? f->obj : NULL;
}

/* An O_PATH descriptor is no socket, even if its inode is one. */
int
socket_find(struct task *t, int fd, struct file **ret_file, struct socket **ret)
{
    struct file *f = fd_find(t, fd);

    if (!f || f->flags & O_PATH)
        return -EBADF;
    if (f->ops != &socket_ops)
        return -ENOTSOCK;
    *ret_file = f;
    *ret = f->obj;
    return 0;
}
