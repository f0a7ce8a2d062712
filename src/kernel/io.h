/* Reading and writing through open files, with everything that is the same
 * for all kinds: access, waiting, partial transfers, limits. */
#ifndef KERNEL_IO_H
#define KERNEL_IO_H

#include "kernel/machine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct file;
struct task;

/* A transfer between guest memory and a file. */
struct io {
    bool is_vector; /* count iovecs of the guest at iov; else buf and len */
    gaddr iov;
    uint32_t count;
    gaddr buf;
    uint32_t len;
    uint64_t *pos; /* of pread and pwrite; NULL: the file's own */
};

/* Bytes moved, -errno, or -EWAIT. */
int64_t io_read(struct task *t, struct file *f, const struct io *io);
int64_t io_write(struct task *t, struct file *f, const struct io *io);

/* --- io_pos.c: positions and sizes. */

/* May f (NULL: no such descriptor) be read or written at `pos`? 0, -EBADF,
 * -ESPIPE, -EINVAL. */
int io_check_pos(const struct file *f, int64_t pos);
/* Moves the position of f and returns it; SEEK_SET to SEEK_HOLE, of which the
 * last two may give -EWAIT. */
int64_t io_seek(struct task *t, struct file *f, int64_t offset, int whence);
/* Within RLIMIT_FSIZE: SIGXFSZ and -EFBIG beyond it. */
int io_check_size(struct task *t, int64_t size);
int io_truncate(struct task *t, struct file *f, int64_t size);
/* fallocate; -EWAIT after each step of a long one. */
int64_t io_allocate(struct task *t, struct file *f, uint32_t mode,
                    int64_t offset, int64_t len);
int io_sync(const struct file *f);
/* Is posix_fadvise meaningful here? 0, -EBADF, -ESPIPE. */
int io_advise(const struct file *f);

#endif
