/* Reading and writing: the part that all files share.
 *
 * No call moves more than IO_STEP_BYTES before it looks up: a longer one
 * keeps its progress in the thread and asks to be made again at once. */
#include "kernel/io.h"

#include "kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum {
    IO_STEP_BYTES = 1 << 20,
    GATHER_BYTES_MAX = 64 << 10, /* writes up to here go out as one */
};

/* The next piece of guest memory to move. */
struct segment {
    gaddr addr;
    uint32_t len;
};

static int
get_segment(struct task *t, const struct io *io, uint32_t i,
            struct segment *ret)
{
    if (io->is_vector)
        return copy_from_guest(t, ret, io->iov + 8 * i, sizeof *ret);
    *ret = (struct segment){io->buf, io->len};
    return 0;
}

static uint32_t
count_of(const struct io *io)
{
    return io->is_vector ? io->count : 1;
}

/* The sum of the lengths; everything must lie in guest memory. */
static int64_t
check_segments(struct task *t, const struct io *io)
{
    struct segment s;
    uint64_t total = 0;

    if (count_of(io) > IOV_MAX)
        return -EINVAL;
    for (uint32_t i = 0; i < count_of(io); i++) {
        int r = get_segment(t, io, i, &s);
        if (r < 0)
            return r;
        if (s.len > INT32_MAX)
            return io->is_vector ? -EINVAL : -EFAULT;
        if (!guest_ptr(t, s.addr, s.len))
            return -EFAULT;
        total += s.len;
        if (total > INT32_MAX)
            return -EINVAL;
    }
    return (int64_t)total;
}

/* A place in a transfer: segment i, which begins `start` bytes into it. */
struct cursor {
    uint32_t i;
    uint64_t start;
};

/* Finds the piece `done` bytes into the transfer, from the cursor on. A read
 * may have written over the iovecs: what is no memory then is the end. */
static void *
piece_at(struct task *t, const struct io *io, struct cursor *c, uint64_t done,
         size_t *ret_len)
{
    struct segment s;

    for (; c->i < count_of(io); c->i++) {
        uint64_t off = done - c->start;
        (void)get_segment(t, io, c->i, &s);
        if (off < s.len) {
            void *p = guest_ptr(t, s.addr + (gaddr)off, s.len - off);
            *ret_len = p ? (size_t)(s.len - off) : 0;
            return p;
        }
        c->start += s.len;
    }
    *ret_len = 0;
    return NULL;
}

/* --- reading */

/* One step: from `done` on, at most IO_STEP_BYTES. */
static int64_t
read_step(struct task *t, struct file *f, const struct io *io, uint64_t done,
          uint64_t *pos)
{
    struct cursor c = {0};
    uint64_t moved = 0;

    while (moved < IO_STEP_BYTES) {
        size_t len;
        void *p = piece_at(t, io, &c, done + moved, &len);
        if (!len)
            break;
        if (len > IO_STEP_BYTES - moved)
            len = (size_t)(IO_STEP_BYTES - moved);
        int64_t n = file_read(f, t, p, len, pos);
        if (n < 0)
            return moved ? (int64_t)moved : n;
        moved += (uint64_t)n;
        if ((size_t)n < len)
            break;
        if (!f->has_pos && !(file_poll(f, NULL) & POLLIN))
            break;
    }
    return (int64_t)moved;
}

/* One message into several pieces. */
static int64_t
read_message(struct task *t, struct file *f, const struct io *io, size_t total)
{
    size_t max = total < IO_STEP_BYTES ? total : IO_STEP_BYTES, len;
    struct cursor c = {0};
    char *buf = malloc(max);

    if (!buf)
        return -ENOMEM;
    int64_t n = file_read(f, t, buf, max, NULL);
    for (int64_t done = 0; done < n; done += (int64_t)len) {
        void *p = piece_at(t, io, &c, (uint64_t)done, &len);
        if (!len)
            break;
        if ((int64_t)len > n - done)
            len = (size_t)(n - done);
        memcpy(p, buf + done, len);
    }
    free(buf);
    return n;
}

/* By its flags, or because a time limit that f has set is over. */
static bool
must_not_wait(const struct task *t, const struct file *f)
{
    int64_t deadline = t->thread->call.deadline_ns;

    return f->flags & O_NONBLOCK ||
           (deadline && clock_mono_ns(&t->kernel->clock) >= deadline);
}

/* A long transfer goes on in another call, made at once. */
static int
again_at_once(struct task *t, uint64_t progress)
{
    t->thread->call.progress = progress;
    return thread_again(t->thread);
}

int64_t
io_read(struct task *t, struct file *f, const struct io *io)
{
    uint64_t *pos = !f->has_pos ? NULL : io->pos ? io->pos : &f->pos;
    uint64_t done = t->thread->call.progress, own_pos;

    if (!file_is_readable(f))
        return -EBADF;
    if (!f->ops->read)
        return -EINVAL;
    int64_t total = check_segments(t, io);
    if (total <= 0)
        return total;
    if (io->pos) {
        own_pos = *io->pos + done;
        pos = &own_pos;
    }
    t->thread->call.restartable = true;
    int64_t n = f->is_message && count_of(io) > 1
                    ? read_message(t, f, io, (size_t)total)
                    : read_step(t, f, io, done, pos);
    if (n == -EAGAIN && !must_not_wait(t, f))
        return thread_wait_file(t->thread, f);
    if (n < 0)
        return done ? (int64_t)done : n;
    done += (uint64_t)n;
    if (n == IO_STEP_BYTES && done < (uint64_t)total && f->has_pos)
        return again_at_once(t, done);
    return (int64_t)done;
}

