/* System calls that send and receive messages on sockets.
 *
 * A stream call that moved a part and waits keeps the count in the thread's
 * progress; recvmmsg and sendmmsg keep the number of messages there. */
#include "kernel/abi.h"
#include "kernel/kernel.h"
#include "kernel/msg.h"
#include "kernel/poll.h"
#include "kernel/socket.h"
#include "kernel/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

enum { MMSG_MAX = 1024, MMSG_STEP = 32 };

/* struct mmsghdr */
struct guest_mmsghdr {
    struct guest_msghdr hdr;
    uint32_t len;
};

/* One message call, with everything that its tries have in common. */
struct msg_call {
    struct task *task;
    struct file *file;
    struct socket *socket;
    int flags;
    int64_t timeout_ns; /* 0: none */
    bool is_one_of_many;
};

static int
call_init(struct msg_call *c, struct task *t, int fd, uint32_t flags,
          bool sends)
{
    *c = (struct msg_call){.task = t, .flags = (int)flags};
    int r = socket_find(t, fd, &c->file, &c->socket);
    if (r == 0)
        c->timeout_ns = sends ? c->socket->sndtimeo_ns : c->socket->rcvtimeo_ns;
    return r;
}

/* Ends a try that moved `done` bytes: the call waits on q for more, or answers
 * with what it has. A call for many messages keeps the number of messages as
 * its progress, so the bytes of one are not kept. */
static int64_t
sys_msg_wait_for_more(struct msg_call *c, size_t done, struct waitq *q)
{
    struct thread *th = c->task->thread;
    int64_t limit = c->timeout_ns ? c->timeout_ns : -1;
    int64_t now = done && !c->is_one_of_many ? (int64_t)done : -EAGAIN;

    if (c->file->flags & O_NONBLOCK || c->flags & MSG_DONTWAIT ||
        thread_deadline(th, poll_deadline(c->task, limit)))
        return now;
    if (!c->is_one_of_many)
        th->call.progress = done;
    th->call.restartable = !c->timeout_ns;
    thread_keep_file(th, c->file);
    thread_wait_on(th, q);
    return -EWAIT;
}

/* Copies the header at `at`, and prepares its pieces of memory. */
static int
sys_msg_get(const struct msg_call *c, gaddr at, enum iov_use access,
            struct guest_msghdr *h, struct sock_msg *m)
{
    int r = copy_from_guest(c->task, h, at, sizeof *h);
    if (r < 0)
        return r;
    int64_t len = iov_init_guest(&m->data, c->task, access, h->iov, h->iovlen);
    m->len = len < 0 ? 0 : (size_t)len;
    return len < 0 ? (int)len : 0;
}

/* --- sending */

/* A stream that was written to in part reports the part; the error is found by
 * the next call. */
static int64_t
sys_msg_send_failed(struct msg_call *c, size_t done, int64_t r)
{
    if (done)
        return (int64_t)done;
    if (r == -EPIPE && socket_is_stream(c->socket) &&
        !(c->flags & MSG_NOSIGNAL))
        signal_send_self(c->task, SIGPIPE);
    return r;
}

/* Returns the number of bytes that earlier tries of this call have moved. The
 * guest may have made its iovecs shorter since, so it is bounded. */
static size_t
sys_msg_progress_of(const struct msg_call *c, const struct sock_msg *m)
{
    uint64_t done = c->task->thread->call.progress;

    if (c->is_one_of_many || !socket_is_stream(c->socket))
        return 0;
    return done < m->len ? (size_t)done : m->len;
}

static int64_t
sys_msg_send(struct msg_call *c, struct sock_msg *m)
{
    bool keeps_progress = !c->is_one_of_many && socket_is_stream(c->socket);
    size_t done = sys_msg_progress_of(c, m);

    m->flags = c->flags;
    iov_skip(&m->data, done);
    m->len -= done;
    int64_t r = socket_send(c->socket, c->task, m);
    scm_fini(&m->scm);
    if (r == -EAGAIN)
        return sys_msg_wait_for_more(c, done, m->wait);
    if (r < 0)
        return sys_msg_send_failed(c, done, r);
    done += (size_t)r;
    if (!keeps_progress || (size_t)r == m->len)
        return (int64_t)done;
    return sys_msg_wait_for_more(c, done, m->wait);
}

