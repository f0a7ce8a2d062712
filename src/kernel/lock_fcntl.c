/* Record locks as fcntl(2) has them. */
#include "kernel/kernel.h"
#include "kernel/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/* Commands of the guest, whose struct flock always has 64-bit offsets: the
 * first three are those of 32-bit targets, the others those of 64-bit ones. */
enum {
    GUEST_GETLK64 = 12,
    GUEST_SETLK64 = 13,
    GUEST_SETLKW64 = 14,
    GUEST_GETLK = 5,
    GUEST_SETLK = 6,
    GUEST_SETLKW = 7,
    GUEST_OFD_GETLK = 36,
    GUEST_OFD_SETLK = 37,
    GUEST_OFD_SETLKW = 38,
};

struct guest_flock {
    int16_t type, whence;
    int32_t pad;
    int64_t start, len;
    int32_t pid, pad2;
};
_Static_assert(sizeof(struct guest_flock) == 32, "struct flock of the guest");

/* SEEK_CUR uses the position of the open file; a file without one is at 0. */
static int
lock_fcntl_base_of(struct file *f, int whence, int64_t *ret)
{
    struct attr a;
    int r;

    switch (whence) {
    case SEEK_SET:
        *ret = 0;
        return 0;
    case SEEK_CUR:
        *ret = f->has_pos ? (int64_t)f->pos : 0;
        return 0;
    case SEEK_END:
        r = file_getattr(f, &a);
        if (r == 0)
            *ret = (int64_t)a.size;
        return r;
    default:
        return -EINVAL;
    }
}

/* Converts a struct flock to a range. A negative length means the bytes before
 * the start, and 0 all bytes to the end of the file. */
static int
range_of(struct file *f, const struct guest_flock *g, struct lock_range *ret)
{
    int64_t base = 0, last;

    int r = lock_fcntl_base_of(f, g->whence, &base);
    if (r < 0)
        return r;
    if (__builtin_add_overflow(base, g->start, &base))
        return -EOVERFLOW;
    if (base < 0)
        return -EINVAL;
    if (g->len < 0) {
        if (base + g->len < 0)
            return -EINVAL;
        *ret = (struct lock_range){base + g->len, base - 1};
        return 0;
    }
    if (__builtin_add_overflow(base, g->len - 1, &last))
        return -EOVERFLOW;
    *ret = (struct lock_range){base, g->len ? last : INT64_MAX};
    return 0;
}

/* F_RDLCK, F_WRLCK and F_UNLCK have other values than our enum. */
static int
lock_fcntl_type_of(int16_t type, enum lock_type *ret)
{
    switch (type) {
    case F_RDLCK:
        *ret = LOCKED_READ;
        return 0;
    case F_WRLCK:
        *ret = LOCKED_WRITE;
        return 0;
    case F_UNLCK:
        *ret = LOCKED_NOT;
        return 0;
    default:
        return -EINVAL;
    }
}

/* An absent conflict is reported as F_UNLCK; the other members stay, as POSIX
 * says. */
static int
lock_fcntl_get(struct task *t, struct file *f, struct guest_flock *g,
               struct record_lock *lock)
{
    if (lock->type == LOCKED_NOT)
        return -EINVAL;
    lock_get(t, f, lock);
    if (lock->type == LOCKED_NOT) {
        g->type = F_UNLCK;
        return 0;
    }
    g->type = lock->type == LOCKED_READ ? F_RDLCK : F_WRLCK;
    g->whence = SEEK_SET;
    g->start = lock->range.first;
    g->len = lock->range.last == INT64_MAX
                 ? 0
                 : lock->range.last - lock->range.first + 1;
    g->pid = lock->pid;
    return 0;
}

static bool
lock_fcntl_is_known(uint32_t cmd)
{
    return (cmd >= GUEST_GETLK && cmd <= GUEST_SETLKW) ||
           (cmd >= GUEST_GETLK64 && cmd <= GUEST_SETLKW64) ||
           (cmd >= GUEST_OFD_GETLK && cmd <= GUEST_OFD_SETLKW);
}

/* A read lock needs a readable descriptor, and a write lock a writable one. */
int64_t
lock_fcntl(struct task *t, struct file *f, uint32_t cmd, gaddr at)
{
    struct record_lock lock = {.is_ofd = cmd >= GUEST_OFD_GETLK};
    struct guest_flock g;

    if (!lock_fcntl_is_known(cmd))
        return -EINVAL;
    int r = copy_from_guest(t, &g, at, sizeof g);
    if (r == 0)
        r = lock_fcntl_type_of(g.type, &lock.type);
    if (r == 0)
        r = range_of(f, &g, &lock.range);
    if (r < 0)
        return r;
    if (lock.is_ofd && g.pid)
        return -EINVAL;
    if (cmd == GUEST_GETLK || cmd == GUEST_GETLK64 || cmd == GUEST_OFD_GETLK) {
        r = lock_fcntl_get(t, f, &g, &lock);
        return r < 0 ? r : copy_to_guest(t, at, &g, sizeof g);
    }
    if (lock.type == LOCKED_READ && !file_is_readable(f))
        return -EBADF;
    if (lock.type == LOCKED_WRITE && !file_is_writable(f))
        return -EBADF;
    return lock_set(t, f, &lock,
                    cmd == GUEST_SETLKW || cmd == GUEST_SETLKW64 ||
                        cmd == GUEST_OFD_SETLKW);
}
