/* struct tty, for the files that make it up: tty.c, tty_ioctl.c, tty_job.c,
 * ldisc.c, pty.c. */
#ifndef KERNEL_TTY_IMPL_H
#define KERNEL_TTY_IMPL_H

#include "base/list.h"
#include "kernel/clock.h"
#include "kernel/tty.h"
#include "kernel/wait.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TTY_IN_BYTES = 4096,  /* typed and not read: a line is at most this long */
    TTY_OUT_BYTES = 8192, /* written and not read by the master */
    TTY_ECHO_BYTES = 512, /* of these, kept free for echo */
    TTY_MAX = 64,         /* pairs in a sandbox */
};

/* What ends a line, beside the byte in the input ring. */
enum mark { MARK_NONE, MARK_LINE, MARK_EOF };

/* Positions count up for ever; the place in a ring is pos % size. In the
 * canonical mode [in_tail, in_canon) is whole lines, [in_canon, in_head) the
 * line being typed; else in_canon is in_head. */
struct tty {
    struct kernel *kernel;
    struct list link; /* in kernel->ttys until hung up */
    uint32_t refs;
    unsigned index;
    bool has_master, is_locked, is_packet, is_hung_up;
    bool was_opened; /* a slave was open once */
    unsigned slaves; /* open now */
    uint32_t uid, gid, mode;

    int32_t sid, pgid; /* session and foreground group; 0: none */
    struct tty_termios tio;
    struct tty_winsize winsize;

    bool is_stopped; /* output, by VSTOP or TCOOFF */
    bool is_literal; /* VLNEXT was typed */
    uint32_t column, canon_column;
    uint64_t in_tail, in_canon, in_head, out_tail, out_head;
    int64_t last_input_ns;
    struct timer between; /* bytes: VTIME with VMIN */
    struct waitq slave_queue, master_queue;
    uint8_t in[TTY_IN_BYTES], mark[TTY_IN_BYTES];
    uint8_t out[TTY_OUT_BYTES];
};

DEFINE_CLEANUP(struct tty *, tty_put)

extern const struct file_ops tty_master_ops;

/* --- ldisc.c: the line discipline */

/* One byte typed at the terminal. */
void ldisc_receive(struct tty *tty, uint8_t c);
/* Can a byte be taken? Signal characters always can. */
bool ldisc_has_room(const struct tty *tty, uint8_t c);
/* Takes what a read of `len` bytes may have now; a whole line at most in
 * canonical mode. 0 with *ret_eof: end of file. */
size_t ldisc_take(struct tty *tty, uint8_t *buf, size_t len, bool *ret_eof);
/* Bytes a read could get. */
size_t ldisc_available(const struct tty *tty);
/* After the mode changed between canonical and raw. */
void ldisc_mode_changed(struct tty *tty);
void ldisc_flush_input(struct tty *tty);

/* --- ldisc_out.c: output and echo */

/* Bytes of buf that went out, processed by oflag. */
size_t ldisc_write(struct tty *tty, const uint8_t *buf, size_t len);
bool ldisc_can_write(const struct tty *tty);
/* Bytes to the master as they are, dropped when there is no room at all. */
void ldisc_put_raw(struct tty *tty, const char *s, size_t len);
void ldisc_flush_output(struct tty *tty);
/* Stop (true) or go on with output. */
void ldisc_set_stopped(struct tty *tty, bool is_stopped);
/* Is there room for any character? */
bool ldisc_can_echo(const struct tty *tty);
/* Shows a typed character: ^X for control characters with ECHOCTL. */
void ldisc_echo(struct tty *tty, uint8_t c);
/* Output processing for one character, without ECHOCTL. */
void ldisc_echo_plain(struct tty *tty, uint8_t c);
bool ldisc_is_control(uint8_t c);
/* The column after c was shown at column col. */
uint32_t ldisc_column_after(const struct tty *tty, uint32_t col, uint8_t c);

/* --- tty_job.c */

/* May t change (or with SIGTTIN read) the terminal? 0, -EIO, or -EWAIT after
 * its background group was sent `sig`. */
int tty_check_job(struct tty *tty, struct task *t, int sig);
void tty_signal_foreground(struct tty *tty, int sig);
/* TIOCSCTTY, TIOCNOTTY, TIOCGPGRP, TIOCSPGRP, TIOCGSID; is_master: through
 * the master's file. */
int64_t tty_ioctl_session(struct tty *tty, struct file *f, struct task *t,
                          uint32_t cmd, uint32_t arg);

/* --- tty_ioctl.c */
int64_t tty_ioctl(struct tty *tty, struct file *f, struct task *t, uint32_t cmd,
                  uint32_t arg);

#endif
