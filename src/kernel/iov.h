/* A cursor over the pieces of memory that one transfer is in: an iovec array of
 * the guest, a buffer of the guest, or one of the kernel. Valid for one call.
 * The array is copied into the kernel's buffer and checked there. */
#ifndef KERNEL_IOV_H
#define KERNEL_IOV_H

#include "kernel/guest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum iov_use {
    IOV_IN,  /* the kernel reads the pieces */
    IOV_OUT, /* the kernel fills them */
};

struct iov {
    struct task *task;
    const struct guest_iovec *next; /* the pieces that follow */
    uint32_t count;                 /* of them */
    enum iov_use use;
    uint8_t *p; /* what is left of the current piece */
    size_t len;
};

/* Begins at an array of the guest, all pieces of which must be guest memory.
 * Returns the sum of their lengths. -EFAULT, -EINVAL, -EMSGSIZE (more than
 * IOV_MAX pieces). */
int64_t iov_init_guest(struct iov *v, struct task *t, enum iov_use use,
                       gaddr iovecs, uint32_t count);
/* Begins at one buffer of the guest. Returns its length, or -EFAULT. */
int64_t iov_init_piece(struct iov *v, struct task *t, enum iov_use use,
                       gaddr at, uint32_t len);
/* A buffer of the kernel. */
void iov_init_buf(struct iov *v, void *buf, size_t len);
/* Makes the next piece that has bytes the current one. */
void iov_next(struct iov *v);
/* The current piece, which has bytes left; *ret_len 0 at the end. */
static inline void *
iov_piece(struct iov *v, size_t *ret_len)
{
    if (!v->len && v->count)
        iov_next(v);
    *ret_len = v->len;
    return v->p;
}
/* Moves on by `n` bytes of the current piece. */
static inline void
iov_advance(struct iov *v, size_t n)
{
    v->p += n;
    v->len -= n;
}
/* Advance by up to `len` bytes, without a copy, or with one from or to the
 * pieces. Fewer bytes are moved only at the end of the pieces. */
void iov_skip(struct iov *v, size_t len);
void iov_copy_from(struct iov *v, void *to, size_t len);
void iov_copy_to(struct iov *v, const void *from, size_t len);

#endif
