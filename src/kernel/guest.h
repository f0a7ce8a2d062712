/* Guest memory. The program may change it while the kernel reads it, as soon as
 * it has several threads. So the kernel copies a value once, checks the copy
 * and uses the copy. Bytes on which no decision depends, such as the contents
 * of a file, are moved directly: read through guest_in, or written through
 * guest_out. */
#ifndef KERNEL_GUEST_H
#define KERNEL_GUEST_H

#include "kernel/machine.h"
#include "kernel/vfs/vfs.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

struct task;

/* struct iovec of the guest. */
struct guest_iovec {
    gaddr base;
    uint32_t len;
};

/* Buffers of a kernel for arguments that are too large for a stack. A call that
 * is repeated copies its arguments again. No call has both paths and iovecs, so
 * they share memory. */
union guest_copies {
    char path[2][PATH_BYTES_MAX];
    struct guest_iovec iov[IOV_MAX];
};

/* Checked copies: 0, or -EFAULT where a byte is outside of guest memory. */
int copy_from_guest(struct task *t, void *dst, gaddr a, size_t len);
int copy_to_guest(struct task *t, gaddr a, const void *src, size_t len);
/* 0, or -EFAULT if the range is not guest memory. len may be 0. */
int guest_check(struct task *t, gaddr a, uint64_t len);

/* Returns bytes that the caller reads, each of them once; NULL outside of guest
 * memory. The pointer is valid until the call ends, waits, or enters the
 * engine. */
const void *guest_in(struct task *t, gaddr a, uint64_t len);
/* Returns bytes that the caller writes and never reads; otherwise like
 * guest_in. */
void *guest_out(struct task *t, gaddr a, uint64_t len);

/* Copies a path into the buffer `which` (0 or 1) of the kernel, where it stays
 * until the buffer is used again. NULL and *err -EFAULT or -ENAMETOOLONG. */
const char *guest_path(struct task *t, int which, gaddr a, int *err);
/* Copies a NUL-terminated string of at most size - 1 bytes. Returns its length;
 * -EFAULT, -ENAMETOOLONG. */
int64_t guest_string(struct task *t, gaddr a, char *buf, size_t size);
/* Copies a string of at most size - 1 bytes into memory that the caller frees.
 * 0, -EFAULT, -ENAMETOOLONG, -ENOMEM. */
int guest_strdup(struct task *t, gaddr a, size_t size, OWN char **ret);

#endif
