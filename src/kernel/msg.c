/* Messages of the guest: addresses and ancillary data, in both directions.
 *
 * Ancillary data passes open files (SCM_RIGHTS) and credentials. A receiver
 * without enough space loses files, which are closed; MSG_CTRUNC reports
 * that. */
#include "kernel/msg.h"

#include "kernel/kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { CONTROL_BYTES_MAX = 20480 };

/* struct cmsghdr; data follows at once, the next begins at a multiple of 4. */
struct guest_cmsghdr {
    uint32_t len;
    int32_t level, type;
};

/* --- addresses */

int
sock_addr_from_guest(struct task *t, gaddr at, uint32_t len,
                     struct sock_addr *ret)
{
    if (len > sizeof ret->bytes)
        return -EINVAL;
    *ret = (struct sock_addr){.len = len};
    return copy_from_guest(t, ret->bytes, at, len);
}

/* A short buffer gets a part; the length tells the program that it was cut. */
int
sock_addr_to_guest(struct task *t, gaddr at, uint32_t *len,
                   const struct sock_addr *addr)
{
    uint32_t n = *len < addr->len ? *len : addr->len;

    if (*len > INT32_MAX)
        return -EINVAL;
    *len = addr->len;
    return copy_to_guest(t, at, addr->bytes, n);
}

int
sock_addr_answer(struct task *t, gaddr at, gaddr len_at,
                 const struct sock_addr *addr)
{
    uint32_t len;

    int r = copy_from_guest(t, &len, len_at, sizeof len);
    if (r == 0)
        r = sock_addr_to_guest(t, at, &len, addr);
    if (r == 0)
        r = copy_to_guest(t, len_at, &len, sizeof len);
    return r;
}

/* --- ancillary data, sent */

/* References are collected in *c even on failure; the caller puts them. */
static int
msg_add_files(struct task *t, gaddr at, size_t n, struct scm *c)
{
    int32_t fd;

    if (c->n_files + n > SCM_FILES_MAX)
        return -EINVAL;
    struct file **v = realloc(c->files, (c->n_files + n + 1) * sizeof *v);
    if (!v)
        return -ENOMEM;
    c->files = v;
    for (size_t i = 0; i < n; i++) {
        int r = copy_from_guest(t, &fd, at + (gaddr)(i * sizeof fd), sizeof fd);
        if (r < 0)
            return r;
        struct file *f = fd_find(t, fd);
        if (!f)
            return -EBADF;
        c->files[c->n_files++] = file_get(f);
    }
    return 0;
}

/* Only root may send credentials that are not its own. */
static int
msg_set_cred(struct task *t, gaddr at, uint32_t len, struct scm *c)
{
    struct sock_cred cred;

    if (len != sizeof cred)
        return -EINVAL;
    int r = copy_from_guest(t, &cred, at, sizeof cred);
    if (r < 0)
        return r;
    bool is_own = cred.pid == t->pid && cred.uid == t->as.cred.uid &&
                  cred.gid == t->as.cred.gid;
    if (!is_own && t->as.cred.uid != 0)
        return -EPERM;
    c->cred = cred;
    return 0;
}

/* Control messages of other levels are ignored, as on Linux. */
static int
msg_add_control(struct task *t, const struct guest_cmsghdr *h, gaddr data,
                struct scm *c)
{
    uint32_t len = h->len - (uint32_t)sizeof *h;

    if (h->level != SOL_SOCKET)
        return 0;
    if (h->type == SCM_RIGHTS)
        return msg_add_files(t, data, len / sizeof(int32_t), c);
    if (h->type == SCM_CREDENTIALS)
        return msg_set_cred(t, data, len, c);
    return -EINVAL;
}

/* The lengths are copied with each header and checked against the rest of the
 * buffer. A header that would end beyond it is an error. */
