/* Reading and writing: the part that all files share.
 *
 * An operation of a file never waits: it transfers what it can, or returns
 * -EAGAIN. This file turns that into the behaviour of read(2) and write(2):
 * waiting, partial transfers, O_NONBLOCK, timeouts of sockets, SIGPIPE and
 * RLIMIT_FSIZE.
 *
 * No call transfers more than IO_STEP_BYTES at a time. A longer one keeps its
 * progress in the thread and is repeated at once, so that signals, time limits
 * and other processes are served in between. The progress is also the answer if
 * a signal interrupts the call. */
#include "kernel/io.h"

#include "kernel/iov.h"
#include "kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>

enum {
    IO_STEP_BYTES = 1 << 20,
    GATHER_BYTES_MAX = 64 << 10, /* writes up to here go out as one */
};

static bool
io_is_many(const struct io *io)
{
    return io->is_vector && io->count > 1;
}

/* Initialises the cursor over the memory of a transfer. Returns the number of
 * its bytes, or -errno. */
static int64_t
io_memory(struct task *t, const struct io *io, enum iov_use use,
          struct iov *ret)
{
    if (!io->is_vector)
        return iov_init_piece(ret, t, use, io->buf, io->len);
    if (io->count > IOV_MAX)
        return -EINVAL;
    return iov_init_guest(ret, t, use, io->iov, io->count);
}

/* Moves up to max bytes, until a piece is cut short. A pipe or a
 * terminal is asked before each further piece is read: a second read could take
 * bytes of another message or report the end. */
static int64_t
io_move(struct task *t, struct file *f, struct iov *v, bool reads, uint64_t max,
        uint64_t *pos)
{
    uint64_t moved = 0;

    while (moved < max) {
        size_t len;
        void *p = iov_piece(v, &len);
        if (!len)
            break;
        if (len > max - moved)
            len = (size_t)(max - moved);
        int64_t n = reads ? file_read(f, t, p, len, pos)
                          : file_write(f, t, p, len, pos);
        if (n < 0)
            return moved ? (int64_t)moved : n;
        moved += (uint64_t)n;
        iov_advance(v, (size_t)n);
        if ((size_t)n < len)
            break;
        if (reads && !f->has_pos && !(file_poll(f, NULL) & POLLIN))
            break;
    }
    return (int64_t)moved;
}

/* --- reading */

/* Reads one message into several pieces: one operation must read all of it. */
static int64_t
io_read_message(struct task *t, struct file *f, struct iov *v, size_t total)
{
    size_t max = total < IO_STEP_BYTES ? total : IO_STEP_BYTES;
    char *buf = malloc(max);

    if (!buf)
        return -ENOMEM;
    int64_t n = file_read(f, t, buf, max, NULL);
    if (n > 0)
        iov_copy_to(v, buf, (size_t)n);
    free(buf);
    return n;
}

/* Returns true if f has O_NONBLOCK, or if a time limit that the file has set
 * for this call is over. */
static bool
io_must_not_wait(const struct task *t, const struct file *f)
{
    int64_t deadline = t->thread->call.deadline_ns;

    return f->flags & O_NONBLOCK ||
           (deadline && clock_mono_ns(&t->kernel->clock) >= deadline);
}

/* Ends a step of a long transfer: the call is repeated at once, from
 * `progress`. */
static int
io_again_at_once(struct task *t, uint64_t progress)
{
    t->thread->call.progress = progress;
    return thread_again(t->thread);
}

/* Continues a repeated call behind the `done` bytes of its earlier steps.
 * Returns the position to use: that of the file, or, for a call that names a
 * position (pread, pwrite), *at. A position of the call never moves that of the
 * file, and is itself not changed: the caller passes it again at each step. */
static uint64_t *
io_go_on(const struct io *io, uint64_t done, struct iov *v, uint64_t *file_pos,
         uint64_t *at)
{
    if (done)
        iov_skip(v, (size_t)done);
    if (!io->pos)
        return file_pos;
    *at = *io->pos + done;
    return at;
}

/* A read that has transferred something returns it rather than an error; the
 * error is found by the next read. */
int64_t
io_read(struct task *t, struct file *f, const struct io *io)
{
    uint64_t *pos = f->has_pos ? &f->pos : NULL;
    uint64_t done = t->thread->call.progress, at;
    struct iov v;

    if (!file_is_readable(f))
        return -EBADF;
    if (!f->ops->read)
        return -EINVAL;
    int64_t total = io_memory(t, io, IOV_OUT, &v);
    if (total <= 0)
        return total;
    pos = io_go_on(io, done, &v, pos, &at);
    t->thread->call.restartable = true;
    int64_t n = f->is_message && io_is_many(io)
                    ? io_read_message(t, f, &v, (size_t)total)
                    : io_move(t, f, &v, true, IO_STEP_BYTES, pos);
    if (n == -EAGAIN && !io_must_not_wait(t, f))
        return thread_wait_file(t->thread, f);
    if (n < 0)
        return done ? (int64_t)done : n;
    done += (uint64_t)n;
    if (n == IO_STEP_BYTES && done < (uint64_t)total && f->has_pos)
        return io_again_at_once(t, done);
    return (int64_t)done;
}

