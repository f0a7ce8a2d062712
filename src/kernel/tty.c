/* Terminals: the object, its slave side as an open file, its attributes.
 *
 * The operations of the slave take a reference of their own: a signal that they
 * send may close the last file of the terminal. */
#include "kernel/tty.h"

#include "kernel/kernel.h"
#include "kernel/tty_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <termios.h>

enum { PTS_MAJOR = 136, TENTH_NS = 100000000 };

struct tty *
tty_get(struct tty *tty)
{
    tty->refs++;
    return tty;
}

/* The queues are woken when they go, so nobody waits for a terminal that is
 * gone. */
void
tty_put(OWN struct tty *tty)
{
    if (!tty || --tty->refs)
        return;
    list_remove(&tty->link);
    timer_stop(&tty->kernel->clock, &tty->between);
    waitq_fini(&tty->slave_queue);
    waitq_fini(&tty->master_queue);
    limits_uncharge(&tty->kernel->limits, LIMIT_memory, sizeof *tty);
    free(tty);
}

/* Hung-up terminals are not in the list, and their numbers can be used
 * again. */
struct tty *
tty_find(struct kernel *k, unsigned index)
{
    LIST_FOR_EACH(it, &k->ttys) {
        struct tty *tty = CONTAINER_OF(it, struct tty, link);
        if (tty->index == index)
            return tty;
    }
    return NULL;
}

int
tty_next_index(struct kernel *k, unsigned from)
{
    for (unsigned i = from; i < TTY_MAX; i++)
        if (tty_find(k, i))
            return (int)i;
    return -1;
}

unsigned
tty_index(const struct tty *tty)
{
    return tty->index;
}

uint64_t
tty_rdev(const struct tty *tty)
{
    return makedev(PTS_MAJOR, tty->index);
}

int32_t
tty_foreground(const struct tty *tty)
{
    return tty->pgid;
}

void
tty_getattr(const struct tty *tty, struct attr *ret)
{
    ret->mode = S_IFCHR | tty->mode;
    ret->uid = tty->uid;
    ret->gid = tty->gid;
    ret->rdev = tty_rdev(tty);
}

int
tty_setattr(struct tty *tty, const struct attr *a, unsigned what)
{
    if (what & ATTR_SIZE)
        return -EINVAL;
    if (what & ATTR_MODE)
        tty->mode = a->mode & 07777;
    if (what & ATTR_UID)
        tty->uid = a->uid;
    if (what & ATTR_GID)
        tty->gid = a->gid;
    return 0;
}

/* --- settings */

void
tty_get_termios(const struct tty *tty, struct tty_termios *ret)
{
    *ret = tty->tio;
}

/* Without IXON nobody could start stopped output again, so it is started
 * here. */
void
tty_set_termios(struct tty *tty, const struct tty_termios *tio)
{
    uint32_t changed = tty->tio.lflag ^ tio->lflag;
    bool lost_ixon = (tty->tio.iflag & IXON) && !(tio->iflag & IXON);

    tty->tio = *tio;
    if (changed & ICANON)
        ldisc_mode_changed(tty);
    if (lost_ixon)
        ldisc_set_stopped(tty, false);
    waitq_wake(&tty->slave_queue);
}

/* Only a real change is announced. */
void
tty_set_winsize(struct tty *tty, const struct tty_winsize *ws)
{
    if (!memcmp(&tty->winsize, ws, sizeof *ws))
        return;
    tty->winsize = *ws;
    tty_signal_foreground(tty, SIGWINCH);
}

/* --- reading */

/* In raw mode with VMIN: returns true if there are enough bytes, or if the time
 * between bytes has passed. Otherwise starts the timer that will wake the
 * reader. */
static bool
tty_is_enough(struct tty *tty, size_t len)
{
    size_t have = ldisc_available(tty), min = tty->tio.cc[VMIN];
    int64_t gap_ns = (int64_t)tty->tio.cc[VTIME] * TENTH_NS;
    struct clock *clock = &tty->kernel->clock;

    if (have >= (min < len ? min : len))
        return true;
    if (!have || !gap_ns)
        return false;
    int64_t until_ns;
    if (__builtin_add_overflow(tty->last_input_ns, gap_ns, &until_ns))
        until_ns = NS_NEVER;
    return clock_mono_ns(clock) >= until_ns ||
           timer_start(clock, &tty->between, until_ns) < 0;
}

/* Returns 0 if a read may take the bytes that are there (possibly none), or
 * -EAGAIN if it must wait. The combinations of VMIN and VTIME are those of
 * termios(3): a count, a time between bytes, a time for the first byte, or
 * neither. */
