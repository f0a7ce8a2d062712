/* System calls on sockets. */
#include "kernel/abi.h"
#include "kernel/kernel.h"
#include "kernel/msg.h"
#include "kernel/poll.h"
#include "kernel/socket.h"
#include "kernel/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

#define TYPE_FLAGS (SOCK_CLOEXEC | SOCK_NONBLOCK)

/* A socket that a call is about. */
struct socket_target {
    struct file *file;
    struct socket *socket;
};

static int
target_find(struct task *t, int fd, struct socket_target *ret)
{
    return socket_find(t, fd, &ret->file, &ret->socket);
}

static bool
sys_socket_is_nonblocking(const struct socket_target *g, int flags)
{
    return g->file->flags & O_NONBLOCK || flags & MSG_DONTWAIT;
}

/* Ends a try that cannot continue now. Returns -EWAIT after adding the thread
 * to q. Returns -EAGAIN if the call must not wait, or has waited for timeout_ns
 * (0: no limit). */
static int
sys_socket_wait_or_again(struct task *t, const struct socket_target *g,
                         int flags, int64_t timeout_ns, struct waitq *q)
{
    struct thread *th = t->thread;

    if (sys_socket_is_nonblocking(g, flags))
        return -EAGAIN;
    if (thread_deadline(th, poll_deadline(t, timeout_ns ? timeout_ns : -1)))
        return -EAGAIN;
    th->call.restartable = !timeout_ns;
    thread_keep_file(th, g->file);
    thread_wait_on(th, q);
    return -EWAIT;
}

/* --- making */

/* socket(domain, type, protocol) */
int64_t
sys_socket(struct task *t, const union sysarg *a)
{
    uint32_t type = a[1].u;
    struct socket *s;
    struct file *f;

    if (type & ~(uint32_t)(TYPE_FLAGS | 0xf))
        return -EINVAL;
    int r = socket_new(t->kernel, a[0].i, (int)(type & 0xf), a[2].i, &s);
    if (r < 0)
        return r;
    socket_set_cred(s, t);
    r = socket_file_new(s, type & SOCK_NONBLOCK, &f);
    return r < 0 ? r : fd_install(t, f, 0, type & SOCK_CLOEXEC);
}

/* Only Unix sockets can be created as a pair, already connected. */
static int
sys_socket_pair_new(struct task *t, int domain, int type, int protocol,
                    OWN struct socket **ret_a, OWN struct socket **ret_b)
{
    struct socket *x, *y;

    int r = socket_new(t->kernel, domain, type, protocol, &x);
    if (r < 0)
        return r;
    r = domain == AF_UNIX ? 0 : -EOPNOTSUPP;
    if (r == 0)
        r = socket_new(t->kernel, domain, type, protocol, &y);
    if (r < 0) {
        socket_free(x);
        return r;
    }
    socket_set_cred(x, t);
    x->peer_cred = y->cred = y->peer_cred = x->cred;
    socket_join(x, y);
    socket_join(y, x);
    *ret_a = x;
    *ret_b = y;
    return 0;
}

/* socketpair(domain, type, protocol, int fds[2]) */
int64_t
sys_socketpair(struct task *t, const union sysarg *a)
{
    uint32_t type = a[1].u, flags = type & SOCK_NONBLOCK;
    struct socket *x, *y;
    struct file *f, *g;
    int32_t fds[2];

    if (type & ~(uint32_t)(TYPE_FLAGS | 0xf))
        return -EINVAL;
    int r = sys_socket_pair_new(t, a[0].i, (int)(type & 0xf), a[2].i, &x, &y);
    if (r < 0)
        return r;
    r = socket_file_new(x, flags, &f);
    if (r < 0) {
        socket_free(y);
        return r;
    }
    r = socket_file_new(y, flags, &g);
    if (r < 0) {
        file_put(f);
        return r;
    }
    r = fd_install_pair(t, f, g, type & SOCK_CLOEXEC, fds);
    if (r < 0)
        return r;
    r = copy_to_guest(t, a[3].addr, fds, sizeof fds);
    if (r < 0)
        fd_close_pair(t, fds); /* the guest never learned their numbers */
    return r;
}

/* --- names */

/* Returns a name as getsockname and getpeername show it: that of a socket
 * without a name has only a family. */
static void
sys_socket_show_name(const struct socket *s, const struct sock_addr *name,
                     struct sock_addr *ret)
{
    *ret = *name;
    if (name->len)
        return;
    ret->sa.sa_family = (sa_family_t)s->domain;
    ret->len = s->domain == AF_UNIX   ? sizeof ret->sa.sa_family
               : s->domain == AF_INET ? sizeof ret->in
                                      : sizeof ret->in6;
}

/* bind(fd, address, length) */
int64_t
sys_bind(struct task *t, const union sysarg *a)
{
    struct socket_target g;
    struct sock_addr addr;

    int r = target_find(t, a[0].i, &g);
    if (r == 0)
        r = sock_addr_from_guest(t, a[1].addr, a[2].u, &addr);
    return r < 0 ? r : g.socket->family->bind(g.socket, t, &addr);
}

