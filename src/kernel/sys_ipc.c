/* System calls that create files without a path: pipes, event counters, timers,
 * signals and notifications. File locks are here too.
 *
 * Each handler creates the object, then installs its descriptor. A descriptor
 * that cannot be reported to the guest is closed again. */
#include "kernel/abi.h"
#include "kernel/eventfd.h"
#include "kernel/inotify.h"
#include "kernel/kernel.h"
#include "kernel/lock.h"
#include "kernel/pipe.h"
#include "kernel/signalfd.h"
#include "kernel/sys_path.h"
#include "kernel/syscall.h"
#include "kernel/timerfd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

/* pipe2(int fds[2], flags) */
int64_t
sys_pipe2(struct task *t, const union sysarg *a)
{
    uint32_t flags = a[1].u;
    struct file *rd, *wr;
    int32_t fds[2];

    int r = pipe_new(t->kernel, flags & (O_NONBLOCK | O_DIRECT), &rd, &wr);
    if (r == 0)
        r = fd_install_pair(t, rd, wr, flags & O_CLOEXEC, fds);
    if (r < 0)
        return r;
    r = copy_to_guest(t, a[0].addr, fds, sizeof fds);
    if (r < 0)
        fd_close_pair(t, fds); /* the guest never learned their numbers */
    return r;
}

/* eventfd2(count, flags) */
int64_t
sys_eventfd2(struct task *t, const union sysarg *a)
{
    uint32_t flags = a[1].u;
    struct file *f;

    int r = eventfd_new(t->kernel, a[0].u, flags & EFD_SEMAPHORE,
                        flags & O_NONBLOCK, &f);
    return r < 0 ? r : fd_install(t, f, 0, flags & EFD_CLOEXEC);
}

/* --- timers */

/* Alarm clocks would wake a sleeping computer, which needs rights on Linux. */
static int
sys_ipc_check_clock(int32_t clock)
{
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_MONOTONIC:
    case CLOCK_BOOTTIME:
        return 0;
    case CLOCK_REALTIME_ALARM:
    case CLOCK_BOOTTIME_ALARM:
        return -EPERM;
    default:
        return -EINVAL;
    }
}

/* timerfd_create(clock, flags) */
int64_t
sys_timerfd_create(struct task *t, const union sysarg *a)
{
    uint32_t flags = a[1].u;
    struct file *f;

    int r = sys_ipc_check_clock(a[0].i);
    if (r == 0)
        r = timerfd_new(t->kernel, a[0].i == CLOCK_REALTIME, flags & O_NONBLOCK,
                        &f);
    return r < 0 ? r : fd_install(t, f, 0, flags & TFD_CLOEXEC);
}

/* struct itimerspec: two timespecs, the interval first. */
enum { VALUE_AT = sizeof(struct abi_timespec) };

/* The interval comes first in struct itimerspec. */
static int
sys_ipc_get_spec(struct task *t, gaddr at, struct timerfd_spec *ret)
{
    int r = abi_get_time(t, at, &ret->interval_ns);

    return r < 0 ? r : abi_get_time(t, at + VALUE_AT, &ret->value_ns);
}

static int
sys_ipc_put_spec(struct task *t, gaddr at, const struct timerfd_spec *spec)
{
    int r = abi_put_time(t, at, spec->interval_ns);

    return r < 0 ? r : abi_put_time(t, at + VALUE_AT, spec->value_ns);
}

/* timerfd_settime(fd, flags, new, old): errors in the order of Linux, the new
 * value first. */
int64_t
sys_timerfd_settime(struct task *t, const union sysarg *a)
{
    const uint32_t known = TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET;
    struct file *f = fd_find(t, a[0].i);
    struct timerfd_spec spec, old;

    int r = sys_ipc_get_spec(t, a[2].addr, &spec);
    if (r < 0)
        return r;
    if (a[1].u & ~known)
        return -EINVAL;
    if (!f)
        return -EBADF;
    r = timerfd_set(f, a[1].u & TFD_TIMER_ABSTIME, &spec, &old);
    if (r < 0 || !a[3].addr)
        return r;
    return sys_ipc_put_spec(t, a[3].addr, &old);
}

/* timerfd_gettime(fd, current) */
int64_t
sys_timerfd_gettime(struct task *t, const union sysarg *a)
{
    struct file *f = fd_file(t, a[0].i);
    struct timerfd_spec spec;

    int r = timerfd_get(f, &spec);
    return r < 0 ? r : sys_ipc_put_spec(t, a[1].addr, &spec);
}

/* --- signals */

/* signalfd4(fd, mask, size, flags): creates a file for fd -1, otherwise changes
 * the set of signals of fd. */
int64_t
sys_signalfd4(struct task *t, const union sysarg *a)
{
    uint32_t flags = a[3].u;
    struct file *f;
    uint64_t set;

    if (a[2].u != sizeof set)
        return -EINVAL;
    int r = copy_from_guest(t, &set, a[1].addr, sizeof set);
    if (r < 0)
        return r;
    if (a[0].i == -1) {
        r = signalfd_new(t, set, flags & O_NONBLOCK, &f);
        return r < 0 ? r : fd_install(t, f, 0, flags & O_CLOEXEC);
    }
    f = fd_find(t, a[0].i);
    r = f ? signalfd_set(f, set) : -EBADF;
    return r < 0 ? r : a[0].i;
}

/* --- changes of files */

/* inotify_init1(flags) */
int64_t
sys_inotify_init1(struct task *t, const union sysarg *a)
{
    uint32_t flags = a[0].u;
    struct file *f;

    int r = inotify_new(t->kernel, flags & O_NONBLOCK, &f);
    return r < 0 ? r : fd_install(t, f, 0, flags & IN_CLOEXEC);
}

/* inotify_add_watch(fd, path, mask): needs the right to read the file. */
int64_t
sys_inotify_add_watch(struct task *t, const union sysarg *a)
{
    uint32_t mask = a[2].u,
             at = mask & IN_DONT_FOLLOW ? AT_SYMLINK_NOFOLLOW : 0;
    struct file *f = fd_find(t, a[0].i);
    struct vnode node;
    struct attr attr;

    if (!(mask & IN_ALL_EVENTS))
        return -EINVAL;
    if (!f)
        return -EBADF;
    if (mask & IN_MASK_ADD && mask & IN_MASK_CREATE)
        return -EINVAL;
    int r = sys_find_node(t, AT_FDCWD, a[1].addr, at, &node);
    if (r == 0)
        r = vnode_getattr(&node, &attr);
    if (r != 0)
        return r;
    if (mask & IN_ONLYDIR && !S_ISDIR(attr.mode))
        return -ENOTDIR;
    r = vfs_access(&t->as.cred, &attr, R_OK);
    return r < 0 ? r : inotify_add(f, &node, mask);
}

/* inotify_rm_watch(fd, wd) */
int64_t
sys_inotify_rm_watch(struct task *t, const union sysarg *a)
{
    return inotify_remove(fd_file(t, a[0].i), a[1].i);
}

/* --- locks */

/* flock(fd, operation) */
int64_t
sys_flock(struct task *t, const union sysarg *a)
{
    struct file *f = fd_file(t, a[0].i);
    bool waits = !(a[1].u & LOCK_NB);

    switch (a[1].u & ~(uint32_t)LOCK_NB) {
    case LOCK_SH:
        return lock_flock(t, f, LOCKED_READ, waits);
    case LOCK_EX:
        return lock_flock(t, f, LOCKED_WRITE, waits);
    case LOCK_UN:
        return lock_flock(t, f, LOCKED_NOT, waits);
    default:
        return -EINVAL;
    }
}
