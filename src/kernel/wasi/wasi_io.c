/* Reading, writing, positions and sizes. */
#include "kernel/io.h"
#include "kernel/wasi/wasi_impl.h"

#include <errno.h>
#include <unistd.h>

/* --- transfers: WASI's iovecs have the layout of ours */

typedef int64_t io_fn(struct task *t, struct file *f, const struct io *io);

/* Moves bytes and stores their number at `to`. The address is checked first:
 * after the transfer, an error could not be reported without losing data. */
static int64_t
wasi_io_transfer(struct task *t, struct file *f, const struct io *io, io_fn *fn,
                 uint64_t to)
{
    struct io none = {.pos = io->pos};

    int r = wasi_check(t, to, sizeof(uint32_t));
    if (r < 0)
        return r;
    int64_t n = fn(t, f, io->count ? io : &none);
    if (n < 0)
        return n;
    return copy_to_guest(t, (gaddr)to, &(uint32_t){(uint32_t)n},
                         sizeof(uint32_t));
}

/* fd_read(fd, iovs, count, &n) */
int64_t
wasi_fd_read(struct task *t, const uint64_t *a)
{
    struct io io = {
        .is_vector = true, .iov = (gaddr)a[1], .count = (uint32_t)a[2]};
    struct file *f;

    int r = wasi_file(t, a[0], RIGHT_FD_READ, &f);
    return r < 0 ? r : wasi_io_transfer(t, f, &io, io_read, a[3]);
}

/* fd_write(fd, iovs, count, &n) */
int64_t
wasi_fd_write(struct task *t, const uint64_t *a)
{
    struct io io = {
        .is_vector = true, .iov = (gaddr)a[1], .count = (uint32_t)a[2]};
    struct file *f;

    int r = wasi_file(t, a[0], RIGHT_FD_WRITE, &f);
    return r < 0 ? r : wasi_io_transfer(t, f, &io, io_write, a[3]);
}

/* Transfers at a position of their own need no right to seek. */
static int64_t
wasi_io_transfer_at(struct task *t, const uint64_t *a, uint64_t right,
                    io_fn *fn)
{
    uint64_t pos = a[3];
    struct io io = {.is_vector = true,
                    .iov = (gaddr)a[1],
                    .count = (uint32_t)a[2],
                    .pos = &pos};
    struct file *f;

    int r = wasi_file(t, a[0], right, &f);
    if (r == 0)
        r = io_check_pos(f, (int64_t)pos);
    return r < 0 ? r : wasi_io_transfer(t, f, &io, fn, a[4]);
}

/* fd_pread(fd, iovs, count, offset, &n) */
int64_t
wasi_fd_pread(struct task *t, const uint64_t *a)
{
    return wasi_io_transfer_at(t, a, RIGHT_FD_READ, io_read);
}

/* fd_pwrite(fd, iovs, count, offset, &n) */
int64_t
wasi_fd_pwrite(struct task *t, const uint64_t *a)
{
    return wasi_io_transfer_at(t, a, RIGHT_FD_WRITE, io_write);
}

/* --- positions */

/* The address of the result is checked before the position moves. */
static int64_t
wasi_io_seek(struct task *t, struct file *f, int64_t offset, int whence,
             uint64_t to)
{
    int r = wasi_check(t, to, sizeof(int64_t));

    if (r < 0)
        return r;
    int64_t pos = io_seek(t, f, offset, whence);
    return pos < 0 ? pos : copy_to_guest(t, (gaddr)to, &pos, sizeof pos);
}

/* Finds the file of a descriptor. A file that cannot seek has no right to it
 * either; -ESPIPE is the clearer reason of the two. */
static int
wasi_io_seekable(struct task *t, uint64_t fd, uint64_t need, struct file **ret)
{
    struct file *f = fd_find(t, (int)fd);

    if (f && !f->ops->seek)
        return -ESPIPE;
    return wasi_file(t, fd, need, ret);
}

/* fd_seek(fd, offset, whence, &position): asking for the position needs another
 * right than changing it. */
int64_t
wasi_fd_seek(struct task *t, const uint64_t *a)
{
    bool only_asks = a[1] == 0 && a[2] == SEEK_CUR;
    struct file *f;

    int r = wasi_io_seekable(t, a[0], only_asks ? RIGHT_FD_TELL : RIGHT_FD_SEEK,
                             &f);
    if (r < 0)
        return r;
    if (a[2] > SEEK_END)
        return -EINVAL;
    return wasi_io_seek(t, f, (int64_t)a[1], (int)a[2], a[3]);
}

/* fd_tell(fd, &position) */
int64_t
wasi_fd_tell(struct task *t, const uint64_t *a)
{
    struct file *f;

    int r = wasi_io_seekable(t, a[0], RIGHT_FD_TELL, &f);
    return r < 0 ? r : wasi_io_seek(t, f, 0, SEEK_CUR, a[1]);
}

/* --- sizes and hints */

/* fd_advise(fd, offset, len, advice): checked, and then without effect. */
int64_t
wasi_fd_advise(struct task *t, const uint64_t *a)
{
    enum { ADVICE_LAST = 5 };
    struct file *f;
    int64_t end;

    int r = wasi_file(t, a[0], RIGHT_FD_ADVISE, &f);
    if (r < 0)
        return r;
    if (a[3] > ADVICE_LAST || (int64_t)a[1] < 0 || (int64_t)a[2] < 0 ||
        __builtin_add_overflow((int64_t)a[1], (int64_t)a[2], &end))
        return -EINVAL;
    return io_advise(f);
}

/* fd_allocate(fd, offset, len): extends the file, unlike KEEP_SIZE. */
int64_t
wasi_fd_allocate(struct task *t, const uint64_t *a)
{
    struct file *f;

    int r = wasi_file(t, a[0], RIGHT_FD_ALLOCATE, &f);
    return r < 0 ? r : io_allocate(t, f, 0, (int64_t)a[1], (int64_t)a[2]);
}

/* fd_filestat_set_size(fd, size) */
int64_t
wasi_fd_filestat_set_size(struct task *t, const uint64_t *a)
{
    struct file *f;

    int r = wasi_file(t, a[0], RIGHT_FD_FILESTAT_SET_SIZE, &f);
    return r < 0 ? r : io_truncate(t, f, (int64_t)a[1]);
}

/* fd_datasync(fd) */
int64_t
wasi_fd_datasync(struct task *t, const uint64_t *a)
{
    struct file *f;

    int r = wasi_file(t, a[0], RIGHT_FD_DATASYNC, &f);
    return r < 0 ? r : io_sync(f);
}

/* fd_sync(fd) */
int64_t
wasi_fd_sync(struct task *t, const uint64_t *a)
{
    struct file *f;

    int r = wasi_file(t, a[0], RIGHT_FD_SYNC, &f);
    return r < 0 ? r : io_sync(f);
}
