/* The parent and the zygote talk on a socket. The zygote first sends the result
 * of the boot: an error number and a text. Then each byte that it receives is a
 * request to fork. The answer has the child's number, the agent's stream, a
 * socket like this one to the child, and a descriptor of the child. Signals use
 * that descriptor, because a number may be reused for another process. */
#include "v86/zygote.h"

#include "base/hfd.h"
#include "v86/jail.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

struct zygote_report {
    int error;
    char text[PUMP_ERROR_BYTES];
};

enum { ZYGOTE_HFDS = 3 };

/* --- in the zygote */

static void
zygote_send_child(int control, const struct zygote_child *c)
{
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(ZYGOTE_HFDS * sizeof(int))];
    } u = {.head = {.cmsg_level = SOL_SOCKET,
                    .cmsg_type = SCM_RIGHTS,
                    .cmsg_len = CMSG_LEN(ZYGOTE_HFDS * sizeof(int))}};
    struct iovec iov = {(void *)&c->pid, sizeof c->pid};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = &u,
                         .msg_controllen = sizeof u};
    int hfds[ZYGOTE_HFDS] = {c->hfd, c->control, c->pidfd};

    memcpy(CMSG_DATA(&u.head), hfds, sizeof hfds);
    if (sendmsg(control, &msg, MSG_NOSIGNAL) < 0)
        _exit(1);
}

/* The receiver reads until the last message, so these sends may wait. */
static void
zygote_send_blocks(struct pump *p, int control, bool all)
{
    static struct zygote_block b;
    const uint8_t *bytes;
    uint64_t from = 0;

    while (disk_take_dirty(p->disk, from, all, &b.number, &bytes)) {
        b.has_bytes = bytes != NULL;
        if (bytes)
            memcpy(b.bytes, bytes, sizeof b.bytes);
        if (send(control, &b, sizeof b, MSG_NOSIGNAL) < 0)
            _exit(1);
        from = b.number + 1;
    }
    b.number = ZYGOTE_NO_BLOCK;
    if (send(control, &b, sizeof b, MSG_NOSIGNAL) < 0)
        _exit(1);
}

static void zygote_answer(struct pump *p, int control);

/* A machine that waits answers requests only. */
__attribute__((noreturn)) static void
zygote_wait(struct pump *p, int control)
{
    struct pollfd fd = {.fd = control, .events = POLLIN};

    for (;;)
        if (poll(&fd, 1, -1) > 0)
            zygote_answer(p, control);
}

/* The stream of a machine that waits is not used. */
__attribute__((noreturn)) static void
zygote_child_main(struct pump *p, bool runs, int stream, int control)
{
    if (runs)
        pump_serve(p, stream, control, zygote_answer);
    zygote_wait(p, control);
}

/* The clock of the child stands still until it runs; that of a zygote is
 * stopped already. */
static void
zygote_fork(struct pump *p, int control, bool runs)
{
    int stream[2], other[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, stream) < 0 ||
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, other) < 0)
        _exit(1);

    struct zygote_child c = {
        .hfd = stream[0], .control = other[0], .pid = fork()};
    if (c.pid == 0) {
        close(control);
        close(stream[0]);
        close(other[0]);
        pump_detach(p);
        zygote_child_main(p, runs, stream[1], other[1]);
    }
    close(stream[1]);
    close(other[1]);
    c.pidfd = c.pid > 0 ? (int)syscall(SYS_pidfd_open, c.pid, 0) : -1;
    if (c.pidfd < 0)
        _exit(1);
    zygote_send_child(control, &c);
    close(c.hfd);
    close(c.control);
    close(c.pidfd);
}

/* The process ends with the other end of its socket. */
static void
zygote_answer(struct pump *p, int control)
{
    uint8_t request;

    if (read(control, &request, 1) != 1)
        _exit(1);
    if (request == ZYGOTE_FORK_WAITING || request == ZYGOTE_FORK_RUNNING)
        zygote_fork(p, control, request == ZYGOTE_FORK_RUNNING);
    else
        zygote_send_blocks(p, control, request == ZYGOTE_ALL_BLOCKS);
}

/* Closes the descriptors of the server but for two: those of other machines,
 * and the file with the kept changes, are no business of a guest. */
static void
zygote_close_others(int a, int b)
{
    unsigned low = (unsigned)(a < b ? a : b), high = (unsigned)(a < b ? b : a);

    (void)close_range(STDERR_FILENO + 1, low - 1, 0);
    (void)close_range(low + 1, high - 1, 0);
    (void)close_range(high + 1, ~0U, 0);
}

