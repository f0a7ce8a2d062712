/* ioctls of terminals: one row each. */
#include "kernel/kernel.h"
#include "kernel/tty_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>

/* The arguments of one ioctl. */
struct ioctl_call {
    struct tty *tty;
    struct file *file;
    struct task *task;
    uint32_t cmd, arg;
};

static bool
tty_ioctl_is_master(const struct ioctl_call *c)
{
    return c->file->ops == &tty_master_ops;
}

static int
tty_ioctl_put_int(const struct ioctl_call *c, int32_t value)
{
    return copy_to_guest(c->task, c->arg, &value, sizeof value);
}

static int
tty_ioctl_get_int(const struct ioctl_call *c, int32_t *ret)
{
    return copy_from_guest(c->task, ret, c->arg, sizeof *ret);
}

/* --- settings */

/* TCGETS: in the layout that the terminal keeps it */
static int64_t
tty_ioctl_get_settings(const struct ioctl_call *c)
{
    return copy_to_guest(c->task, c->arg, &c->tty->tio, sizeof c->tty->tio);
}

/* TCSETS, TCSETSW, TCSETSF: now, after pending output, and dropping unread
 * input too. Output reaches the master at once, so the first two are equal. */
static int64_t
tty_ioctl_set_settings(const struct ioctl_call *c)
{
    struct tty_termios tio;
    int r = tty_check_job(c->tty, c->task, SIGTTOU);

    if (r < 0)
        return r;
    r = copy_from_guest(c->task, &tio, c->arg, sizeof tio);
    if (r < 0)
        return r;
    if (c->cmd == TCSETSF)
        ldisc_flush_input(c->tty);
    tty_set_termios(c->tty, &tio);
    return 0;
}

static int64_t
tty_ioctl_get_winsize(const struct ioctl_call *c)
{
    return copy_to_guest(c->task, c->arg, &c->tty->winsize,
                         sizeof c->tty->winsize);
}

/* TIOCSWINSZ: the terminal emulator behind the master sets it */
static int64_t
tty_ioctl_set_winsize(const struct ioctl_call *c)
{
    struct tty_winsize ws;
    int r = copy_from_guest(c->task, &ws, c->arg, sizeof ws);

    if (r < 0)
        return r;
    tty_set_winsize(c->tty, &ws);
    return 0;
}

static int64_t
tty_ioctl_get_discipline(const struct ioctl_call *c)
{
    return tty_ioctl_put_int(c, 0);
}

/* N_TTY, number 0, is the only line discipline. */
static int64_t
tty_ioctl_set_discipline(const struct ioctl_call *c)
{
    int32_t n;
    int r = tty_ioctl_get_int(c, &n);

    if (r < 0)
        return r;
    return n == 0 ? 0 : -EINVAL;
}

/* --- buffers and flow */

/* There is no line to send a break on; only the right to do so is checked. */
static int64_t
tty_ioctl_send_break(const struct ioctl_call *c)
{
    return tty_check_job(c->tty, c->task, SIGTTOU);
}

/* tcflow: stops and starts our output, or sends the characters that ask the
 * other side to do so. */
static int64_t
tty_ioctl_control_flow(const struct ioctl_call *c)
{
    struct tty *tty = c->tty;
    int r = tty_check_job(tty, c->task, SIGTTOU);

    if (r < 0)
        return r;
    switch (c->arg) {
    case TCOOFF:
    case TCOON:
        ldisc_set_stopped(tty, c->arg == TCOOFF);
        return 0;
    case TCIOFF:
        ldisc_put_raw(tty, (char[]){(char)tty->tio.cc[VSTOP]}, 1);
        return 0;
    case TCION:
        ldisc_put_raw(tty, (char[]){(char)tty->tio.cc[VSTART]}, 1);
        return 0;
    default:
        return -EINVAL;
    }
}

static int64_t
tty_ioctl_flush(const struct ioctl_call *c)
{
    int r = tty_check_job(c->tty, c->task, SIGTTOU);

    if (r < 0)
        return r;
    if (c->arg > TCIOFLUSH)
        return -EINVAL;
    /* The input of the slave is the output of the master. */
    uint32_t in = tty_ioctl_is_master(c) ? TCOFLUSH : TCIFLUSH;
    if (c->arg == in || c->arg == TCIOFLUSH)
        ldisc_flush_input(c->tty);
    if (c->arg != in)
        ldisc_flush_output(c->tty);
    return 0;
}

/* FIONREAD has the same number as TIOCINQ. The master reads what the slave has
 * written. */
static int64_t
tty_ioctl_count_input(const struct ioctl_call *c)
{
    const struct tty *tty = c->tty;
    size_t n = tty_ioctl_is_master(c) ? (size_t)(tty->out_head - tty->out_tail)
                                      : ldisc_available(tty);

    return tty_ioctl_put_int(c, (int32_t)n);
}

