/* A cursor over the pieces of memory that one message is in: an iovec array
 * of the guest, or one buffer. Valid for one call. */
#ifndef KERNEL_IOV_H
#define KERNEL_IOV_H

#include "kernel/machine.h"

#include <stddef.h>
#include <stdint.h>

struct task;

struct iov {
    struct task *task;
    gaddr next;     /* of the next struct iovec */
    uint32_t count; /* of those left */
    uint8_t *p;     /* what is left of the current piece */
    size_t len;
};

/* All pieces must be guest memory. The sum of their lengths, or -EFAULT,
 * -EINVAL, -EMSGSIZE (too many). */
int64_t iov_init_guest(struct iov *v, struct task *t, gaddr iovecs,
                       uint32_t count);
void iov_init_buf(struct iov *v, void *buf, size_t len);
/* Each moves up to len bytes on; fewer only at the end. */
void iov_skip(struct iov *v, size_t len);
void iov_copy_from(struct iov *v, void *to, size_t len);
void iov_copy_to(struct iov *v, const void *from, size_t len);

#endif
