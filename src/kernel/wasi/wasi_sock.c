/* Sockets: inherited or accepted ones, as WASI cannot create any.
 *
 * Sending is a plain write. Receiving has flags of its own, and keeps its
 * progress over waits, since MSG_WAITALL may take several. */
#include "kernel/io.h"
#include "kernel/socket.h"
#include "kernel/wasi/wasi_impl.h"

#include <errno.h>
#include <fcntl.h>

/* The socket that a call is about. */
struct wasi_target {
    struct file *file;
    struct socket *socket;
};

/* Finds a socket with these rights. That a descriptor is no socket is a clearer
 * answer than a missing right, so it is checked first. */
static int
wasi_sock_find_target(struct task *t, uint64_t fd, uint64_t need,
                      struct wasi_target *ret)
{
    int r = socket_find(t, (int)fd, &ret->file, &ret->socket);

    return r < 0 ? r : wasi_file(t, fd, need, &ret->file);
}

/* Waits for the socket, within its timeout; -EAGAIN if it must not wait. */
static int
wasi_sock_wait_or_again(struct task *t, const struct wasi_target *g,
                        int64_t timeout_ns)
{
    struct thread *th = t->thread;

    if (g->file->flags & O_NONBLOCK)
        return -EAGAIN;
    if (timeout_ns &&
        thread_deadline(th, clock_after(&t->kernel->clock, timeout_ns)))
        return -EAGAIN;
    thread_wait_on(th, &g->socket->events);
    return -EWAIT;
}

/* --- accept */

/* sock_accept(fd, fdflags, &fd): the connection gets the rights that the
 * listener passes on. */
int64_t
wasi_sock_accept(struct task *t, const uint64_t *a)
{
    struct socket *conn;
    struct wasi_target g;
    struct file *f;

    int r = wasi_sock_find_target(t, a[0], RIGHT_SOCK_ACCEPT, &g);
    if (r == 0 && a[1] & ~(uint64_t)FDFLAG_NONBLOCK)
        r = -EINVAL;
    if (r == 0)
        r = wasi_check(t, a[2], sizeof(uint32_t));
    if (r != 0)
        return r;
    r = fd_reserve(t, 0);
    if (r < 0)
        return r;
    uint64_t inherited = rights_get(t, (int)a[0], g.file).inheriting;
    r = socket_accept(g.socket, &conn);
    if (r == -EAGAIN)
        return wasi_sock_wait_or_again(t, &g, g.socket->rcvtimeo_ns);
    if (r == 0)
        r = socket_file_new(conn, wasi_open_flags((uint32_t)a[1]), &f);
    if (r != 0)
        return r;
    int fd = wasi_install(t, f, &(struct rights){inherited, inherited});
    return fd < 0 ? fd : copy_to_guest(t, (gaddr)a[2], &fd, sizeof fd);
}

/* --- receiving and sending */

/* WASI's flags as those of recv(2). */
static int
wasi_sock_msg_flags(uint64_t ri_flags)
{
    return (ri_flags & RIFLAG_PEEK ? MSG_PEEK : 0) |
           (ri_flags & RIFLAG_WAITALL ? MSG_WAITALL : 0);
}

/* Receives what is there. Returns the bytes so far, or -EWAIT. Files in the
 * messages have no receiver in WASI, and are dropped. */
static int64_t
wasi_sock_receive(struct task *t, const struct wasi_target *g,
                  struct sock_msg *m)
{
    struct thread *th = t->thread;
    uint64_t done = th->call.progress;
    bool all = m->flags & MSG_WAITALL && !(m->flags & MSG_PEEK) &&
               socket_is_stream(g->socket);

    iov_skip(&m->data, done);
    m->len -= done;
    int64_t n = socket_recv(g->socket, t, m);
    scm_fini(&m->scm);
    if (n > 0) {
        th->call.progress = done += (uint64_t)n;
        if (!all || (uint64_t)n == m->len)
            return (int64_t)done;
    }
    if (n > 0 || n == -EAGAIN)
        n = wasi_sock_wait_or_again(t, g, g->socket->rcvtimeo_ns);
    return n == -EWAIT || !done ? n : (int64_t)done;
}

/* sock_recv(fd, iovs, count, ri_flags, &n, &ro_flags) */
int64_t
wasi_sock_recv(struct task *t, const uint64_t *a)
{
    struct sock_msg m = {.flags = wasi_sock_msg_flags(a[3])};
    struct wasi_target g;

    int r = wasi_sock_find_target(t, a[0], RIGHT_FD_READ, &g);
    if (r == 0 && a[3] & ~(uint64_t)RIFLAGS_ALL)
        r = -EINVAL;
    if (r == 0)
        r = wasi_check(t, a[4], sizeof(uint32_t));
    if (r == 0)
        r = wasi_check(t, a[5], sizeof(uint16_t));
    if (r < 0)
        return r;
    int64_t n =
        iov_init_guest(&m.data, t, IOV_OUT, (gaddr)a[1], (uint32_t)a[2]);
    if (n < 0)
        return n;
    m.len = (size_t)n;
    n = wasi_sock_receive(t, &g, &m);
    if (n < 0)
        return n;
    uint16_t out = m.out_flags & MSG_TRUNC ? ROFLAG_DATA_TRUNCATED : 0;
    r = copy_to_guest(t, (gaddr)a[5], &out, sizeof out);
    return r < 0 ? r
                 : copy_to_guest(t, (gaddr)a[4], &(uint32_t){(uint32_t)n},
                                 sizeof(uint32_t));
}

/* sock_send(fd, iovs, count, si_flags, &n): there are no flags to give. */
int64_t
wasi_sock_send(struct task *t, const uint64_t *a)
{
    struct wasi_target g;

    int r = wasi_sock_find_target(t, a[0], RIGHT_FD_WRITE, &g);
    if (r < 0)
        return r;
    if (a[3])
        return -EINVAL;
    return wasi_fd_write(t, (const uint64_t[]){a[0], a[1], a[2], a[4]});
}

/* sock_shutdown(fd, how) */
int64_t
wasi_sock_shutdown(struct task *t, const uint64_t *a)
{
    static const int how[] = {[SDFLAG_RD] = SHUT_RD,
                              [SDFLAG_WR] = SHUT_WR,
                              [SDFLAG_RD | SDFLAG_WR] = SHUT_RDWR};
    struct wasi_target g;

    int r = wasi_sock_find_target(t, a[0], RIGHT_SOCK_SHUTDOWN, &g);
    if (r < 0)
        return r;
    if (!a[1] || a[1] > (SDFLAG_RD | SDFLAG_WR))
        return -EINVAL;
    return socket_shutdown(g.socket, how[a[1]]);
}
