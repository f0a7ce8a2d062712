/* Pseudo-terminals: the master's side of a terminal.
 *
 * Bytes that the master writes are typed at the terminal, and pass through the
 * line discipline; bytes that it reads are the output. The master is opened
 * once: when it is closed, the terminal is hung up. */
#include "kernel/kernel.h"
#include "kernel/tty_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>

static const struct tty_termios default_termios = {
    .iflag = ICRNL | IXON,
    .oflag = OPOST | ONLCR,
    .cflag = B38400 | CS8 | CREAD,
    .lflag = ISIG | ICANON | ECHO | ECHOE | ECHOK | ECHOCTL | ECHOKE | IEXTEN,
    .cc =
        {
            [VINTR] = 3,
            [VQUIT] = 28,
            [VERASE] = 127,
            [VKILL] = 21,
            [VEOF] = 4,
            [VMIN] = 1,
            [VSTART] = 17,
            [VSTOP] = 19,
            [VSUSP] = 26,
            [VREPRINT] = 18,
            [VDISCARD] = 15,
            [VWERASE] = 23,
            [VLNEXT] = 22,
        },
};

/* The time between two bytes (VTIME) has passed: readers check again. */
static void
pty_on_gap(struct timer *timer)
{
    struct tty *tty = CONTAINER_OF(timer, struct tty, between);

    waitq_wake(&tty->slave_queue);
}

/* The lowest free number, as Linux chooses it; there are few terminals. */
static int
pty_free_index(struct kernel *k)
{
    for (unsigned i = 0; i < TTY_MAX; i++)
        if (!tty_find(k, i))
            return (int)i;
    return -ENOSPC;
}

/* A new terminal has one reference, that of the master. */
static int
tty_new(struct kernel *k, OWN struct tty **ret)
{
    int index = pty_free_index(k);

    if (index < 0)
        return index;
    if (!limits_charge(&k->limits, LIMIT_memory, sizeof **ret))
        return -ENOMEM;
    struct tty *tty = calloc(1, sizeof *tty);
    if (!tty) {
        limits_uncharge(&k->limits, LIMIT_memory, sizeof *tty);
        return -ENOMEM;
    }
    tty->kernel = k;
    tty->refs = 1;
    tty->index = (unsigned)index;
    tty->uid = k->user.uid;
    tty->gid = 5; /* "tty", as devpts is mounted everywhere */
    tty->mode = 0620;
    tty->has_master = true;
    tty->tio = default_termios;
    tty->between.fire = pty_on_gap;
    waitq_init(&tty->slave_queue);
    waitq_init(&tty->master_queue);
    list_push_back(&k->ttys, &tty->link);
    *ret = tty;
    return 0;
}

/* --- the master as a file */

/* Before the first open, a master waits for its slave; after the last close, it
 * reads EIO as on Linux. */
static bool
pty_slave_is_gone(const struct tty *tty)
{
    return tty->was_opened && !tty->slaves;
}

/* Reading makes space, so writers of the slave are woken. */
static size_t
pty_take_output(struct tty *tty, uint8_t *buf, size_t len)
{
    size_t have = (size_t)(tty->out_head - tty->out_tail);
    size_t n = have < len ? have : len, at = tty->out_tail % TTY_OUT_BYTES;
    size_t first = TTY_OUT_BYTES - at < n ? TTY_OUT_BYTES - at : n;

    memcpy(buf, tty->out + at, first);
    memcpy(buf + first, tty->out, n - first);
    tty->out_tail += n;
    waitq_wake(&tty->slave_queue);
    return n;
}

/* In packet mode, each read begins with a byte for control information. */
static int64_t
pty_master_read(struct file *f, struct task *t, void *buf, size_t len,
                uint64_t *pos)
{
    struct tty *tty = f->obj;
    uint8_t *p = buf;

    (void)t;
    (void)pos;
    if (tty->out_head == tty->out_tail)
        return pty_slave_is_gone(tty) ? -EIO : -EAGAIN;
    if (!tty->is_packet)
        return (int64_t)pty_take_output(tty, p, len);
    p[0] = TIOCPKT_DATA;
    return len == 1 ? 1 : 1 + (int64_t)pty_take_output(tty, p + 1, len - 1);
}

/* A signal that a character causes may end the process that owns the last
 * reference, hence the reference of its own. */
static int64_t
pty_master_write(struct file *f, struct task *t, const void *buf, size_t len,
                 uint64_t *pos)
{
    CLEANUP(tty_putp) struct tty *tty = tty_get(f->obj);
    const uint8_t *p = buf;
    size_t n = 0, max = len < TTY_IN_BYTES ? len : TTY_IN_BYTES;

    (void)t;
    (void)pos;
    while (n < max && !tty->is_hung_up && ldisc_has_room(tty, p[n]))
        ldisc_receive(tty, p[n++]);
    return n ? (int64_t)n : -EAGAIN;
}

/* Writable means that an ordinary character would be accepted. */
static short
pty_master_poll(struct file *f, struct poll_table *pt)
{
    struct tty *tty = f->obj;
    short events = 0;

    poll_wait(pt, &tty->master_queue);
    if (tty->out_head != tty->out_tail)
        events |= POLLIN | POLLRDNORM;
    if (pty_slave_is_gone(tty))
        events |= POLLHUP;
    if (ldisc_has_room(tty, 0))
        events |= POLLOUT | POLLWRNORM;
    return events;
}

static int64_t
pty_master_ioctl(struct file *f, struct task *t, uint32_t cmd, uint32_t arg)
{
    CLEANUP(tty_putp) struct tty *tty = tty_get(f->obj);

    return tty_ioctl(tty, f, t, cmd, arg);
}

static void
pty_master_release(struct file *f)
{
    struct tty *tty = f->obj;

    tty->has_master = false;
    tty_hangup(tty);
    tty_put(tty);
}

const struct file_ops tty_master_ops = {
    .kind = "ptmx",
    .read = pty_master_read,
    .write = pty_master_write,
    .poll = pty_master_poll,
    .ioctl = pty_master_ioctl,
    .release = pty_master_release,
};

/* --- making pairs */

static int
new_pair(struct kernel *k, uint32_t flags, OWN struct file **ret_master,
         struct tty **ret_slave)
{
    struct tty *tty;
    int r = tty_new(k, &tty);

    if (r < 0)
        return r;
    r = file_new(&k->vfs, &tty_master_ops, tty, flags, ret_master);
    if (r < 0)
        return r;
    *ret_slave = tty;
    return 0;
}

int
pty_new_pair(struct kernel *k, OWN struct file **ret_master,
             struct tty **ret_slave)
{
    return new_pair(k, O_RDWR, ret_master, ret_slave);
}

/* The slave stays locked until unlockpt, so that nobody opens it before its
 * owner has been set. */
int
pty_open_master(struct kernel *k, struct task *t, uint32_t flags,
                OWN struct file **ret)
{
    struct tty *tty;
    int r = new_pair(k, flags, ret, &tty);

    if (r < 0)
        return r;
    tty->is_locked = true;
    if (t)
        tty->uid = t->as.cred.uid;
    return 0;
}
