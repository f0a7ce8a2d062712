/* System calls on message queues. */
#include "kernel/abi.h"
#include "kernel/eventfd.h"
#include "kernel/kernel.h"
#include "kernel/mqueue.h"
#include "kernel/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* struct mq_attr of the guest. */
struct abi_mq_attr {
    int32_t flags, maxmsg, msgsize, curmsgs, unused[4];
};

/* --- names */

/* Reads the name of a queue, without the slash that POSIX puts before it. */
static int
sys_mqueue_get_name(struct task *t, gaddr at, char buf[NAME_BYTES_MAX + 1],
                    struct name *ret)
{
    int64_t n = guest_string(t, at, buf, NAME_BYTES_MAX + 1);

    if (n < 0)
        return (int)n;
    *ret = (struct name){buf, strlen(buf)};
    if (!ret->len)
        return -ENOENT;
    return strchr(buf, '/') || !strcmp(buf, ".") || !strcmp(buf, "..") ? -EACCES
                                                                       : 0;
}

static int
sys_mqueue_create(struct task *t, struct name name, const union sysarg *a,
                  struct mqueue **ret)
{
    struct mqueue_size size = {MQUEUE_MESSAGES, MQUEUE_BYTES};
    struct abi_mq_attr in;

    if (a[3].addr) {
        int r = copy_from_guest(t, &in, a[3].addr, sizeof in);
        if (r < 0)
            return r;
        if (in.maxmsg <= 0 || in.msgsize <= 0)
            return -EINVAL;
        size = (struct mqueue_size){(uint32_t)in.maxmsg, (uint32_t)in.msgsize};
    }
    return mqueue_new(t, name, a[2].u & ~t->umask, size, ret);
}

/* O_RDONLY, O_WRONLY and O_RDWR need these rights. */
static int
sys_mqueue_check_access(const struct task *t, const struct mqueue *q,
                        uint32_t flags)
{
    static const int wanted[] = {R_OK, W_OK, R_OK | W_OK};
    struct attr attr = {0};

    if ((flags & O_ACCMODE) == O_ACCMODE)
        return -EINVAL;
    mqueue_getattr(q, &attr);
    return vfs_access(&t->as.cred, &attr, wanted[flags & O_ACCMODE]);
}

/* mq_open(name, flags, mode, attr): who creates a queue may open it, whatever
 * its mode. The descriptor is always closed by exec. */
int64_t
sys_mq_open(struct task *t, const union sysarg *a)
{
    uint32_t flags = a[1].u;
    char buf[NAME_BYTES_MAX + 1];
    struct name name;
    struct file *f;
    bool is_new = false;

    int r = sys_mqueue_get_name(t, a[0].addr, buf, &name);
    if (r < 0)
        return r;
    struct mqueue *q = mqueue_find(t->kernel, name);
    if (!q) {
        if (!(flags & O_CREAT))
            return -ENOENT;
        r = sys_mqueue_create(t, name, a, &q);
        is_new = r == 0;
    } else if (flags & O_CREAT && flags & O_EXCL) {
        r = -EEXIST;
    } else {
        r = sys_mqueue_check_access(t, q, flags);
    }
    if (r < 0)
        return r;
    r = mqueue_open(q, flags, &f);
    if (r == 0)
        r = fd_install(t, f, 0, true);
    if (r < 0 && is_new)
        mqueue_unlink(q);
    return r;
}

/* mq_unlink(name): as in a directory with the sticky bit. */
int64_t
sys_mq_unlink(struct task *t, const union sysarg *a)
{
    char buf[NAME_BYTES_MAX + 1];
    struct attr attr = {0};
    struct name name;

    int r = sys_mqueue_get_name(t, a[0].addr, buf, &name);
    if (r < 0)
        return r;
    struct mqueue *q = mqueue_find(t->kernel, name);
    if (!q)
        return -ENOENT;
    mqueue_getattr(q, &attr);
    if (t->as.cred.uid != 0 && t->as.cred.uid != attr.uid)
        return -EPERM;
    mqueue_unlink(q);
    return 0;
}

/* --- messages */

/* Reads the deadline of a call: NS_NEVER without one. It is a time of
 * CLOCK_REALTIME. */
static int
sys_mqueue_get_deadline(struct task *t, gaddr at, int64_t *ret)
{
    struct clock *c = &t->kernel->clock;
    int64_t ns;

    *ret = NS_NEVER;
    if (!at)
        return 0;
    int r = abi_get_time(t, at, &ns);
    if (r == 0)
        *ret = clock_after(c, ns - clock_real_ns(c));
    return r;
}