/* --- writing */

/* Small writes of several pieces go out as one, so that a pipe sees them
 * whole. Returns the `left` bytes, or NULL: not gathered. */
static char *
io_write_gather(const struct file *f, const struct io *io, struct iov *v,
                uint64_t total, uint64_t left)
{
    uint64_t max = f->is_message ? IO_STEP_BYTES : GATHER_BYTES_MAX;

    if (!io_is_many(io) || f->has_pos || total > max)
        return NULL;
    char *buf = malloc(left);
    if (buf)
        iov_copy_from(v, buf, left);
    return buf;
}

/* A message of several pieces must be sent by one operation, so its size is
 * bounded. */
static int64_t
io_write_step(struct task *t, struct file *f, const struct io *io,
              struct iov *v, uint64_t total, uint64_t max, uint64_t *pos)
{
    uint64_t left = total - t->thread->call.progress;

    if (f->is_message && io_is_many(io) && total > IO_STEP_BYTES)
        return -EMSGSIZE;
    if (!total)
        return file_write(f, t, "", 0, pos);
    char *one = io_write_gather(f, io, v, total, left);
    if (!one)
        return io_move(t, f, v, false, max, pos);
    int64_t n = file_write(f, t, one, left, pos);
    free(one);
    return n;
}

/* Returns the number of bytes that may be written at pos: at most one step, and
 * up to RLIMIT_FSIZE. Beyond that limit: SIGXFSZ, -EFBIG. */
static int64_t
io_room(struct task *t, struct file *f, uint64_t pos)
{
    uint64_t max = t->rlimits[RLIMIT_FSIZE].cur;

    if (!f->has_pos || max == RLIM_INFINITY)
        return IO_STEP_BYTES;
    if (pos >= max) {
        signal_send_self(t, SIGXFSZ);
        return -EFBIG;
    }
    return max - pos < IO_STEP_BYTES ? (int64_t)(max - pos) : IO_STEP_BYTES;
}

/* Turns the result n of one step into the answer of the call. A file with a
 * position returns a short count; a stream continues until everything is
 * written, unless it must not wait. */
static int64_t
io_after_write(struct task *t, struct file *f, int64_t n, uint64_t done,
               uint64_t total)
{
    if (n == -EAGAIN && !io_must_not_wait(t, f)) {
        t->thread->call.progress = done;
        return thread_wait_file(t->thread, f);
    }
    if (n == -EPIPE)
        signal_send_self(t, SIGPIPE);
    if (n < 0)
        return done ? (int64_t)done : n;
    done += (uint64_t)n;
    if (done == total || n == 0)
        return (int64_t)done;
    if (f->has_pos)
        return n == IO_STEP_BYTES ? io_again_at_once(t, done) : (int64_t)done;
    if (io_must_not_wait(t, f))
        return (int64_t)done;
    if (file_poll(f, NULL) & POLLOUT)
        return io_again_at_once(t, done);
    t->thread->call.progress = done;
    return thread_wait_file(t->thread, f);
}

/* The position of O_APPEND is set before each step, since other processes may
 * have appended in between. */
int64_t
io_write(struct task *t, struct file *f, const struct io *io)
{
    uint64_t done = t->thread->call.progress, at = 0;
    uint64_t *pos = f->has_pos ? &f->pos : NULL;
    struct iov v;

    if (!file_is_writable(f))
        return -EBADF;
    if (!f->ops->write)
        return -EINVAL;
    int64_t total = io_memory(t, io, IOV_IN, &v);
    if (total < 0 || (total == 0 && !f->is_message))
        return total;
    if (done && done >= (uint64_t)total) /* its iovecs are shorter now */
        return total;
    pos = io_go_on(io, done, &v, pos, &at);
    int r = pos ? file_append_pos(f, pos) : 0;
    if (r < 0)
        return r;
    t->thread->call.restartable = true;
    int64_t n = io_room(t, f, pos ? *pos : 0);
    if (n >= 0)
        n = io_write_step(t, f, io, &v, (uint64_t)total, (uint64_t)n, pos);
    return io_after_write(t, f, n, done, (uint64_t)total);
}
