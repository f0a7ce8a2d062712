/* System calls on descriptors: dup, close, fcntl, ioctl. */
#include "kernel/abi.h"
#include "kernel/kernel.h"
#include "kernel/lock.h"
#include "kernel/pipe.h"
#include "kernel/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/resource.h>

/* Status flags that F_SETFL changes. */
#define SETFL (O_APPEND | O_NONBLOCK | O_ASYNC | O_DIRECT | O_NOATIME)
/* A 32-bit program shows that it can open large files. */
enum { GUEST_O_LARGEFILE = 0100000 };

/* close(fd) */
int64_t
sys_close(struct task *t, const union sysarg *a)
{
    return fd_close(t, a[0].i);
}

/* close_range(first, last, flags): closed descriptors in the range are
 * skipped. */
int64_t
sys_close_range(struct task *t, const union sysarg *a)
{
    if (a[0].u > a[1].u)
        return -EINVAL;
    for (size_t i = a[0].u; i <= a[1].u && i < t->fds.cap; i++) {
        if (!t->fds.v[i].file)
            continue;
        if (a[2].u & ABI_CLOSE_RANGE_CLOEXEC)
            t->fds.v[i].cloexec = true;
        else
            (void)fd_close(t, (int)i);
    }
    return 0;
}

/* dup(fd) */
int64_t
sys_dup(struct task *t, const union sysarg *a)
{
    struct file *f = fd_file(t, a[0].i);

    return fd_install(t, file_get(f), 0, false);
}

/* dup3(old, new, flags): unlike dup2, equal descriptors are an error. */
int64_t
sys_dup3(struct task *t, const union sysarg *a)
{
    struct file *f = fd_find(t, a[0].i);

    if (a[0].i == a[1].i)
        return -EINVAL;
    if (!f || a[1].u >= t->rlimits[RLIMIT_NOFILE].cur)
        return -EBADF;
    return fd_replace(t, a[1].i, file_get(f), a[2].u & O_CLOEXEC);
}

/* F_DUPFD: the lowest free descriptor from `min` on. */
static int64_t
sys_fd_dup_from(struct task *t, struct file *f, uint32_t min, bool cloexec)
{
    if (min >= t->rlimits[RLIMIT_NOFILE].cur)
        return -EINVAL;
    return fd_install(t, file_get(f), (int)min, cloexec);
}

/* A descriptor opened with O_PATH has no open file behind it, only a place. */
static bool
sys_fd_is_allowed_on_path(uint32_t cmd)
{
    return cmd == F_DUPFD || cmd == F_DUPFD_CLOEXEC || cmd == F_GETFD ||
           cmd == F_SETFD || cmd == F_GETFL;
}

/* fcntl64(fd, cmd, arg): locks have a file of their own. Owners of signals
 * (F_SETOWN) are accepted without effect, as no file sends SIGIO. */
int64_t
sys_fcntl64(struct task *t, const union sysarg *a)
{
    struct file *f = fd_file(t, a[0].i);
    uint32_t cmd = a[1].u;

    if (f->flags & O_PATH && !sys_fd_is_allowed_on_path(cmd))
        return -EBADF;
    switch (cmd) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
        return sys_fd_dup_from(t, f, a[2].u, cmd == F_DUPFD_CLOEXEC);
    case F_GETFD:
        return t->fds.v[a[0].i].cloexec ? FD_CLOEXEC : 0;
    case F_SETFD:
        t->fds.v[a[0].i].cloexec = a[2].u & FD_CLOEXEC;
        return 0;
    case F_GETFL:
        return (int64_t)(f->flags |
                         (f->flags & O_PATH ? 0 : GUEST_O_LARGEFILE));
    case F_SETFL:
        f->flags = (f->flags & ~(uint32_t)SETFL) | (a[2].u & SETFL);
        return 0;
    case F_SETPIPE_SZ:
        return pipe_set_size(f, a[2].u);
    case F_GETPIPE_SZ:
        return pipe_get_size(f);
    case F_GETOWN:
    case F_SETOWN:
    case F_SETSIG:
    case F_GETSIG:
        return 0;
    default:
        return lock_fcntl(t, f, cmd, a[2].addr);
    }
}

/* FIONBIO: the older form of O_NONBLOCK. All duplicates of the descriptor share
 * it. */
static int
sys_fd_set_nonblocking(struct task *t, struct file *f, gaddr arg)
{
    int32_t on;

    int r = copy_from_guest(t, &on, arg, sizeof on);
    if (r < 0)
        return r;
    if (on)
        f->flags |= O_NONBLOCK;
    else
        f->flags &= ~(uint32_t)O_NONBLOCK;
    return 0;
}

/* Stores the number of bytes of a regular file after its position. */
static int64_t
sys_fd_bytes_left(struct task *t, struct file *f, gaddr arg)
{
    struct attr a;

    int r = file_getattr(f, &a);
    if (r < 0)
        return r;
    if (!S_ISREG(a.mode))
        return -ENOTTY;
    int32_t left = (int32_t)(a.size - f->pos);
    return copy_to_guest(t, arg, &left, sizeof left);
}

/* ioctl(fd, cmd, arg): flags of the descriptor and of the open file are handled
 * here, everything else by the file itself. */
int64_t
sys_ioctl(struct task *t, const union sysarg *a)
{
    struct file *f = fd_file(t, a[0].i);

    switch (a[1].u) {
    case FIOCLEX:
    case FIONCLEX:
        t->fds.v[a[0].i].cloexec = a[1].u == FIOCLEX;
        return 0;
    case FIONBIO:
        return sys_fd_set_nonblocking(t, f, a[2].addr);
    default:
        if (f->ops->ioctl)
            return f->ops->ioctl(f, t, a[1].u, a[2].u);
        return a[1].u == FIONREAD ? sys_fd_bytes_left(t, f, a[2].addr)
                                  : -ENOTTY;
    }
}
