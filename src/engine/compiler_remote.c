/* The engine's side of the process that compiles for a closed engine.
 *
 * The process is started before the engine's own process gives up the right to
 * start any, and gives up as much itself. An answer stays in its socket as long
 * as a caller may read it, so every waiting caller finds the descriptor of the
 * program readable. */
#include "engine/compiler_remote.h"

#include "base/hfd.h"
#include "engine/compiler.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N_HFDS = REMOTE_FIRST_HFD + REMOTE_SLOTS };

static int
compiler_remote_make_slot(int *ret_here, int *ret_there)
{
    int v[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, v) < 0)
        return -errno;
    *ret_here = v[0];
    *ret_there = compiler_hfd(v[1]);
    return *ret_there < 0 ? *ret_there : 0;
}

/* The process sends one byte when it has given up its rights.
 * compiler_remote_start waits for it, so no module reaches a process that has
 * rights. */
static int
compiler_remote_await_seal(const struct remote *m)
{
    ssize_t n;
    char byte;

    do
        n = read(m->slot[0].hfd, &byte, 1);
    while (n < 0 && errno == EINTR);
    return n == 1 ? 0 : -EIO;
}

int
compiler_remote_start(struct remote *m, const struct compiler *c)
{
    int hfds[N_HFDS] = {-1, -1, STDERR_FILENO};
    int r = 0;

    pthread_mutex_init(&m->lock, NULL);
    for (int i = 0; i < REMOTE_SLOTS; i++)
        m->slot[i].hfd = hfds[REMOTE_FIRST_HFD + i] = -1;
    for (int i = 0; i < REMOTE_SLOTS && r == 0; i++)
        r = compiler_remote_make_slot(&m->slot[i].hfd,
                                      &hfds[REMOTE_FIRST_HFD + i]);
    if (r == 0)
        r = compiler_spawn(c, "compilers", hfds, N_HFDS);
    for (int i = REMOTE_FIRST_HFD; i < N_HFDS; i++)
        hfd_closep(&hfds[i]);
    m->is_there = true;
    m->pid = r > 0 ? r : 0;
    r = r < 0 ? r : compiler_remote_await_seal(m);
    if (r < 0)
        compiler_remote_fini(m);
    return r;
}

/* The process ends when its sockets do. */
void
compiler_remote_fini(struct remote *m)
{
    if (!m->is_there)
        return;
    for (int i = 0; i < REMOTE_SLOTS; i++)
        hfd_closep(&m->slot[i].hfd);
    if (m->pid)
        (void)waitpid(m->pid, NULL, 0);
    m->is_there = false;
}

/* Receives one answer, with its descriptor if there is one. With MSG_PEEK, each
 * call gets a new descriptor for the same file. */
static int
compiler_remote_receive(int hfd, int flags, struct remote_answer *ret,
                        OWN int *ret_code_hfd)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof(int))];
    } c;
    struct iovec v = {ret, sizeof *ret};
    struct msghdr msg = {.msg_iov = &v,
                         .msg_iovlen = 1,
                         .msg_control = &c,
                         .msg_controllen = sizeof c};

    ssize_t n = recvmsg(hfd, &msg, flags | MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0)
        return -errno;
    *ret_code_hfd = -1;
    const struct cmsghdr *h = CMSG_FIRSTHDR(&msg);
    if (h && h->cmsg_type == SCM_RIGHTS)
        memcpy(ret_code_hfd, CMSG_DATA(h), sizeof *ret_code_hfd);
    if (n == sizeof *ret && (ret->error || *ret_code_hfd >= 0))
        return 0;
    hfd_closep(ret_code_hfd);
    return -EIO;
}

/* Returns true if the slot can be used. An answer that nobody waits for any
 * more is read and dropped first; until it arrives, the slot stays in use. */
static bool
compiler_remote_is_free(struct remote *m, int i)
{
    struct remote_answer a = {0};
    int code_hfd = -1;

    if (m->slot[i].is_left &&
        compiler_remote_receive(m->slot[i].hfd, 0, &a, &code_hfd) != -EAGAIN) {
        hfd_closep(&code_hfd);
        m->slot[i].is_taken = m->slot[i].is_left = false;
    }
    return !m->slot[i].is_taken;
}

static int
compiler_remote_take_slot(struct remote *m)
{
    int found = -EAGAIN;

    pthread_mutex_lock(&m->lock);
    for (int i = 0; i < REMOTE_SLOTS && found < 0; i++)
        if (compiler_remote_is_free(m, i))
            found = i;
    if (found >= 0)
        m->slot[found].is_taken = true;
    pthread_mutex_unlock(&m->lock);
    return found;
}

int
compiler_remote_order(struct remote *m, const uint8_t *module, size_t len)
{
    const struct compiler_remote_order o = {REMOTE_COMPILE, (uint32_t)len};
    int slot = compiler_remote_take_slot(m);

    if (slot < 0)
        return slot;
    int r = hfd_write_all(m->slot[slot].hfd, &o, sizeof o);
    if (r == 0)
        r = hfd_write_all(m->slot[slot].hfd, module, len);
    if (r == 0)
        return slot;
    compiler_remote_leave(m, slot);
    return -EIO;
}

/* The answer is only peeked at, so it stays readable for other callers; it is
 * removed when the slot is used again. */
int
compiler_remote_take(struct remote *m, int slot, struct remote_answer *ret,
                     OWN int *ret_code_hfd)
{
    int r =
        compiler_remote_receive(m->slot[slot].hfd, MSG_PEEK, ret, ret_code_hfd);

    ret->why[sizeof ret->why - 1] = 0;
    return r < 0 ? -EIO : 0;
}

/* A cancelled order is still answered, with an error or with its code: each
 * order has exactly one answer, and both sides stay in step. */
void
compiler_remote_leave(struct remote *m, int slot)
{
    const struct compiler_remote_order o = {REMOTE_CANCEL, 0};

    (void)hfd_write_all(m->slot[slot].hfd, &o, sizeof o);
    pthread_mutex_lock(&m->lock);
    m->slot[slot].is_left = true;
    pthread_mutex_unlock(&m->lock);
}
