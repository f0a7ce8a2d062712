/* System calls on open files: reading, writing, positions, sizes. */
#include "kernel/abi.h"
#include "kernel/io.h"
#include "kernel/kernel.h"
#include "kernel/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

/* read(fd, buf, len) */
int64_t
sys_read(struct task *t, const union sysarg *a)
{
    struct io io = {.buf = a[1].addr, .len = a[2].u};

    return io_read(t, fd_file(t, a[0].i), &io);
}

/* write(fd, buf, len) */
int64_t
sys_write(struct task *t, const union sysarg *a)
{
    struct io io = {.buf = a[1].addr, .len = a[2].u};

    return io_write(t, fd_file(t, a[0].i), &io);
}

typedef int64_t io_fn(struct task *t, struct file *f, const struct io *io);

/* Implements calls with (fd, iov, count). An empty array is a transfer of no
 * bytes, which still checks the descriptor; a negative count is an error. */
static int64_t
sys_file_vectored(struct task *t, const union sysarg *a, uint64_t *pos,
                  io_fn *fn)
{
    struct file *f = fd_file(t, a[0].i);
    struct io io = {
        .is_vector = true, .iov = a[1].addr, .count = a[2].u, .pos = pos};

    if (a[2].i < 0)
        return -EINVAL;
    if (a[2].i == 0) {
        io = (struct io){.buf = 0, .len = 0, .pos = pos};
        return fn(t, f, &io);
    }
    if (!io.iov)
        return -EFAULT;
    return fn(t, f, &io);
}

/* readv(fd, iov, count) */
int64_t
sys_readv(struct task *t, const union sysarg *a)
{
    return sys_file_vectored(t, a, NULL, io_read);
}

/* writev(fd, iov, count) */
int64_t
sys_writev(struct task *t, const union sysarg *a)
{
    return sys_file_vectored(t, a, NULL, io_write);
}

/* pread64(fd, buf, len, pos) */
int64_t
sys_pread64(struct task *t, const union sysarg *a)
{
    struct file *f = fd_find(t, a[0].i);
    uint64_t pos = sysarg_u64(a + 3);
    struct io io = {.buf = a[1].addr, .len = a[2].u, .pos = &pos};
    int r = io_check_pos(f, (int64_t)pos);

    return r < 0 ? r : io_read(t, f, &io);
}

/* pwrite64(fd, buf, len, pos) */
int64_t
sys_pwrite64(struct task *t, const union sysarg *a)
{
    struct file *f = fd_find(t, a[0].i);
    uint64_t pos = sysarg_u64(a + 3);
    struct io io = {.buf = a[1].addr, .len = a[2].u, .pos = &pos};
    int r = io_check_pos(f, (int64_t)pos);

    return r < 0 ? r : io_write(t, f, &io);
}

/* preadv(fd, iov, count, pos) */
int64_t
sys_preadv(struct task *t, const union sysarg *a)
{
    uint64_t pos = sysarg_u64(a + 3);
    int r = io_check_pos(fd_find(t, a[0].i), (int64_t)pos);

    return r < 0 ? r : sys_file_vectored(t, a, &pos, io_read);
}

/* pwritev(fd, iov, count, pos) */
int64_t
sys_pwritev(struct task *t, const union sysarg *a)
{
    uint64_t pos = sysarg_u64(a + 3);
    int r = io_check_pos(fd_find(t, a[0].i), (int64_t)pos);

    return r < 0 ? r : sys_file_vectored(t, a, &pos, io_write);
}

/* --- positions and sizes */

/* _llseek(fd, high, low, result, whence) */
int64_t
sys__llseek(struct task *t, const union sysarg *a)
{
    struct file *f = fd_file(t, a[0].i);
    int64_t offset = (int64_t)((uint64_t)a[1].u << 32 | a[2].u);
    int64_t pos = io_seek(t, f, offset, a[4].i);

    return pos < 0 ? pos : copy_to_guest(t, a[3].addr, &pos, sizeof pos);
}

