/* Cursors over message memory. */
#include "kernel/iov.h"

#include "kernel/task.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

struct guest_iovec {
    gaddr base;
    uint32_t len;
};

int64_t
iov_init_guest(struct iov *v, struct task *t, gaddr iovecs, uint32_t count)
{
    uint64_t total = 0;
    struct guest_iovec g;

    if (count > IOV_MAX)
        return -EMSGSIZE;
    for (uint32_t i = 0; i < count; i++) {
        gaddr at = iovecs + i * (uint32_t)sizeof g;
        if (copy_from_guest(t, &g, at, sizeof g) < 0)
            return -EFAULT;
        if (g.len > INT32_MAX)
            return -EINVAL;
        if (!guest_ptr(t, g.base, g.len))
            return -EFAULT;
        total += g.len;
        if (total > INT32_MAX)
            return -EINVAL;
    }
    *v = (struct iov){.task = t, .next = iovecs, .count = count};
    return (int64_t)total;
}

void
iov_init_buf(struct iov *v, void *buf, size_t len)
{
    *v = (struct iov){.p = buf, .len = len};
}

/* Makes the current piece one with bytes left; false at the end. */
static bool
has_piece(struct iov *v)
{
    struct guest_iovec g;

    while (!v->len && v->count) {
        if (copy_from_guest(v->task, &g, v->next, sizeof g) < 0)
            return false;
        v->next += (uint32_t)sizeof g;
        v->count--;
        v->p = guest_ptr(v->task, g.base, g.len);
        v->len = v->p ? g.len : 0;
    }
    return v->len;
}

/* Copies out of the pieces (to), into them (from), or only moves on. */
static void
move(struct iov *v, uint8_t *to, const uint8_t *from, size_t len)
{
    while (len && has_piece(v)) {
        size_t n = len < v->len ? len : v->len;
        if (to) {
            memcpy(to, v->p, n);
            to += n;
        }
        if (from) {
            memcpy(v->p, from, n);
            from += n;
        }
        v->p += n;
        v->len -= n;
        len -= n;
    }
}

void
iov_skip(struct iov *v, size_t len)
{
    move(v, NULL, NULL, len);
}

void
iov_copy_from(struct iov *v, void *to, size_t len)
{
    move(v, to, NULL, len);
}

void
iov_copy_to(struct iov *v, const void *from, size_t len)
{
    move(v, NULL, from, len);
}
