/* Cursors over the memory of a transfer.
 *
 * The array is copied and every piece is checked at the start, so that a
 * transfer fails before it has begun and not in its middle. A piece is mapped
 * again when it is reached: memory never shrinks, so this cannot fail. */
#include "kernel/iov.h"

#include "kernel/kernel.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

static uint8_t *
iov_map(struct task *t, enum iov_use use, gaddr at, uint32_t len)
{
    if (use == IOV_OUT)
        return guest_out(t, at, len);
    return (uint8_t *)(uintptr_t)guest_in(t, at, len); /* nobody writes */
}

/* The sum is bounded by INT32_MAX, as the result of a call must be positive. */
int64_t
iov_init_guest(struct iov *v, struct task *t, enum iov_use use, gaddr iovecs,
               uint32_t count)
{
    struct guest_iovec *copy = t->kernel->copies->iov;
    uint64_t total = 0;

    if (count > IOV_MAX)
        return -EMSGSIZE;
    if (copy_from_guest(t, copy, iovecs, count * sizeof *copy) < 0)
        return -EFAULT;
    for (uint32_t i = 0; i < count; i++) {
        if (copy[i].len > INT32_MAX)
            return -EINVAL;
        if (guest_check(t, copy[i].base, copy[i].len) < 0)
            return -EFAULT;
        total += copy[i].len;
        if (total > INT32_MAX)
            return -EINVAL;
    }
    *v = (struct iov){.task = t, .next = copy, .count = count, .use = use};
    return (int64_t)total;
}

int64_t
iov_init_piece(struct iov *v, struct task *t, enum iov_use use, gaddr at,
               uint32_t len)
{
    uint8_t *p = len > INT32_MAX ? NULL : iov_map(t, use, at, len);

    if (!p)
        return -EFAULT;
    iov_init_buf(v, p, len);
    return len;
}

void
iov_init_buf(struct iov *v, void *buf, size_t len)
{
    *v = (struct iov){.p = buf, .len = len};
}

/* Empty pieces are skipped, so that a piece without bytes means the end. */
void
iov_next(struct iov *v)
{
    while (!v->len && v->count) {
        const struct guest_iovec *g = v->next++;
        v->count--;
        v->p = iov_map(v->task, v->use, g->base, g->len);
        v->len = v->p ? g->len : 0;
    }
}

/* Copies from the pieces (to), into them (from), or only moves on. */
static void
iov_move(struct iov *v, uint8_t *to, const uint8_t *from, size_t len)
{
    while (len) {
        size_t n;
        void *p = iov_piece(v, &n);
        if (!n)
            return;
        n = len < n ? len : n;
        if (to) {
            memcpy(to, p, n);
            to += n;
        }
        if (from) {
            memcpy(p, from, n);
            from += n;
        }
        iov_advance(v, n);
        len -= n;
    }
}

void
iov_skip(struct iov *v, size_t len)
{
    iov_move(v, NULL, NULL, len);
}

void
iov_copy_from(struct iov *v, void *to, size_t len)
{
    iov_move(v, to, NULL, len);
}

void
iov_copy_to(struct iov *v, const void *from, size_t len)
{
    iov_move(v, NULL, from, len);
}
