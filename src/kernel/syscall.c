/* The table of system calls, from syscalls.def.
 *
 * Numbers are those of Linux for new 32-bit targets (asm-generic), and index
 * both tables. A row without a handler is a call that does not exist
 * (-ENOSYS). */
#include "kernel/syscall.h"

#include "kernel/abi.h"
#include "kernel/task.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/xattr.h>

#define SYSCALL(nr, name, args, support, missing) \
    [nr] = {#name, args, missing, sys_##name, support},
#define SYSCALL_AS(nr, name, fn, args, support, missing) \
    [nr] = {#name, args, missing, sys_##fn, support},
static const struct syscall_row rows[SYSCALL_MAX] = {
#include "kernel/syscalls.def"
};
#undef SYSCALL

/* Argument `arg` must have none of the bits `unknown`. */
struct syscall_flags {
    uint32_t arg, unknown;
};

#define SYSCALL(nr, name, args, support, missing)
#define FLAGS(nr, arg, accepted) [nr] = {arg, ~(uint32_t)(accepted)},
static const struct syscall_flags flags[SYSCALL_MAX] = {
#include "kernel/syscalls.def"
};
#undef SYSCALL

/* A row without FLAGS has no unknown bits, so it passes. */
int
syscall_check(struct task *t, uint32_t nr, const uint32_t a[6])
{
    char first = rows[nr].args[0];

    if (a[flags[nr].arg] & flags[nr].unknown)
        return -EINVAL;
    if (first != 'f' && first != 'F')
        return 0;
    const struct file *f = fd_find(t, (int)a[0]);
    return f && (first == 'F' || !(f->flags & O_PATH)) ? 0 : -EBADF;
}

const struct syscall_row *
syscall_row(uint32_t nr)
{
    return nr < SYSCALL_MAX && rows[nr].fn ? &rows[nr] : NULL;
}
