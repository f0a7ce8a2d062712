/* The process that compiles for a closed engine, which cannot start processes.
 *
 * It accepts modules on its sockets, and forks a process for each, in a jail of
 * its own. One module is compiled at a time, but all sockets are read, so that
 * no caller blocks while it writes.
 *
 * The caller may be hostile: a message that the engine would never send ends
 * the process. The code is returned in a sealed file that nobody can write to
 * any more, because the caller will map it as executable. */
#include "engine/compiler_remote.h"

#include "base/hfd.h"
#include "engine/compiler.h"
#include "engine/config.h"
#include "engine/jail.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { EXE_HFD = REMOTE_FIRST_HFD + REMOTE_SLOTS };

/* The input on one socket. */
struct compiler_line {
    int hfd;
    struct compiler_remote_order head;
    size_t head_len; /* of it, that is there */
    uint8_t *module; /* ordered, and not answered yet; or NULL */
    size_t len, have;
};

/* The state of the process. */
struct compiler_server {
    wasm_engine_t *wasm;
    struct compiler_line line[REMOTE_SLOTS];
    struct compiler_line *current; /* whose module is being compiled, or NULL */
    pid_t pid;
    int pid_hfd, out_hfd;
};

/* --- answers */

static void
compiler_serve_send_answer(int hfd, const struct remote_answer *a, int code_hfd)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } c = {.head = {.cmsg_level = SOL_SOCKET,
                    .cmsg_type = SCM_RIGHTS,
                    .cmsg_len = CMSG_LEN(sizeof code_hfd)}};
    struct iovec v = {(void *)a, sizeof *a};
    struct msghdr msg = {.msg_iov = &v, .msg_iovlen = 1};

    if (a->error == 0) {
        memcpy(CMSG_DATA(&c.head), &code_hfd, sizeof code_hfd);
        msg.msg_control = &c;
        msg.msg_controllen = sizeof c;
    }
    if (sendmsg(hfd, &msg, MSG_NOSIGNAL) != (ssize_t)sizeof *a)
        _exit(COMPILER_FAILED);
}

static void
compiler_serve_answer(struct compiler_line *l, const struct remote_answer *a,
                      int code_hfd)
{
    free(STEAL(l->module));
    compiler_serve_send_answer(l->hfd, a, code_hfd);
}

static void
compiler_serve_answer_error(struct compiler_line *l, int error)
{
    struct remote_answer a = {.error = error};

    (void)snprintf(a.why, sizeof a.why, "the compiler: %s",
                   strerrordesc_np(-error));
    compiler_serve_answer(l, &a, -1);
}

/* --- compiling */

/* Turns the child into a compiler: it keeps nothing but the module and the file
 * for the code, and enters the jail. */
_Noreturn static void
compiler_serve_become(const struct compiler_server *s,
                      const struct compiler_line *l)
{
    if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0 ||
        dup3(s->out_hfd, 1, 0) < 0 || dup3(s->out_hfd, 2, 0) < 0 ||
        close_range(3, ~0U, 0) < 0 || jail_limit() < 0 || jail_filter() < 0)
        _exit(COMPILER_FAILED);
    compiler_compile(s->wasm, l->module, l->len);
}

/* Handles a child without a pidfd: it cannot be polled for, so it is reaped
 * here. Returns -error. */
static int
compiler_serve_start_failed(struct compiler_server *s, int error)
{
    int64_t cpu_ns;

    if (s->pid > 0)
        (void)compiler_reap(s->pid, &cpu_ns);
    hfd_closep(&s->out_hfd);
    return -error;
}

