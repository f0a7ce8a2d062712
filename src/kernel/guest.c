/* Guest memory: the only file of the kernel that has pointers into it.
 *
 * Addresses are 32 bits wide and lengths are bounded, so their sum cannot
 * overflow 64 bits. The size of a memory only grows; a size that is too small
 * is read again before an access is refused. */
#include "kernel/guest.h"

#include "kernel/kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint8_t *
guest_ptr(struct task *t, gaddr a, uint64_t len)
{
    struct machine *m = t->thread->machine;

    if (a + len > m->size) {
        m->ops->refresh(m);
        if (a + len > m->size)
            return NULL;
    }
    return m->base + a;
}

int
guest_check(struct task *t, gaddr a, uint64_t len)
{
    return guest_ptr(t, a, len) ? 0 : -EFAULT;
}

const void *
guest_in(struct task *t, gaddr a, uint64_t len)
{
    return guest_ptr(t, a, len);
}

void *
guest_out(struct task *t, gaddr a, uint64_t len)
{
    return guest_ptr(t, a, len);
}

int
copy_from_guest(struct task *t, void *dst, gaddr a, size_t len)
{
    const void *p = guest_in(t, a, len);

    if (!p)
        return -EFAULT;
    memcpy(dst, p, len);
    return 0;
}

int
copy_to_guest(struct task *t, gaddr a, const void *src, size_t len)
{
    void *p = guest_out(t, a, len);

    if (!p)
        return -EFAULT;
    memcpy(p, src, len);
    return 0;
}

/* --- strings */

/* Finds the string at a, which has at most size - 1 bytes. Returns its length;
 * -EFAULT, -ENAMETOOLONG. A copy of so many bytes may be a shorter string, if
 * the guest writes to it meanwhile. */
static int64_t
guest_find_string(struct task *t, gaddr a, size_t size, const char **ret)
{
    size_t max = size;

    if (!guest_ptr(t, a, max)) {
        uint64_t end = t->thread->machine->size; /* just read anew */
        max = a < end ? (size_t)(end - a) : 0;
    }
    const char *p = (const char *)guest_ptr(t, a, max);
    const char *nul = max > 0 ? memchr(p, 0, max) : NULL;
    if (!nul)
        return max == size ? -ENAMETOOLONG : -EFAULT;
    *ret = p;
    return nul - p;
}

/* The guest may change the string between the search for its end and the copy:
 * the copy is terminated and measured again. */
int64_t
guest_string(struct task *t, gaddr a, char *buf, size_t size)
{
    const char *p;
    int64_t len = guest_find_string(t, a, size, &p);

    if (len < 0)
        return len;
    memcpy(buf, p, (size_t)len);
    buf[len] = 0;
    return (int64_t)strlen(buf);
}

int
guest_strdup(struct task *t, gaddr a, size_t size, OWN char **ret)
{
    const char *p;
    int64_t len = guest_find_string(t, a, size, &p);

    if (len < 0)
        return (int)len;
    char *copy = malloc((size_t)len + 1);
    if (!copy)
        return -ENOMEM;
    memcpy(copy, p, (size_t)len);
    copy[len] = 0;
    *ret = copy;
    return 0;
}

/* Two buffers, since a call has at most two paths. */
const char *
guest_path(struct task *t, int which, gaddr a, int *err)
{
    char *buf = t->kernel->copies->path[which];
    int64_t len = guest_string(t, a, buf, PATH_BYTES_MAX);

    *err = len < 0 ? (int)len : 0;
    return len < 0 ? NULL : buf;
}
