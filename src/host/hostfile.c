/* Open files over descriptors of the host.
 *
 * Problem: reads and writes must never block the OS thread, but the descriptor
 * is often shared with other processes, which would see O_NONBLOCK if it were
 * set.
 *
 * Idea: pipes and terminals are opened again through /proc/self/fd if possible,
 * which gives them flags of their own. Sockets use MSG_DONTWAIT. All others are
 * polled before each transfer. */
#include "host/hostfile.h"

#include "kernel/kernel.h"
#include "kernel/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

/* Maximum of one transfer, so that a call of a guest takes bounded time. */
enum { TRANSFER_MAX = 1 << 20 };

/* How a transfer avoids blocking the OS thread. */
enum way {
    WAY_DIRECT,   /* never blocks: a regular file */
    WAY_NONBLOCK, /* opened again with O_NONBLOCK */
    WAY_SOCKET,
    WAY_ASK, /* poll first; write at most what surely fits */
};

/* The object of an open file. Reading and writing have a watch each, because
 * their waiters wait for different events. */
struct hostfile {
    struct kernel *kernel;
    int hfd;
    enum way way;
    bool is_tty;
    bool rd_short, wr_short; /* the last transfer wanted more */
    struct host_watch rd, wr;
};

/* --- attributes */

static int64_t
hostfile_ns_of(const struct timespec *ts)
{
    return time_join(ts->tv_sec, ts->tv_nsec);
}

void
hostfile_attr(const struct vfs *v, const struct stat *st, struct attr *ret)
{
    *ret = (struct attr){
        .ino = st->st_ino,
        .rdev = st->st_rdev,
        .size = (uint64_t)st->st_size,
        .blocks = (uint64_t)st->st_blocks,
        .mode = st->st_mode,
        .nlink = (uint32_t)st->st_nlink,
        .uid = st->st_uid == geteuid() ? v->user->uid : NOBODY_ID,
        .gid = st->st_gid == getegid() ? v->user->gid : NOBODY_ID,
        .is_hosts = true,
        .blksize = (uint32_t)st->st_blksize,
        .atime_ns = hostfile_ns_of(&st->st_atim),
        .mtime_ns = hostfile_ns_of(&st->st_mtim),
        .ctime_ns = hostfile_ns_of(&st->st_ctim),
    };
}

static int
hostfile_getattr(struct file *f, struct attr *ret)
{
    const struct hostfile *h = f->obj;
    struct stat st;

    if (fstat(h->hfd, &st) < 0)
        return -errno;
    hostfile_attr(f->vfs, &st, ret);
    return 0;
}

/* --- transfers */

static bool
hostfile_is_ready(const struct hostfile *h, short events)
{
    struct pollfd p = {.fd = h->hfd, .events = events};

    return poll(&p, 1, 0) > 0;
}

static int64_t
hostfile_read_host(const struct hostfile *h, void *buf, size_t len)
{
    if (h->way == WAY_SOCKET)
        return recv(h->hfd, buf, len, MSG_DONTWAIT);
    if (h->way == WAY_ASK && !hostfile_is_ready(h, POLLIN)) {
        errno = EAGAIN;
        return -1;
    }
    return read(h->hfd, buf, len);
}

/* Returns the part of `len` bytes that one transfer moves, so that no call
 * keeps the sandbox for long. */
static size_t
hostfile_step(size_t len)
{
    return len < TRANSFER_MAX ? len : TRANSFER_MAX;
}

/* Returns the result of a transfer that gave n, and moves *pos on. */
static int64_t
hostfile_moved(int64_t n, uint64_t *pos)
{
    if (n < 0)
        return -errno;
    if (pos)
        *pos += (uint64_t)n;
    return n;
}

/* A read at a position of its own (pread) is only possible in a regular file,
 * which never blocks. At the file's own position, the host's offset is used: it
 * is shared with the processes that have the same open file. */
static int64_t
hostfile_read(struct file *f, struct task *t, void *buf, size_t len,
              uint64_t *pos)
{
    struct hostfile *h = f->obj;
    int64_t n;

    (void)t;
    len = hostfile_step(len);
    do
        n = pos && pos != &f->pos ? pread(h->hfd, buf, len, (off_t)*pos)
                                  : hostfile_read_host(h, buf, len);
    while (n < 0 && errno == EINTR);
    h->rd_short = n < 0;
    return hostfile_moved(n, pos);
}