/* ftruncate64(fd, size) */
int64_t
sys_ftruncate64(struct task *t, const union sysarg *a)
{
    return io_truncate(t, fd_find(t, a[0].i), (int64_t)sysarg_u64(a + 1));
}

/* truncate64(path, size): the size is checked against RLIMIT_FSIZE like a
 * write. */
int64_t
sys_truncate64(struct task *t, const union sysarg *a)
{
    int64_t size = (int64_t)sysarg_u64(a + 1);
    struct attr attr = {0}, set = {.size = (uint64_t)size};
    struct walk w;
    int r;
    const char *path = guest_path(t, 0, a[0].addr, &r);

    if (!path)
        return r;
    if (size < 0)
        return -EINVAL;
    r = task_walk(t, &t->cwd, path, 0, &w);
    if (r == 0)
        r = vnode_getattr(&w.node, &attr);
    if (r < 0)
        return r;
    if (S_ISDIR(attr.mode))
        return -EISDIR;
    if (!S_ISREG(attr.mode))
        return -EINVAL;
    r = vfs_access(&t->as.cred, &attr, W_OK);
    if (r == 0)
        r = io_check_size(t, size);
    struct dentry p = walk_dentry(&w);
    return r < 0 ? r : vfs_setattr(&t->as, &p, &set, ATTR_SIZE, false);
}

/* fallocate(fd, mode, offset, len) */
int64_t
sys_fallocate(struct task *t, const union sysarg *a)
{
    return io_allocate(t, fd_file(t, a[0].i), a[1].u,
                       (int64_t)sysarg_u64(a + 2), (int64_t)sysarg_u64(a + 4));
}

/* --- copies within the kernel */

enum { COPY_BYTES = 256 << 10 };

/* Moves up to len bytes from `in` at *in_pos to `out` at *out_pos, through a
 * buffer. The position of `in` advances by the bytes that were written: what
 * `out` did not accept is read again by the next call. */
static int64_t
sys_file_copy_between(struct task *t, struct file *in, uint64_t *in_pos,
                      struct file *out, uint64_t *out_pos, size_t len)
{
    size_t max = len < COPY_BYTES ? len : COPY_BYTES;
    uint64_t from = in_pos ? *in_pos : 0;
    char *buf = malloc(max ? max : 1);

    if (!buf)
        return -ENOMEM;
    int64_t n = max ? file_read(in, t, buf, max, in_pos ? &from : NULL) : 0;
    int64_t w = 0;
    if (n > 0)
        w = file_write(out, t, buf, (size_t)n, out_pos);
    free(buf);
    if (n <= 0)
        return n;
    if (w > 0 && in_pos)
        *in_pos += (uint64_t)w;
    return w;
}

/* Waits for f after -EAGAIN, unless it is non-blocking. */
static int64_t
sys_file_wait_or_again(struct task *t, struct file *f, int64_t r)
{
    if (r != -EAGAIN || f->flags & O_NONBLOCK)
        return r;
    t->thread->call.restartable = true;
    return thread_wait_file(t->thread, f);
}

/* An offset in guest memory; a negative one is an error. */
static int
sys_file_get_pos(struct task *t, gaddr a, uint64_t *pos)
{
    int r = copy_from_guest(t, pos, a, sizeof *pos);

    return r < 0 ? r : (int64_t)*pos < 0 ? -EINVAL : 0;
}

/* sendfile64(out, in, offset, count): moves at most one buffer; programs loop
 * anyway. */