/* sendto(fd, buf, len, flags, address, length) */
int64_t
sys_sendto(struct task *t, const union sysarg *a)
{
    struct sock_msg m = {.len = a[2].u};
    struct msg_call c;

    int r = call_init(&c, t, a[0].i, a[3].u, true);
    if (r < 0)
        return r;
    if (iov_init_piece(&m.data, t, IOV_IN, a[1].addr, a[2].u) < 0)
        return -EFAULT;
    if (a[4].addr)
        r = sock_addr_from_guest(t, a[4].addr, a[5].u, &m.name);
    if (r < 0)
        return r;
    m.scm.cred = (struct sock_cred){t->pid, t->as.cred.uid, t->as.cred.gid};
    return sys_msg_send(&c, &m);
}

/* Sends the message whose header is at `at`. */
static int64_t
sys_msg_send_header(struct msg_call *c, gaddr at)
{
    struct task *t = c->task;
    struct guest_msghdr h;
    struct sock_msg m = {0};

    int r = sys_msg_get(c, at, IOV_IN, &h, &m);
    if (r < 0)
        return r;
    if (h.name && h.namelen)
        r = sock_addr_from_guest(t, h.name, h.namelen, &m.name);
    /* Files go with the first byte: later tries have none. */
    if (r == 0 && t->thread->call.progress && !c->is_one_of_many)
        h.controllen = 0;
    if (r == 0)
        r = scm_from_guest(t, c->socket, &h, &m.scm);
    return r < 0 ? r : sys_msg_send(c, &m);
}

/* sendmsg(fd, header, flags) */
int64_t
sys_sendmsg(struct task *t, const union sysarg *a)
{
    struct msg_call c;
    int r = call_init(&c, t, a[0].i, a[2].u, true);

    return r < 0 ? r : sys_msg_send_header(&c, a[1].addr);
}

/* --- receiving */

/* MSG_WAITALL continues until the buffer is full, but not past files: they
 * belong to the bytes before them. */
static bool
sys_msg_wants_more(const struct msg_call *c, const struct sock_msg *m,
                   int64_t got)
{
    return c->flags & MSG_WAITALL && !(c->flags & MSG_PEEK) &&
           !c->is_one_of_many && socket_is_stream(c->socket) && got > 0 &&
           (size_t)got < m->len && !m->scm.n_files;
}

static int64_t
sys_msg_recv(struct msg_call *c, struct sock_msg *m)
{
    size_t done = sys_msg_progress_of(c, m);

    m->flags = c->flags;
    iov_skip(&m->data, done);
    m->len -= done;
    if (!m->len && socket_is_stream(c->socket))
        return (int64_t)done;
    int64_t r = socket_recv(c->socket, c->task, m);
    if (r == -EAGAIN)
        return sys_msg_wait_for_more(c, done, m->wait);
    if (r < 0)
        return done ? (int64_t)done : r;
    done += (size_t)r;
    if (sys_msg_wants_more(c, m, r))
        return sys_msg_wait_for_more(c, done, m->wait);
    return (int64_t)done;
}

/* recvfrom(fd, buf, len, flags, address, &length) */
int64_t
sys_recvfrom(struct task *t, const union sysarg *a)
{
    struct sock_msg m = {.len = a[2].u};
    struct msg_call c;

    int r = call_init(&c, t, a[0].i, a[3].u, false);
    if (r < 0)
        return r;
    if (iov_init_piece(&m.data, t, IOV_OUT, a[1].addr, a[2].u) < 0)
        return -EFAULT;
    int64_t n = sys_msg_recv(&c, &m);
    scm_fini(&m.scm);
    if (n < 0 || !a[4].addr)
        return n;
    r = sock_addr_answer(t, a[4].addr, a[5].addr, &m.name);
    return r < 0 ? r : n;
}