/* listen(fd, backlog) */
int64_t
sys_listen(struct task *t, const union sysarg *a)
{
    struct socket_target g;

    int r = target_find(t, a[0].i, &g);
    return r < 0 ? r : socket_listen(g.socket, t, a[1].i);
}

/* getsockname(fd, address, &length) */
int64_t
sys_getsockname(struct task *t, const union sysarg *a)
{
    struct socket_target g;
    struct sock_addr addr;

    int r = target_find(t, a[0].i, &g);
    if (r < 0)
        return r;
    sys_socket_show_name(g.socket, &g.socket->local, &addr);
    return sock_addr_answer(t, a[1].addr, a[2].addr, &addr);
}

/* getpeername(fd, address, &length): a connection keeps the name after its peer
 * has closed it, but not after an abort. */
int64_t
sys_getpeername(struct task *t, const union sysarg *a)
{
    struct socket_target g;
    struct sock_addr addr;

    int r = target_find(t, a[0].i, &g);
    if (r < 0)
        return r;
    if (g.socket->state != SOCK_CONNECTED || g.socket->is_reset)
        return -ENOTCONN;
    sys_socket_show_name(g.socket, &g.socket->remote, &addr);
    return sock_addr_answer(t, a[1].addr, a[2].addr, &addr);
}

/* --- connections */

/* connect(fd, address, length): waits for a slot of the listener, within the
 * send timeout. */
int64_t
sys_connect(struct task *t, const union sysarg *a)
{
    struct waitq *wait = NULL;
    struct sock_addr addr = {0};
    struct socket_target g;

    int r = target_find(t, a[0].i, &g);
    if (r == 0)
        r = sock_addr_from_guest(t, a[1].addr, a[2].u, &addr);
    if (r < 0)
        return r;
    if (addr.len < sizeof addr.sa.sa_family)
        return -EINVAL;
    r = socket_connect(g.socket, t, !sys_socket_is_nonblocking(&g, 0), &addr,
                       &wait);
    if (r != -EAGAIN)
        return r;
    return sys_socket_wait_or_again(t, &g, 0, g.socket->sndtimeo_ns, wait);
}

/* A descriptor is reserved first: a connection that was accepted cannot be put
 * back. */
static int64_t
sys_socket_accept_flags(struct task *t, const union sysarg *a, uint32_t flags)
{
    struct sock_addr addr;
    struct socket *c;
    struct socket_target g;
    struct file *f;

    int r = target_find(t, a[0].i, &g);
    if (r == 0)
        r = fd_reserve(t, 0);
    if (r < 0)
        return r;
    r = socket_accept(g.socket, &c);
    if (r == -EAGAIN)
        return sys_socket_wait_or_again(t, &g, 0, g.socket->rcvtimeo_ns,
                                        &g.socket->events);
    if (r < 0)
        return r;
    sys_socket_show_name(c, &c->remote, &addr);
    r = socket_file_new(c, flags & SOCK_NONBLOCK, &f);
    if (r < 0)
        return r;
    r = a[1].addr ? sock_addr_answer(t, a[1].addr, a[2].addr, &addr) : 0;
    if (r < 0) {
        file_put(f);
        return r;
    }
    return fd_install(t, f, 0, flags & SOCK_CLOEXEC);
}

/* accept(fd, address, &length) */
int64_t
sys_accept(struct task *t, const union sysarg *a)
{
    return sys_socket_accept_flags(t, a, 0);
}

/* accept4(fd, address, &length, flags) */
int64_t
sys_accept4(struct task *t, const union sysarg *a)
{
    return sys_socket_accept_flags(t, a, a[3].u);
}

/* shutdown(fd, how) */
int64_t
sys_shutdown(struct task *t, const union sysarg *a)
{
    struct socket_target g;

    int r = target_find(t, a[0].i, &g);
    return r < 0 ? r : socket_shutdown(g.socket, a[1].i);
}

/* setsockopt(fd, level, name, value, length) */
int64_t
sys_setsockopt(struct task *t, const union sysarg *a)
{
    struct socket_target g;

    int r = target_find(t, a[0].i, &g);
    if (r < 0)
        return r;
    return socket_setopt(g.socket, t, a[1].i, a[2].i, a[3].addr, a[4].u);
}

/* getsockopt(fd, level, name, value, &length) */
int64_t
sys_getsockopt(struct task *t, const union sysarg *a)
{
    struct socket_target g;
    uint32_t len;

    int r = target_find(t, a[0].i, &g);
    if (r == 0)
        r = copy_from_guest(t, &len, a[4].addr, sizeof len);
    if (r == 0)
        r = socket_getopt(g.socket, t, a[1].i, a[2].i, a[3].addr, &len);
    return r < 0 ? r : copy_to_guest(t, a[4].addr, &len, sizeof len);
}