int64_t
sys_sendfile64(struct task *t, const union sysarg *a)
{
    struct file *out = fd_file(t, a[0].i), *in = fd_find(t, a[1].i);
    uint64_t pos = 0;

    if (!in || !file_is_readable(in) || !file_is_writable(out))
        return -EBADF;
    if (!in->has_pos || !in->ops->read || !out->ops->write)
        return a[2].addr ? -ESPIPE : -EINVAL;
    if (out->flags & O_APPEND)
        return -EINVAL;
    int r = a[2].addr ? sys_file_get_pos(t, a[2].addr, &pos) : 0;
    if (r < 0)
        return r;
    int64_t n = sys_file_copy_between(t, in, a[2].addr ? &pos : &in->pos, out,
                                      out->has_pos ? &out->pos : NULL, a[3].u);
    if (n < 0)
        return sys_file_wait_or_again(t, out, n);
    if (a[2].addr)
        r = copy_to_guest(t, a[2].addr, &pos, sizeof pos);
    return r < 0 ? r : n;
}

static int
sys_file_check_regular(struct file *f)
{
    struct attr a;

    int r = file_getattr(f, &a);
    if (r < 0 || S_ISREG(a.mode))
        return r;
    return S_ISDIR(a.mode) ? -EISDIR : -EINVAL;
}

/* copy_file_range(in, in_off, out, out_off, len, flags): ranges of one file
 * must not overlap. */
int64_t
sys_copy_file_range(struct task *t, const union sysarg *a)
{
    struct file *in = fd_file(t, a[0].i), *out = fd_find(t, a[2].i);
    uint64_t in_pos = 0, out_pos = 0;
    int r = 0;

    if (!out || !file_is_readable(in) || !file_is_writable(out) ||
        out->flags & O_APPEND)
        return -EBADF;
    if (a[5].u)
        return -EINVAL;
    r = sys_file_check_regular(in);
    if (r == 0)
        r = sys_file_check_regular(out);
    if (r == 0 && a[1].addr)
        r = sys_file_get_pos(t, a[1].addr, &in_pos);
    if (r == 0 && a[3].addr)
        r = sys_file_get_pos(t, a[3].addr, &out_pos);
    if (r < 0)
        return r;
    uint64_t *from = a[1].addr ? &in_pos : &in->pos;
    uint64_t *to = a[3].addr ? &out_pos : &out->pos;
    if (vnode_is_same(&in->node, &out->node) && *from < *to + a[4].u &&
        *to < *from + a[4].u)
        return -EINVAL;
    int64_t n = sys_file_copy_between(t, in, from, out, to, a[4].u);
    if (n > 0 && a[1].addr)
        r = copy_to_guest(t, a[1].addr, &in_pos, sizeof in_pos);
    if (n > 0 && r == 0 && a[3].addr)
        r = copy_to_guest(t, a[3].addr, &out_pos, sizeof out_pos);
    return r < 0 ? r : n;
}

/* fsync and its kin: memory is as durable as it gets. */
int64_t
sys_fsync(struct task *t, const union sysarg *a)
{
    return io_sync(fd_file(t, a[0].i));
}

/* fdatasync(fd) */
int64_t
sys_fdatasync(struct task *t, const union sysarg *a)
{
    return sys_fsync(t, a);
}

/* sync(): nothing is cached */
int64_t
sys_sync(struct task *t, const union sysarg *a)
{
    (void)t, (void)a;
    return 0;
}

/* fadvise64_64(fd, offset, len, advice) */
int64_t
sys_fadvise64_64(struct task *t, const union sysarg *a)
{
    int r = io_advise(fd_file(t, a[0].i));

    return r == 0 && a[5].u > POSIX_FADV_NOREUSE ? -EINVAL : r;
}

/* readahead(fd, offset, count): accepted without effect */
int64_t
sys_readahead(struct task *t, const union sysarg *a)
{
    struct file *f = fd_file(t, a[0].i);

    if (!file_is_readable(f))
        return -EBADF;
    return f->has_pos ? 0 : -EINVAL;
}

/* splice(...): programs fall back to read and write if it fails in this way. */
int64_t
sys_splice(struct task *t, const union sysarg *a)
{
    (void)t, (void)a;
    return -EINVAL;
}