static int
msg_read_controls(struct task *t, const struct guest_msghdr *m, struct scm *c)
{
    struct guest_cmsghdr h;
    uint32_t at = 0, left = m->controllen;

    while (left >= sizeof h) {
        int r = copy_from_guest(t, &h, m->control + at, sizeof h);
        if (r < 0)
            return r;
        if (h.len < sizeof h || h.len > left)
            return -EINVAL;
        r = msg_add_control(t, &h, m->control + at + (gaddr)sizeof h, c);
        if (r < 0)
            return r;
        uint32_t step = (h.len + 3) & ~UINT32_C(3);
        if (step > left)
            break;
        at += step;
        left -= step;
    }
    return 0;
}

/* The number of files in flight is limited by RLIMIT_NOFILE, as on Linux:
 * otherwise messages could hold any number of open files. */
int
scm_from_guest(struct task *t, const struct socket *s,
               const struct guest_msghdr *h, struct scm *ret)
{
    *ret = (struct scm){.cred = {t->pid, t->as.cred.uid, t->as.cred.gid}};
    if (socket_is_inet(s) || !h->control || !h->controllen)
        return 0;
    if (h->controllen > CONTROL_BYTES_MAX)
        return -ENOBUFS;
    int r = msg_read_controls(t, h, ret);
    if (r == 0 && ret->n_files + t->kernel->net->n_in_flight >
                      t->rlimits[RLIMIT_NOFILE].cur)
        r = -ETOOMANYREFS;
    if (r < 0)
        scm_fini(ret);
    return r;
}

/* --- ancillary data, received */

/* Appends one control message. Returns false if it does not fit. The data of a
 * message is padded to 4 bytes, in the layout of 32-bit programs. */
static bool
msg_put_control(struct task *t, struct guest_msghdr *m, uint32_t *at,
                int32_t type, const void *data, uint32_t len)
{
    struct guest_cmsghdr h = {
        .len = (uint32_t)sizeof h + len, .level = SOL_SOCKET, .type = type};

    if (!m->control || *at + h.len > m->controllen)
        return false;
    if (copy_to_guest(t, m->control + *at, &h, sizeof h) < 0 ||
        copy_to_guest(t, m->control + *at + (gaddr)sizeof h, data, len) < 0)
        return false;
    *at += (h.len + 3) & ~UINT32_C(3);
    return true;
}

/* Returns the number of descriptors that fit after `at`. */
static size_t
msg_fds_that_fit(const struct guest_msghdr *m, uint32_t at)
{
    uint32_t head = at + (uint32_t)sizeof(struct guest_cmsghdr);

    if (!m->control || m->controllen < head)
        return 0;
    return (m->controllen - head) / sizeof(int32_t);
}

/* Installs the files and writes their descriptors. Returns false if not all of
 * them fit. If the message cannot be written, no descriptor stays. */
static bool
msg_put_files(struct task *t, struct scm *c, struct guest_msghdr *m,
              uint32_t *at, bool cloexec)
{
    int32_t fds[SCM_FILES_MAX];
    size_t n = 0, max = msg_fds_that_fit(m, *at);

    if (max > c->n_files)
        max = c->n_files;
    for (; n < max; n++) {
        int fd = fd_install(t, file_get(c->files[n]), 0, cloexec);
        if (fd < 0)
            break;
        fds[n] = fd;
    }
    bool is_all = n == c->n_files;
    if (!n)
        return is_all;
    if (msg_put_control(t, m, at, SCM_RIGHTS, fds, (uint32_t)(n * sizeof *fds)))
        return is_all;
    while (n)
        (void)fd_close(t, fds[--n]);
    return false;
}

bool
scm_to_guest(struct task *t, const struct socket *s, struct scm *c,
             struct guest_msghdr *h, bool cloexec)
{
    uint32_t at = 0;
    bool fits = true;

    if (s->passcred && !socket_is_inet(s))
        fits = msg_put_control(t, h, &at, SCM_CREDENTIALS, &c->cred,
                               sizeof c->cred);
    if (c->n_files)
        fits &= msg_put_files(t, c, h, &at, cloexec);
    scm_fini(c);
    h->controllen = at < h->controllen ? at : h->controllen;
    return !fits;
}