/* Children that have ended disappear by themselves. */
__attribute__((noreturn)) static void
zygote_main(int control, const struct zygote_options *o, OWN struct disk *d)
{
    static struct pump p;
    static struct zygote_report report;

    (void)signal(SIGCHLD, SIG_IGN);
    (void)signal(SIGINT, SIG_IGN); /* of a terminal; the parent decides */
    zygote_close_others(control, disk_hfd(d));
    report.error = v86_jail_enter();
    if (report.error)
        (void)snprintf(report.text, sizeof report.text,
                       "the machine's process cannot be jailed: %s",
                       strerror(-report.error));
    else
        report.error = pump_boot(&p, d, &o->pump, report.text);
    (void)!write(control, &report, sizeof report);
    if (report.error)
        _exit(1);
    zygote_wait(&p, control);
}

/* --- in the parent */

int
zygote_open(const struct zygote_options *o, OWN struct disk **ret,
            char error[PUMP_ERROR_BYTES])
{
    int hfd = open(o->image, O_RDONLY | O_CLOEXEC);
    char magic[4] = "";
    const char *why = NULL;

    if (hfd < 0) {
        (void)snprintf(error, PUMP_ERROR_BYTES, "%s", strerror(errno));
        return -errno;
    }
    if (pread(hfd, magic, sizeof magic, 0) == sizeof magic &&
        !memcmp(magic, "QFI\xfb", sizeof magic)) {
        close(hfd);
        (void)snprintf(error, PUMP_ERROR_BYTES,
                       "this is a qcow2 image; convert it with: qemu-img "
                       "convert -O raw %.200s disk.img",
                       o->image);
        return -EINVAL;
    }
    int r = disk_new(hfd, o->overlay_bytes, ret);
    if (r == -EINVAL)
        why = "not a disk image";
    if (r < 0)
        (void)snprintf(error, PUMP_ERROR_BYTES, "%s", why ? why : strerror(-r));
    return r;
}

int
zygote_start(struct zygote *z, struct disk *disk,
             const struct zygote_options *o, char error[PUMP_ERROR_BYTES])
{
    struct zygote_report report = {.error = -EIO,
                                   .text = "the machine's process has ended"};
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return -errno;
    z->pid = fork();
    if (z->pid == 0) {
        close(pair[0]);
        zygote_main(pair[1], o, disk);
    }
    close(pair[1]);
    z->control = pair[0];
    if (z->pid < 0)
        return -errno;
    while (read(z->control, &report, sizeof report) < 0 && errno == EINTR)
        continue;
    if (report.error)
        (void)snprintf(error, PUMP_ERROR_BYTES, "%s", report.text);
    return report.error;
}

void
zygote_stop(struct zygote *z)
{
    (void)kill(z->pid, SIGKILL);
    (void)waitpid(z->pid, NULL, 0);
    close(z->control);
}

int
zygote_request(int control, enum zygote_request request)
{
    uint8_t byte = (uint8_t)request;

    return send(control, &byte, 1, MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

int
zygote_receive_block(int control, struct zygote_block *ret)
{
    ssize_t n = recv(control, ret, sizeof *ret, MSG_DONTWAIT);

    if (n == sizeof *ret)
        return 1;
    return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -EIO;
}

int
zygote_receive(int control, bool runs, struct zygote_child *ret)
{
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(ZYGOTE_HFDS * sizeof(int))];
    } u;
    struct zygote_child c = ZYGOTE_NO_CHILD;
    struct iovec iov = {&c.pid, sizeof c.pid};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = &u,
                         .msg_controllen = sizeof u};
    int hfds[ZYGOTE_HFDS];

    if (recvmsg(control, &msg, MSG_CMSG_CLOEXEC) != sizeof c.pid ||
        msg.msg_controllen < CMSG_LEN(sizeof hfds))
        return -EIO;
    memcpy(hfds, CMSG_DATA(&u.head), sizeof hfds);
    c.hfd = hfds[0];
    c.control = hfds[1];
    c.pidfd = hfds[2];
    if (!runs)
        hfd_closep(&c.hfd);
    *ret = c;
    return 0;
}

void
zygote_kill(struct zygote_child *c)
{
    if (c->pidfd >= 0)
        (void)syscall(SYS_pidfd_send_signal, c->pidfd, SIGKILL, NULL, 0);
    hfd_closep(&c->pidfd);
    hfd_closep(&c->control);
    hfd_closep(&c->hfd);
}
