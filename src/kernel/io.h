/* Reading and writing through open files, with the parts that all kinds of
 * files share: access, waiting, partial transfers, limits. */
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
    /* count iovecs of the guest at iov; otherwise buf and len */
    bool is_vector;
    gaddr iov;
    uint32_t count;
    gaddr buf;
    uint32_t len;
    uint64_t *pos; /* of pread and pwrite; NULL: the file's own */
};

/* Returns the number of bytes transferred, -errno, or -EWAIT. */
int64_t io_read(struct task *t, struct file *f, const struct io *io);
int64_t io_write(struct task *t, struct file *f, const struct io *io);

/* --- io_pos.c: positions and sizes */

/* Returns 0 if f (NULL: no such descriptor) may be read or written at `pos`.
 * -EBADF, -ESPIPE, -EINVAL. */
int io_check_pos(const struct file *f, int64_t pos);
/* Moves the position of f and returns it; SEEK_SET to SEEK_HOLE, of which the
 * last two may return -EWAIT. */
int64_t io_seek(struct task *t, struct file *f, int64_t offset, int whence);
/* Checks RLIMIT_FSIZE: SIGXFSZ and -EFBIG beyond it. */
int io_check_size(struct task *t, int64_t size);
/* Implements ftruncate, with RLIMIT_FSIZE. -EBADF, -EINVAL, -EFBIG, -ENOSPC. */
int io_truncate(struct task *t, struct file *f, int64_t size);
/* Implements fallocate; -EWAIT after each step of a long one. */
int64_t io_allocate(struct task *t, struct file *f, uint32_t mode,
                    int64_t offset, int64_t len);
/* Returns 0 if fsync applies to f. -EBADF, -EINVAL. */
int io_sync(const struct file *f);
/* Returns 0 if posix_fadvise applies to f. -EBADF, -ESPIPE. */
int io_advise(const struct file *f);

#endif