static int
tty_check_input(struct tty *tty, struct file *f, struct task *t, size_t len)
{
    bool is_raw = !(tty->tio.lflag & ICANON);
    int64_t time_ns = (int64_t)tty->tio.cc[VTIME] * TENTH_NS;

    if (is_raw && tty->tio.cc[VMIN]) {
        if ((f->flags & O_NONBLOCK) && ldisc_available(tty))
            return 0;
        return tty_is_enough(tty, len) ? 0 : -EAGAIN;
    }
    if (ldisc_available(tty) || (is_raw && !time_ns))
        return 0;
    if (!is_raw || (f->flags & O_NONBLOCK) || !t || !t->thread)
        return -EAGAIN;
    int64_t deadline = clock_after(&tty->kernel->clock, time_ns);
    return thread_deadline(t->thread, deadline) ? 0 : -EAGAIN;
}

/* The end of file is a read of 0 bytes; a process in the background is stopped
 * first. */
static int64_t
tty_slave_read(struct file *f, struct task *t, void *buf, size_t len,
               uint64_t *pos)
{
    CLEANUP(tty_putp) struct tty *tty = tty_get(f->obj);
    bool is_eof;

    (void)pos;
    if (tty->is_hung_up)
        return 0;
    int r = tty_check_job(tty, t, SIGTTIN);
    if (r < 0)
        return r;
    r = tty_check_input(tty, f, t, len);
    if (r < 0)
        return r;
    return (int64_t)ldisc_take(tty, buf, len, &is_eof);
}

/* --- writing, polling */

/* Output of background processes is allowed, unless TOSTOP is set. */
static int64_t
tty_slave_write(struct file *f, struct task *t, const void *buf, size_t len,
                uint64_t *pos)
{
    CLEANUP(tty_putp) struct tty *tty = tty_get(f->obj);

    (void)pos;
    if (tty->is_hung_up)
        return -EIO;
    if (tty->tio.lflag & TOSTOP) {
        int r = tty_check_job(tty, t, SIGTTOU);
        if (r < 0)
            return r;
    }
    size_t n = ldisc_write(tty, buf, len);
    return n ? (int64_t)n : -EAGAIN;
}

/* poll reports a raw terminal as readable only if a read would not wait for
 * VMIN. */
static bool
tty_has_input(const struct tty *tty)
{
    size_t min = 1;

    if (!(tty->tio.lflag & ICANON) && !tty->tio.cc[VTIME] && tty->tio.cc[VMIN])
        min = tty->tio.cc[VMIN];
    return ldisc_available(tty) >= min;
}

static short
tty_slave_poll(struct file *f, struct poll_table *pt)
{
    struct tty *tty = f->obj;
    short events = 0;

    poll_wait(pt, &tty->slave_queue);
    if (tty->is_hung_up)
        return POLLIN | POLLRDNORM | POLLOUT | POLLWRNORM | POLLERR | POLLHUP;
    if (tty_has_input(tty))
        events |= POLLIN | POLLRDNORM;
    if (ldisc_can_write(tty))
        events |= POLLOUT | POLLWRNORM;
    return events;
}

static int64_t
tty_slave_ioctl(struct file *f, struct task *t, uint32_t cmd, uint32_t arg)
{
    CLEANUP(tty_putp) struct tty *tty = tty_get(f->obj);

    return tty_ioctl(tty, f, t, cmd, arg);
}

static void
tty_slave_release(struct file *f)
{
    struct tty *tty = f->obj;

    if (--tty->slaves == 0)
        waitq_wake(&tty->master_queue);
    tty_put(tty);
}

static const struct file_ops slave_ops = {
    .kind = "tty",
    .read = tty_slave_read,
    .write = tty_slave_write,
    .poll = tty_slave_poll,
    .ioctl = tty_slave_ioctl,
    .release = tty_slave_release,
};

/* --- opening */

/* The count of slaves tells the master when the last one has gone. */
static int
tty_open_slave(struct tty *tty, uint32_t flags, OWN struct file **ret)
{
    if (tty->is_hung_up)
        return -EIO;
    tty->slaves++;
    int r = file_new(&tty->kernel->vfs, &slave_ops, tty_get(tty), flags, ret);
    if (r == 0)
        tty->was_opened = true;
    return r;
}

/* A session leader without a terminal gets this one, unless O_NOCTTY or another
 * session has it. */
int
tty_open(struct tty *tty, struct task *t, uint32_t flags, OWN struct file **ret)
{
    if (tty->is_locked)
        return -EIO;
    int r = tty_open_slave(tty, flags, ret);
    if (r < 0)
        return r;
    bool acquires = t && !(flags & O_NOCTTY) && file_is_readable(*ret) &&
                    t->pid == t->sid && !t->ctty && !tty->sid;
    if (acquires)
        (void)tty_set_session(tty, t);
    return 0;
}

int
tty_open_current(struct kernel *k, struct task *t, uint32_t flags,
                 OWN struct file **ret)
{
    (void)k;
    if (!t || !t->ctty)
        return -ENXIO;
    return tty_open_slave(t->ctty, flags, ret);
}