/* Written bytes reach the master at once, so none are pending. */
static int64_t
tty_ioctl_count_output(const struct ioctl_call *c)
{
    return tty_ioctl_put_int(c, 0);
}

/* TIOCSTI would let a program type commands into the shell of another one. */
static int64_t
tty_ioctl_refuse_typing(const struct ioctl_call *c)
{
    (void)c;
    return -EPERM;
}

static int64_t
tty_ioctl_accept(const struct ioctl_call *c)
{
    (void)c;
    return 0;
}

static int64_t
session(const struct ioctl_call *c)
{
    return tty_ioctl_session(c->tty, c->file, c->task, c->cmd, c->arg);
}

/* --- the master only */

/* TIOCGPTN: the number in /dev/pts */
static int64_t
tty_ioctl_get_number(const struct ioctl_call *c)
{
    return tty_ioctl_put_int(c, (int32_t)c->tty->index);
}

/* TIOCSPTLCK: unlockpt(3) */
static int64_t
tty_ioctl_set_lock(const struct ioctl_call *c)
{
    int32_t on;
    int r = tty_ioctl_get_int(c, &on);

    if (r < 0)
        return r;
    c->tty->is_locked = on != 0;
    return 0;
}

static int64_t
tty_ioctl_get_lock(const struct ioctl_call *c)
{
    return tty_ioctl_put_int(c, c->tty->is_locked);
}

/* TIOCPKT: see master_read. */
static int64_t
tty_ioctl_set_packet(const struct ioctl_call *c)
{
    int32_t on;
    int r = tty_ioctl_get_int(c, &on);

    if (r < 0)
        return r;
    c->tty->is_packet = on != 0;
    return 0;
}

static int64_t
tty_ioctl_get_packet(const struct ioctl_call *c)
{
    return tty_ioctl_put_int(c, c->tty->is_packet);
}

/* TIOCGPTPEER: opens the slave without a path */
static int64_t
tty_ioctl_open_peer(const struct ioctl_call *c)
{
    struct file *slave;
    int r = tty_open(c->tty, c->task, c->arg & ~(uint32_t)O_CLOEXEC, &slave);

    if (r < 0)
        return r;
    return fd_install(c->task, slave, 0, c->arg & O_CLOEXEC);
}

/* Requests for the master only. */
enum tty_side { BOTH, MASTER };

struct ioctl_row {
    uint32_t cmd;
    enum tty_side side;
    int64_t (*fn)(const struct ioctl_call *c);
};

static const struct ioctl_row rows[] = {
    {TCGETS, BOTH, tty_ioctl_get_settings},
    {TCSETS, BOTH, tty_ioctl_set_settings},
    {TCSETSW, BOTH, tty_ioctl_set_settings},
    {TCSETSF, BOTH, tty_ioctl_set_settings},
    {TIOCGWINSZ, BOTH, tty_ioctl_get_winsize},
    {TIOCSWINSZ, BOTH, tty_ioctl_set_winsize},
    {TIOCGETD, BOTH, tty_ioctl_get_discipline},
    {TIOCSETD, BOTH, tty_ioctl_set_discipline},
    {TCSBRK, BOTH, tty_ioctl_send_break},
    {TCSBRKP, BOTH, tty_ioctl_send_break},
    {TCXONC, BOTH, tty_ioctl_control_flow},
    {TCFLSH, BOTH, tty_ioctl_flush},
    {TIOCINQ, BOTH, tty_ioctl_count_input},
    {TIOCOUTQ, BOTH, tty_ioctl_count_output},
    {TIOCSTI, BOTH, tty_ioctl_refuse_typing},
    {TIOCEXCL, BOTH, tty_ioctl_accept},
    {TIOCNXCL, BOTH, tty_ioctl_accept},
    {TIOCSCTTY, BOTH, session},
    {TIOCNOTTY, BOTH, session},
    {TIOCGPGRP, BOTH, session},
    {TIOCSPGRP, BOTH, session},
    {TIOCGSID, BOTH, session},
    {TIOCGPTN, MASTER, tty_ioctl_get_number},
    {TIOCSPTLCK, MASTER, tty_ioctl_set_lock},
    {TIOCGPTLCK, MASTER, tty_ioctl_get_lock},
    {TIOCPKT, MASTER, tty_ioctl_set_packet},
    {TIOCGPKT, MASTER, tty_ioctl_get_packet},
    {TIOCGPTPEER, MASTER, tty_ioctl_open_peer},
};

/* A hung-up terminal answers no request. */
int64_t
tty_ioctl(struct tty *tty, struct file *f, struct task *t, uint32_t cmd,
          uint32_t arg)
{
    struct ioctl_call c = {tty, f, t, cmd, arg};

    if (tty->is_hung_up)
        return cmd == TIOCSPGRP ? -ENOTTY : -EIO;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].cmd == cmd &&
            (rows[i].side == BOTH || tty_ioctl_is_master(&c)))
            return rows[i].fn(&c);
    return -ENOTTY;
}
