/* Positions and sizes of open files, for both guest ABIs. */
#include "kernel/io.h"
#include "kernel/kernel.h"
#include "kernel/vfs/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/resource.h>
#include <unistd.h>

/* An O_PATH descriptor names a file without having opened it. */
static bool
io_pos_is_open(const struct file *f)
{
    return f && !(f->flags & O_PATH);
}

int
io_check_pos(const struct file *f, int64_t pos)
{
    if (pos < 0)
        return -EINVAL;
    if (!io_pos_is_open(f))
        return -EBADF;
    return f->has_pos ? 0 : -ESPIPE;
}

/* Ends a step of a long search for data or a hole. call.at is where it
 * continues; it is not part of an answer. */
static int64_t
io_pos_seek_again(struct task *t)
{
    t->thread->call.at += SEEK_STEP_BYTES;
    t->thread->call.restartable = true;
    return thread_again(t->thread);
}

/* The position changes only on success. Errors that lseek(2) does not have
 * become EINVAL. */
int64_t
io_seek(struct task *t, struct file *f, int64_t offset, int whence)
{
    if (!io_pos_is_open(f))
        return -EBADF;
    if (whence < 0 || whence > SEEK_HOLE)
        return -EINVAL;
    if (!f->ops->seek)
        return -ESPIPE;
    if (__builtin_add_overflow(offset, t->thread->call.at, &offset))
        return -EINVAL;
    int64_t pos = f->ops->seek(f, offset, whence);
    if (pos == -EAGAIN)
        return io_pos_seek_again(t);
    if (pos < 0)
        return pos == -ENXIO || pos == -ESPIPE ? pos : -EINVAL;
    f->pos = (uint64_t)pos;
    return pos;
}

/* A negative size is an error before the limit is checked, as on Linux. */
int
io_check_size(struct task *t, int64_t size)
{
    if (size < 0)
        return -EINVAL;
    if ((uint64_t)size <= t->rlimits[RLIMIT_FSIZE].cur)
        return 0;
    signal_send_self(t, SIGXFSZ);
    return -EFBIG;
}

int
io_truncate(struct task *t, struct file *f, int64_t size)
{
    if (size < 0)
        return -EINVAL;
    if (!io_pos_is_open(f))
        return -EBADF;
    if (!file_is_writable(f) || !f->ops->truncate)
        return -EINVAL;
    int r = io_check_size(t, size);
    if (r == 0)
        r = f->ops->truncate(f, (uint64_t)size);
    if (r == 0)
        notify_file(f, IN_MODIFY);
    return r;
}

/* The position of the next step is kept in the call. It is not an answer: an
 * interrupted fallocate has no partial result. */
static int64_t
io_pos_allocate_step(struct task *t, struct file *f, int mode, uint64_t off,
                     uint64_t len)
{
    struct call_state *call = &t->thread->call;

    if (call->at >= len)
        return 0;
    int64_t n = f->ops->fallocate(f, mode, off + call->at, len - call->at);
    if (n < 0)
        return n;
    call->at += (uint64_t)n;
    call->restartable = true;
    if (call->at < len)
        return thread_again(t->thread);
    notify_file(f, IN_MODIFY);
    return 0;
}

/* Errors in the order of Linux: descriptor, range, mode, access, kind of file,
 * limit. */
int64_t
io_allocate(struct task *t, struct file *f, uint32_t mode, int64_t offset,
            int64_t len)
{
    int64_t end;

    if (!io_pos_is_open(f))
        return -EBADF;
    if (offset < 0 || len <= 0)
        return -EINVAL;
    if (mode & ~(uint32_t)(FALLOC_FL_KEEP_SIZE | FALLOC_FL_PUNCH_HOLE))
        return -EOPNOTSUPP;
    if (!file_is_writable(f))
        return -EBADF;
    if (!f->ops->fallocate)
        return f->has_pos ? -ENODEV : -ESPIPE;
    if (__builtin_add_overflow(offset, len, &end))
        return -EFBIG;
    int r = mode & FALLOC_FL_KEEP_SIZE ? 0 : io_check_size(t, end);
    return r < 0 ? r
                 : io_pos_allocate_step(t, f, (int)mode, (uint64_t)offset,
                                        (uint64_t)len);
}

/* Files in memory are as durable as they can be. */
int
io_sync(const struct file *f)
{
    if (!io_pos_is_open(f))
        return -EBADF;
    return f->has_pos ? 0 : -EINVAL;
}

int
io_advise(const struct file *f)
{
    if (!io_pos_is_open(f))
        return -EBADF;
    return f->has_pos ? 0 : -ESPIPE;
}
