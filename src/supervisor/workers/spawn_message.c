/* Orders to the spawner, and its answers with descriptors. Both sides are the
 * same program, so the structures are sent as they are. SEQPACKET keeps the
 * boundaries of messages. */
#include "supervisor/workers/spawner.h"

#include "base/buf.h"
#include "base/hfd.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Space for descriptors beside a message. */
union passed {
    struct cmsghdr head;
    char bytes[CMSG_SPACE(sizeof(int[N_SPAWN_HFDS]))];
};

/* --- one packet with descriptors */

static int
spawn_send_packet(int hfd, const void *p, size_t len, int flags,
                  const int *hfds, size_t n)
{
    struct iovec v = {(void *)p, len};
    union passed c = {.bytes = {0}};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};

    if (n) {
        m.msg_control = &c;
        m.msg_controllen = CMSG_SPACE(n * sizeof *hfds);
        c.head = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
                                  .cmsg_type = SCM_RIGHTS,
                                  .cmsg_len = CMSG_LEN(n * sizeof *hfds)};
        memcpy(CMSG_DATA(&c.head), hfds, n * sizeof *hfds);
    }
    return sendmsg(hfd, &m, flags | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* Returns the number of bytes, or -errno. Descriptors of a truncated message
 * are closed by the kernel or by the caller. */
static ssize_t
spawn_take_packet(int hfd, void *p, size_t size, int flags, int *hfds,
                  size_t *ret_n)
{
    struct iovec v = {p, size};
    union passed c;
    struct msghdr m = {.msg_iov = &v,
                       .msg_iovlen = 1,
                       .msg_control = &c,
                       .msg_controllen = sizeof c};
    ssize_t len;

    do
        len = recvmsg(hfd, &m, flags | MSG_CMSG_CLOEXEC);
    while (len < 0 && errno == EINTR);
    *ret_n = 0;
    if (len < 0)
        return -errno;
    const struct cmsghdr *h = CMSG_FIRSTHDR(&m);
    if (h && h->cmsg_level == SOL_SOCKET && h->cmsg_type == SCM_RIGHTS) {
        *ret_n = (h->cmsg_len - CMSG_LEN(0)) / sizeof *hfds;
        memcpy(hfds, CMSG_DATA(h), *ret_n * sizeof *hfds);
    }
    return m.msg_flags & (MSG_TRUNC | MSG_CTRUNC) ? -EMSGSIZE : len;
}

/* --- orders */

/* Appends strings with their NUL, and returns their number. */
static uint32_t
spawn_add_strings(struct buf *b, const char *const *list)
{
    uint32_t n = 0;

    for (; list && list[n]; n++)
        buf_add(b, list[n], strlen(list[n]) + 1);
    return n;
}

/* The numbers of strings are known after the strings were added, so the head is
 * written twice. */
int
spawn_send_order(int hfd, struct spawn_order *o, char *const *argv,
                 char *const *envp, const char *const *read)
{
    struct buf b;

    buf_init(&b, SPAWN_ORDER_BYTES);
    buf_add(&b, o, sizeof *o);
    o->n_argv = spawn_add_strings(&b, (const char *const *)argv);
    o->n_envp = spawn_add_strings(&b, (const char *const *)envp);
    o->n_read = spawn_add_strings(&b, read);
    int r = b.error == -EFBIG ? -E2BIG : b.error;
    if (r == 0 && (o->n_argv >= SPAWN_ARGS_MAX || o->n_envp >= SPAWN_ARGS_MAX ||
                   o->n_read > READ_PATHS_MAX))
        r = -E2BIG;
    if (r == 0) {
        memcpy(b.p, o, sizeof *o);
        r = spawn_send_packet(hfd, b.p, b.len, MSG_DONTWAIT, NULL, 0);
    }
    buf_fini(&b);
    return r;
}

/* Finds n strings between `at` and `end`. Returns the position after them, or
 * NULL if there are fewer. */
static const char *
spawn_take_strings(const char *at, const char *end, uint32_t n,
                   const char **list)
{
    for (uint32_t i = 0; i < n; i++) {
        const char *nul = at ? memchr(at, 0, (size_t)(end - at)) : NULL;
        list[i] = at;
        at = nul ? nul + 1 : NULL;
    }
    list[n] = NULL;
    return at;
}

int
spawn_take_order(int hfd, struct spawn_request *b)
{
    int none[N_SPAWN_HFDS];
    size_t n;

    ssize_t len =
        spawn_take_packet(hfd, b->bytes, sizeof b->bytes, 0, none, &n);
    if (len <= 0)
        return len < 0 ? (int)len : -EPIPE;
    if ((size_t)len < sizeof b->o)
        return -EBADMSG;
    memcpy(&b->o, b->bytes, sizeof b->o);
    if (b->o.n_argv >= SPAWN_ARGS_MAX || b->o.n_envp >= SPAWN_ARGS_MAX ||
        b->o.n_read > READ_PATHS_MAX)
        return -EBADMSG;
    const char *at = b->bytes + sizeof b->o, *end = b->bytes + len;
    at = spawn_take_strings(at, end, b->o.n_argv, (const char **)b->argv);
    at = spawn_take_strings(at, end, b->o.n_envp, (const char **)b->envp);
    at = spawn_take_strings(at, end, b->o.n_read, b->read);
    return at ? 0 : -EBADMSG;
}

/* --- answers */

int
spawn_send_answer(int hfd, const struct spawn_answer *a)
{
    int hfds[N_SPAWN_HFDS];
    size_t n = 0;

    for (int i = 0; i < N_SPAWN_HFDS; i++)
        if (a->hfd[i] >= 0)
            hfds[n++] = a->hfd[i];
    return spawn_send_packet(hfd, a, sizeof *a, 0, hfds, n);
}

/* Descriptors arrive in the order of their slots. Slots that the sender marked
 * as used but did not fill become -1, and surplus descriptors are closed. */
int
spawn_take_answer(int hfd, struct spawn_answer *ret)
{
    int hfds[N_SPAWN_HFDS];
    size_t n, k = 0;

    ssize_t len =
        spawn_take_packet(hfd, ret, sizeof *ret, MSG_DONTWAIT, hfds, &n);
    if (len == sizeof *ret)
        for (int i = 0; i < N_SPAWN_HFDS; i++)
            if (ret->hfd[i] >= 0)
                ret->hfd[i] = k < n ? hfds[k++] : -1;
    while (k < n)
        close(hfds[k++]);
    if (len < 0)
        return (int)len;
    return len == sizeof *ret ? 0 : -EPIPE;
}

void
spawn_drop_answer(struct spawn_answer *a)
{
    for (int i = 0; i < N_SPAWN_HFDS; i++)
        hfd_closep(&a->hfd[i]);
}

/* --- the host */

/* The spawner needs the same groups that the supervisor found; searching again
 * could give another result. */
int
spawn_send_host(int hfd, const struct cgroup_host *h)
{
    int hfds[HIERARCHIES_MAX];

    for (int i = 0; i < h->n; i++)
        hfds[i] = h->hier[i].parent_hfd;
    return spawn_send_packet(hfd, h, sizeof *h, 0, hfds, (size_t)h->n);
}

int
spawn_take_host(int hfd, struct cgroup_host *ret)
{
    int hfds[N_SPAWN_HFDS];
    size_t n;

    ssize_t len = spawn_take_packet(hfd, ret, sizeof *ret, 0, hfds, &n);
    if (len != sizeof *ret || n != (size_t)ret->n)
        return len < 0 ? (int)len : -EBADMSG;
    for (int i = 0; i < ret->n; i++)
        ret->hier[i].parent_hfd = hfds[i];
    ret->aside_hfd = -1;
    return 0;
}