/* Writes without leaving a SIGPIPE behind in this process.
 *
 * MSG_NOSIGNAL exists for sockets only. The signal is therefore blocked in this
 * thread, and removed if it is pending now but was not before: then this write
 * has raised it. */
static int64_t
hostfile_write_quietly(int hfd, const void *buf, size_t len)
{
    static const struct timespec no_wait;
    sigset_t pipe_set, pending, old;

    sigemptyset(&pipe_set);
    sigaddset(&pipe_set, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe_set, &old);
    int64_t n = write(hfd, buf, len);
    int err = errno;
    if (n < 0 && err == EPIPE && !sigismember(&pending, SIGPIPE))
        (void)sigtimedwait(&pipe_set, NULL, &no_wait);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    errno = err;
    return n;
}

/* A descriptor that polls as writable accepts at least PIPE_BUF bytes without
 * blocking, if it is a pipe; a larger write to a shared one could block. */
static int64_t
hostfile_write_host(const struct hostfile *h, const void *buf, size_t len)
{
    if (h->way == WAY_SOCKET)
        return send(h->hfd, buf, len, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (h->way == WAY_DIRECT)
        return write(h->hfd, buf, len);
    if (h->way == WAY_ASK && !hostfile_is_ready(h, POLLOUT)) {
        errno = EAGAIN;
        return -1;
    }
    if (h->way == WAY_ASK && len > PIPE_BUF)
        len = PIPE_BUF;
    return hostfile_write_quietly(h->hfd, buf, len);
}

static int64_t
hostfile_write(struct file *f, struct task *t, const void *buf, size_t len,
               uint64_t *pos)
{
    struct hostfile *h = f->obj;
    int64_t n;

    (void)t;
    len = hostfile_step(len);
    do
        n = pos && pos != &f->pos ? pwrite(h->hfd, buf, len, (off_t)*pos)
                                  : hostfile_write_host(h, buf, len);
    while (n < 0 && errno == EINTR);
    h->wr_short = n < (int64_t)len;
    return hostfile_moved(n, pos);
}

static int64_t
hostfile_seek(struct file *f, int64_t offset, int whence)
{
    const struct hostfile *h = f->obj;
    off_t at = lseek(h->hfd, offset, whence);

    return at < 0 ? -errno : at;
}

static int
hostfile_truncate(struct file *f, uint64_t size)
{
    const struct hostfile *h = f->obj;

    return ftruncate(h->hfd, (off_t)size) < 0 ? -errno : 0;
}

/* --- readiness */

/* A poll table that adds nobody to the queue: the waiters are in it already. */
static void
hostfile_stay_in_queue(struct poll_table *pt, struct waitq *q)
{
    (void)pt;
    (void)q;
}

/* Reports readiness, and asks the host to watch if somebody waits.
 *
 * The host watches only events that are not true now, or that the last transfer
 * missed: such an event may have arrived since. Watching an event that is true
 * all the time would wake a reader again and again because the file is
 * writable. */
static short
hostfile_watch(struct hostfile *h, struct host_watch *w, short events,
               bool *missed, struct poll_table *pt)
{
    struct poll_table rearm = {hostfile_stay_in_queue};
    short now = host_watch_poll(w, h->kernel, events, NULL);

    poll_wait(pt, &w->queue);
    if ((!now || *missed) && !waitq_is_empty(&w->queue)) {
        *missed = false;
        now = host_watch_poll(w, h->kernel, events, &rearm);
    }
    return now;
}

/* Regular files are always ready, as for poll(2). */
static short
hostfile_poll(struct file *f, struct poll_table *pt)
{
    struct hostfile *h = f->obj;
    short events = 0;

    if (h->way == WAY_DIRECT)
        return POLLIN | POLLRDNORM | POLLOUT | POLLWRNORM;
    if (file_is_readable(f))
        events = (short)(events |
                         hostfile_watch(h, &h->rd, POLLIN, &h->rd_short, pt));
    if (file_is_writable(f))
        events = (short)(events |
                         hostfile_watch(h, &h->wr, POLLOUT, &h->wr_short, pt));
    if (events & POLLIN)
        events |= POLLRDNORM;
    if (events & POLLOUT)
        events |= POLLWRNORM;
    return events;
}

/* --- ioctl */

/* The requests that a guest may make, and the size of the answer. */
static const struct {
    uint32_t cmd;
    size_t size;
    bool needs_tty;
} questions[] = {
    {TCGETS, sizeof(struct tty_termios), true},
    {TIOCGWINSZ, sizeof(struct tty_winsize), true},
    {FIONREAD, sizeof(int32_t), false},
};

/* A guest may ask about the terminal of the host but not change it: its
 * settings belong to the user of the host, who would be left with them. */
static int64_t
hostfile_ioctl(struct file *f, struct task *t, uint32_t cmd, uint32_t arg)
{
    const struct hostfile *h = f->obj;
    uint8_t answer[64];

    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++) {
        if (questions[i].cmd != cmd)
            continue;
        if (questions[i].needs_tty && !h->is_tty)
            return -ENOTTY;
        if (ioctl(h->hfd, cmd, answer) < 0)
            return -errno;
        return copy_to_guest(t, arg, answer, questions[i].size);
    }
    return h->is_tty && (cmd >> 8) == 'T' ? -EPERM : -ENOTTY;
}