/* --- writing */

/* Small writes of several pieces go out as one, so that a pipe sees them
 * whole. NULL: not gathered. */
static void *
gather(struct task *t, const struct io *io, size_t total, size_t max)
{
    struct cursor c = {0};
    size_t done = 0;

    if (count_of(io) < 2 || total > max)
        return NULL;
    char *buf = malloc(total);
    while (buf && done < total) {
        size_t len;
        const void *p = piece_at(t, io, &c, done, &len);
        memcpy(buf + done, p, len);
        done += len;
    }
    return buf;
}

/* Moves pieces until one is cut short. */
static int64_t
write_pieces(struct task *t, struct file *f, const struct io *io, uint64_t done,
             uint64_t max, uint64_t *pos)
{
    struct cursor c = {0};
    uint64_t moved = 0;

    while (moved < max) {
        size_t len;
        const void *p = piece_at(t, io, &c, done + moved, &len);
        if (!len)
            break;
        if (len > max - moved)
            len = (size_t)(max - moved);
        int64_t n = file_write(f, t, p, len, pos);
        if (n < 0)
            return moved ? (int64_t)moved : n;
        moved += (uint64_t)n;
        if ((size_t)n < len)
            break;
    }
    return (int64_t)moved;
}

static int64_t
write_step(struct task *t, struct file *f, const struct io *io, uint64_t done,
           uint64_t total, uint64_t max, uint64_t *pos)
{
    size_t most = f->is_message ? IO_STEP_BYTES : GATHER_BYTES_MAX;

    if (f->is_message && count_of(io) > 1 && total > most)
        return -EMSGSIZE;
    if (!total)
        return file_write(f, t, "", 0, pos);
    void *one = f->has_pos ? NULL : gather(t, io, (size_t)total, most);
    if (!one)
        return write_pieces(t, f, io, done, max, pos);
    int64_t n =
        file_write(f, t, (char *)one + done, (size_t)(total - done), pos);
    free(one);
    return n;
}

/* How much may be written at pos: RLIMIT_FSIZE, one step. */
static int64_t
room(struct task *t, struct file *f, uint64_t pos)
{
    uint64_t max = t->rlimits[RLIMIT_FSIZE].cur;

    if (!f->has_pos || max == RLIM_INFINITY)
        return IO_STEP_BYTES;
    if (pos >= max) {
        signal_send_kernel(t, SIGXFSZ);
        return -EFBIG;
    }
    return max - pos < IO_STEP_BYTES ? (int64_t)(max - pos) : IO_STEP_BYTES;
}

static int
seek_to_end(struct file *f, uint64_t *pos)
{
    struct attr a;

    int r = file_getattr(f, &a);
    if (r == 0)
        *pos = a.size;
    return r;
}

/* After one step that gave n: the answer of the call. */
static int64_t
after_write(struct task *t, struct file *f, int64_t n, uint64_t done,
            uint64_t total)
{
    if (n == -EAGAIN && !must_not_wait(t, f)) {
        t->thread->call.progress = done;
        return thread_wait_file(t->thread, f);
    }
    if (n == -EPIPE)
        signal_send_kernel(t, SIGPIPE);
    if (n < 0)
        return done ? (int64_t)done : n;
    done += (uint64_t)n;
    if (done == total || n == 0)
        return (int64_t)done;
    if (f->has_pos)
        return n == IO_STEP_BYTES ? again_at_once(t, done) : (int64_t)done;
    if (must_not_wait(t, f))
        return (int64_t)done;
    if (file_poll(f, NULL) & POLLOUT)
        return again_at_once(t, done);
    t->thread->call.progress = done;
    return thread_wait_file(t->thread, f);
}

int64_t
io_write(struct task *t, struct file *f, const struct io *io)
{
    uint64_t done = t->thread->call.progress, own_pos = 0;
    uint64_t *pos = f->has_pos ? &f->pos : NULL;

    if (!file_is_writable(f))
        return -EBADF;
    if (!f->ops->write)
        return -EINVAL;
    int64_t total = check_segments(t, io);
    if (total < 0 || (total == 0 && !f->is_message))
        return total;
    if (done && done >= (uint64_t)total) /* its iovecs are shorter now */
        return total;
    if (io->pos) {
        own_pos = *io->pos + done;
        pos = &own_pos;
    }
    if (f->has_pos && f->flags & O_APPEND) {
        int r = seek_to_end(f, pos);
        if (r < 0)
            return r;
    }
    t->thread->call.restartable = true;
    int64_t max = room(t, f, pos ? *pos : 0);
    int64_t n = max < 0 ? max
                        : write_step(t, f, io, done, (uint64_t)total,
                                     (uint64_t)max, pos);
    return after_write(t, f, n, done, (uint64_t)total);
}