/* Waits, or says why not. */
static int
sys_mqueue_wait(struct task *t, struct file *f, int64_t deadline, bool receives)
{
    if (f->flags & O_NONBLOCK)
        return -EAGAIN;
    if (thread_deadline(t->thread, deadline))
        return -ETIMEDOUT;
    t->thread->call.restartable = true;
    return mqueue_wait(f, t, receives);
}

/* mq_timedsend(queue, text, len, priority, deadline) */
int64_t
sys_mq_timedsend(struct task *t, const union sysarg *a)
{
    struct file *f = fd_file(t, a[0].i);
    struct mqueue *q = mqueue_of(f);
    int64_t deadline;

    if (a[3].u >= MQUEUE_PRIORITIES)
        return -EINVAL;
    int r = sys_mqueue_get_deadline(t, a[4].addr, &deadline);
    if (r < 0)
        return r;
    if (!q || !file_is_writable(f))
        return -EBADF;
    if (a[2].u > mqueue_size(q).bytes)
        return -EMSGSIZE;
    r = mqueue_send(q, t, a[1].addr, a[2].u, a[3].u);
    return r == -EAGAIN ? sys_mqueue_wait(t, f, deadline, false) : r;
}

/* mq_timedreceive(queue, buf, len, &priority, deadline) */
int64_t
sys_mq_timedreceive(struct task *t, const union sysarg *a)
{
    struct file *f = fd_file(t, a[0].i);
    struct mqueue *q = mqueue_of(f);
    int64_t deadline;

    int64_t r = sys_mqueue_get_deadline(t, a[4].addr, &deadline);
    if (r < 0)
        return r;
    if (!q || !file_is_readable(f))
        return -EBADF;
    if (a[2].u < mqueue_size(q).bytes)
        return -EMSGSIZE;
    r = mqueue_receive(q, t, a[1].addr, a[3].addr);
    return r == -EAGAIN ? sys_mqueue_wait(t, f, deadline, true) : r;
}

/* --- notification and attributes */

/* SIGEV_THREAD: the libc has a thread that reads an event counter, whose
 * descriptor is in place of the signal. */
static int
sys_mqueue_get_event(struct task *t, gaddr at, struct mqueue_event *ret)
{
    int32_t in[3];

    int r = copy_from_guest(t, in, at, sizeof in);
    if (r < 0)
        return r;
    *ret = (struct mqueue_event){
        .value = (uint32_t)in[0], .sig = in[1], .notify = in[2]};
    switch (ret->notify) {
    case SIGEV_NONE:
        return 0;
    case SIGEV_SIGNAL:
        return ret->sig < 0 || ret->sig > NSIG_MAX ? -EINVAL : 0;
    case SIGEV_THREAD: {
        struct file *f = fd_find(t, ret->sig);
        if (!f || !eventfd_is(f))
            return -EBADF;
        ret->counter = file_get(f);
        ret->sig = 0;
        return 0;
    }
    default:
        return -EINVAL;
    }
}

/* mq_notify(queue, event): NULL ends the registration. */
int64_t
sys_mq_notify(struct task *t, const union sysarg *a)
{
    struct mqueue *q = mqueue_of(fd_file(t, a[0].i));
    struct mqueue_event e = {0};

    int r = a[1].addr ? sys_mqueue_get_event(t, a[1].addr, &e) : 0;
    if (r < 0)
        return r;
    if (!q) {
        file_put(e.counter);
        return -EBADF;
    }
    if (a[1].addr)
        return mqueue_register(q, t, e);
    mqueue_unregister(q, t);
    return 0;
}

/* mq_getsetattr(queue, new, old): only O_NONBLOCK can be changed. */
int64_t
sys_mq_getsetattr(struct task *t, const union sysarg *a)
{
    struct file *f = fd_file(t, a[0].i);
    const struct mqueue *q = mqueue_of(f);
    struct abi_mq_attr in, out = {0};

    int r = a[1].addr ? copy_from_guest(t, &in, a[1].addr, sizeof in) : 0;
    if (r < 0)
        return r;
    if (a[1].addr && in.flags & ~O_NONBLOCK)
        return -EINVAL;
    if (!q)
        return -EBADF;
    out.flags = (int32_t)(f->flags & O_NONBLOCK);
    out.maxmsg = (int32_t)mqueue_size(q).messages;
    out.msgsize = (int32_t)mqueue_size(q).bytes;
    out.curmsgs = (int32_t)mqueue_count(q);
    if (a[1].addr)
        f->flags = (f->flags & ~(uint32_t)O_NONBLOCK) |
                   (uint32_t)(in.flags & O_NONBLOCK);
    return a[2].addr ? copy_to_guest(t, a[2].addr, &out, sizeof out) : 0;
}
