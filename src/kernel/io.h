/* Reading and writing through open files, with everything that is the same
 * for all kinds: access, waiting, partial transfers, limits. */
#ifndef KERNEL_IO_H
#define KERNEL_IO_H

#include "kernel/machine.h"

#include <stddef.h>
#include <stdint.h>

struct file;
struct task;

/* A transfer between guest memory and a file. */
struct io {
    gaddr iov;      /* array of guest iovecs, or 0: buf and len */
    uint32_t count; /* of iovecs */
    gaddr buf;
    uint32_t len;
    uint64_t *pos; /* of pread and pwrite; NULL: the file's own */
};

/* Bytes moved, -errno, or -EWAIT. */
int64_t io_read(struct task *t, struct file *f, const struct io *io);
int64_t io_write(struct task *t, struct file *f, const struct io *io);

#endif