/* Writes everything that was received besides the data: the sender, flags,
 * control messages. */
static int
sys_msg_answer_header(struct msg_call *c, struct sock_msg *m,
                      struct guest_msghdr *h, gaddr at)
{
    struct task *t = c->task;
    int r = 0;

    if (h->name)
        r = sock_addr_to_guest(t, h->name, &h->namelen, &m->name);
    if (r < 0) {
        scm_fini(&m->scm);
        return r;
    }
    h->flags = (uint32_t)m->out_flags;
    if (scm_to_guest(t, c->socket, &m->scm, h, c->flags & MSG_CMSG_CLOEXEC))
        h->flags |= MSG_CTRUNC;
    if (c->flags & MSG_CMSG_CLOEXEC)
        h->flags |= MSG_CMSG_CLOEXEC;
    return copy_to_guest(t, at, h, sizeof *h);
}

static int64_t
sys_msg_recv_header(struct msg_call *c, gaddr at)
{
    struct guest_msghdr h;
    struct sock_msg m = {0};

    int r = sys_msg_get(c, at, IOV_OUT, &h, &m);
    if (r < 0)
        return r;
    int64_t n = sys_msg_recv(c, &m);
    if (n < 0) {
        scm_fini(&m.scm);
        return n;
    }
    r = sys_msg_answer_header(c, &m, &h, at);
    return r < 0 ? r : n;
}

/* recvmsg(fd, header, flags) */
int64_t
sys_recvmsg(struct task *t, const union sysarg *a)
{
    struct msg_call c;
    int r = call_init(&c, t, a[0].i, a[2].u, false);

    return r < 0 ? r : sys_msg_recv_header(&c, a[1].addr);
}

/* --- many messages in one call */

/* Calls `one` for each of n headers. The call ends with the first error after
 * some messages, with their number. A long array is processed in steps. */
static int64_t
do_many(struct msg_call *c, gaddr at, uint32_t n,
        int64_t (*one)(struct msg_call *c, gaddr at))
{
    struct call_state *state = &c->task->thread->call;
    uint32_t i = (uint32_t)state->progress;

    uint32_t step_end = i + MMSG_STEP;
    c->is_one_of_many = true;
    for (n = n < MMSG_MAX ? n : MMSG_MAX; i < n; i++) {
        if (i == step_end) {
            state->progress = i;
            return thread_again(c->task->thread);
        }
        if (i && c->flags & MSG_WAITFORONE)
            c->flags |= MSG_DONTWAIT;
        gaddr hdr = at + i * (uint32_t)sizeof(struct guest_mmsghdr);
        state->progress = i;
        int64_t r = one(c, hdr);
        if (r == -EWAIT)
            return r;
        if (r < 0)
            return i ? (int64_t)i : r;
        uint32_t len = (uint32_t)r;
        r = copy_to_guest(c->task,
                          hdr + (gaddr)offsetof(struct guest_mmsghdr, len),
                          &len, sizeof len);
        if (r < 0)
            return i ? (int64_t)i : r;
    }
    return i;
}

/* sendmmsg(fd, headers, n, flags) */
int64_t
sys_sendmmsg(struct task *t, const union sysarg *a)
{
    struct msg_call c;
    int r = call_init(&c, t, a[0].i, a[3].u, true);

    return r < 0 ? r : do_many(&c, a[1].addr, a[2].u, sys_msg_send_header);
}

/* recvmmsg(fd, headers, n, flags, timeout) */
int64_t
sys_recvmmsg(struct task *t, const union sysarg *a)
{
    struct msg_call c;

    int r = call_init(&c, t, a[0].i, a[3].u, false);
    if (r < 0)
        return r;
    if (a[4].addr) {
        r = abi_get_time(t, a[4].addr, &c.timeout_ns);
        if (r < 0)
            return r;
        c.timeout_ns += c.timeout_ns == 0; /* 0 would be no timeout */
    }
    return do_many(&c, a[1].addr, a[2].u, sys_msg_recv_header);
}