static int
compiler_serve_start(struct compiler_server *s, struct compiler_line *l)
{
    s->out_hfd = memfd_create("wasmsand-code", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (s->out_hfd < 0)
        return -errno;
    s->pid = fork();
    if (s->pid == 0)
        compiler_serve_become(s, l);
    s->pid_hfd = s->pid < 0 ? -1 : pidfd_open(s->pid, 0);
    if (s->pid_hfd < 0)
        return compiler_serve_start_failed(s, errno);
    s->current = l;
    return 0;
}

/* The seals are checked by the host's kernel. F_SEAL_SEAL makes them
 * permanent. */
static int
compiler_serve_seal_code(int hfd, uint64_t *ret_len)
{
    const int seals = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    off_t len = lseek(hfd, 0, SEEK_END);

    if (len < 0 || fcntl(hfd, F_ADD_SEALS, seals) < 0)
        return -errno;
    *ret_len = (uint64_t)len;
    return len ? 0 : -ENOEXEC;
}

static void
compiler_serve_finish(struct compiler_server *s)
{
    struct remote_answer a = {0};
    int status = compiler_reap(s->pid, &a.cpu_ns);

    if (status < 0)
        _exit(COMPILER_FAILED);
    a.error =
        compiler_outcome(status, s->out_hfd, &a.is_final, a.why, sizeof a.why);
    if (a.error == 0)
        a.error = compiler_serve_seal_code(s->out_hfd, &a.len);
    compiler_serve_answer(STEAL(s->current), &a, s->out_hfd);
    hfd_closep(&s->pid_hfd);
    hfd_closep(&s->out_hfd);
}

static void
compiler_serve_start_next(struct compiler_server *s)
{
    for (size_t i = 0; i < REMOTE_SLOTS && !s->current; i++) {
        struct compiler_line *l = &s->line[i];
        if (!l->module || l->have < l->len)
            continue;
        int r = compiler_serve_start(s, l);
        if (r < 0)
            compiler_serve_answer_error(l, r);
    }
}

/* --- orders */

/* A running compilation is killed and answered when its process is reaped; a
 * waiting one is answered at once. */
static void
compiler_serve_cancel(const struct compiler_server *s, struct compiler_line *l)
{
    if (s->current == l)
        (void)syscall(SYS_pidfd_send_signal, s->pid_hfd, SIGKILL, NULL, 0);
    else if (l->module)
        compiler_serve_answer_error(l, -ECANCELED);
}

static void
compiler_serve_take_order(const struct compiler_server *s,
                          struct compiler_line *l)
{
    const struct compiler_remote_order o = l->head;

    l->head_len = 0;
    if (o.op == REMOTE_CANCEL) {
        compiler_serve_cancel(s, l);
        return;
    }
    if (o.op != REMOTE_COMPILE || l->module || !o.len ||
        o.len > COMPILER_MODULE_BYTES)
        _exit(COMPILER_REFUSED);
    l->module = malloc(o.len);
    l->len = o.len;
    l->have = 0;
    if (!l->module)
        _exit(COMPILER_FAILED);
}

/* Reads the rest of a module, or else of an order, as far as it is there. */
static void
compiler_serve_take(const struct compiler_server *s, struct compiler_line *l)
{
    bool is_module = l->module && l->have < l->len;
    char *to = is_module ? (char *)l->module + l->have
                         : (char *)&l->head + l->head_len;
    size_t room = is_module ? l->len - l->have : sizeof l->head - l->head_len;

    ssize_t n = recv(l->hfd, to, room, MSG_DONTWAIT);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        _exit(COMPILER_DONE); /* the engine is gone */
    if (n < 0)
        return;
    *(is_module ? &l->have : &l->head_len) += (size_t)n;
    if (l->head_len == sizeof l->head)
        compiler_serve_take_order(s, l);
}

static void
compiler_serve_step(struct compiler_server *s)
{
    struct pollfd p[REMOTE_SLOTS + 1];

    for (int i = 0; i < REMOTE_SLOTS; i++)
        p[i] = (struct pollfd){.fd = s->line[i].hfd, .events = POLLIN};
    p[REMOTE_SLOTS] = (struct pollfd){.fd = s->pid_hfd, .events = POLLIN};
    if (poll(p, REMOTE_SLOTS + 1, -1) < 0)
        return;
    for (int i = 0; i < REMOTE_SLOTS; i++)
        if (p[i].revents)
            compiler_serve_take(s, &s->line[i]);
    if (p[REMOTE_SLOTS].revents)
        compiler_serve_finish(s);
    compiler_serve_start_next(s);
}

_Noreturn void
compilers_main(int (*seal)(const char **ret_where))
{
    struct compiler_server s = {.pid_hfd = -1, .out_hfd = -1};
    const char *where = "no target";

    (void)close(EXE_HFD);
    s.wasm = config_compiler(false);
    for (int i = 0; i < REMOTE_SLOTS; i++)
        s.line[i].hfd = REMOTE_FIRST_HFD + i;
    int r = s.wasm ? seal(&where) : -ENOTSUP;
    if (r < 0) {
        fprintf(stderr, "the compiler: %s: %s\n", where, strerror(-r));
        _exit(COMPILER_FAILED);
    }
    if (hfd_write_all(s.line[0].hfd, "r", 1) < 0)
        _exit(COMPILER_FAILED);
    for (;;)
        compiler_serve_step(&s);
}