/* --- life */

static void
hostfile_release(struct file *f)
{
    struct hostfile *h = f->obj;

    if (!h)
        return;
    host_watch_fini(&h->rd);
    host_watch_fini(&h->wr);
    (void)close(h->hfd);
    free(h);
}

static const struct file_ops stream_ops = {
    .kind = "host",
    .read = hostfile_read,
    .write = hostfile_write,
    .poll = hostfile_poll,
    .getattr = hostfile_getattr,
    .ioctl = hostfile_ioctl,
    .release = hostfile_release,
};

static const struct file_ops regular_ops = {
    .kind = "host",
    .read = hostfile_read,
    .write = hostfile_write,
    .poll = hostfile_poll,
    .seek = hostfile_seek,
    .getattr = hostfile_getattr,
    .ioctl = hostfile_ioctl,
    .truncate = hostfile_truncate,
    .release = hostfile_release,
};

/* Opens the same pipe or terminal again, with flags of its own. Returns a
 * descriptor, or -1 if the host does not allow it. */
static int
hostfile_reopen_nonblock(int hfd, uint32_t flags)
{
    char path[32];

    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", hfd);
    return open(path,
                (int)(flags & O_ACCMODE) | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

/* Chooses the way, from the kind of the file. Directories and block devices
 * never block. */
static int
hostfile_open_host(struct hostfile *h, int hfd, uint32_t flags)
{
    struct stat st;

    h->hfd = -1;
    if (fstat(hfd, &st) < 0)
        return -errno;
    h->is_tty = S_ISCHR(st.st_mode) && isatty(hfd);
    if (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode) || S_ISDIR(st.st_mode))
        h->way = WAY_DIRECT;
    else if (S_ISSOCK(st.st_mode))
        h->way = WAY_SOCKET;
    else
        h->way = WAY_ASK;
    if (h->way == WAY_ASK) {
        h->hfd = hostfile_reopen_nonblock(hfd, flags);
        if (h->hfd >= 0)
            h->way = WAY_NONBLOCK;
    }
    if (h->hfd < 0)
        h->hfd = fcntl(hfd, F_DUPFD_CLOEXEC, 0);
    return h->hfd < 0 ? -errno : 0;
}

int
hostfile_new(struct kernel *k, int hfd, uint32_t flags, OWN struct file **ret)
{
    struct hostfile *h = calloc(1, sizeof *h);

    if (!h)
        return -ENOMEM;
    int r = hostfile_open_host(h, hfd, flags);
    if (r < 0) {
        free(h);
        return r;
    }
    h->kernel = k;
    host_watch_init(&h->rd, k, h->hfd);
    host_watch_init(&h->wr, k, h->hfd);
    bool has_pos = h->way == WAY_DIRECT;
    r = file_new(&k->vfs, has_pos ? &regular_ops : &stream_ops, h, flags, ret);
    if (r == 0)
        (*ret)->has_pos = has_pos;
    return r;
}
