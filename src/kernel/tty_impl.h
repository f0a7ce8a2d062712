/* struct tty, for the files that implement it: tty.c, tty_ioctl.c, tty_job.c,
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
    TTY_IN_BYTES = 4096,  /* typed but not read; maximum length of a line */
    TTY_OUT_BYTES = 8192, /* written but not read by the master */
    TTY_ECHO_BYTES = 512, /* of these, reserved for echo */
    TTY_MAX = 64,         /* pairs in a sandbox */
};

/* The end of a line, beside the byte in the input ring. */
enum mark { MARK_NONE, MARK_LINE, MARK_EOF };

/* Positions only increase; the index in a ring is pos % size. In canonical
 * mode, [in_tail, in_canon) contains complete lines and [in_canon, in_head) the
 * line being typed. In raw mode, in_canon is in_head. */
struct tty {
    struct kernel *kernel;
    struct list link; /* in kernel->ttys until hung up */
    uint32_t refs;
    unsigned index;
    bool has_master, is_locked, is_packet, is_hung_up;
    bool was_opened; /* a slave has been open before */
    unsigned slaves; /* open now */
    uint32_t uid, gid, mode;

    int32_t sid, pgid; /* session and foreground group; 0: none */
    struct tty_termios tio;
    struct tty_winsize winsize;

    bool is_stopped; /* output was stopped, by VSTOP or TCOOFF */
    bool is_literal; /* VLNEXT was typed */
    uint32_t column, canon_column;
    uint64_t in_tail, in_canon, in_head, out_tail, out_head;
    int64_t last_input_ns;
    struct timer between; /* between bytes: VTIME with VMIN */
    struct waitq slave_queue, master_queue;
    uint8_t in[TTY_IN_BYTES], mark[TTY_IN_BYTES];
    uint8_t out[TTY_OUT_BYTES];
};

DEFINE_CLEANUP(struct tty *, tty_put)

extern const struct file_ops tty_master_ops;

/* --- ldisc.c: the line discipline */

/* Processes one byte that was typed at the terminal. */
void ldisc_receive(struct tty *tty, uint8_t c);
/* True if a byte can be accepted. Signal characters always can. */
bool ldisc_has_room(const struct tty *tty, uint8_t c);
/* Removes up to `len` bytes that a read may return now; in canonical mode at
 * most one line. 0 with *ret_eof: end of file. */
size_t ldisc_take(struct tty *tty, uint8_t *buf, size_t len, bool *ret_eof);
/* Returns the number of bytes that a read could get. */
size_t ldisc_available(const struct tty *tty);
/* Called after the mode changed between canonical and raw. */
void ldisc_mode_changed(struct tty *tty);
/* Drops typed bytes that were not read, and the line being typed. */
void ldisc_flush_input(struct tty *tty);

/* --- ldisc_out.c: output and echo */

/* Writes bytes, processed by oflag, and returns the number accepted. */
size_t ldisc_write(struct tty *tty, const uint8_t *buf, size_t len);
/* True if output is not stopped, and any character fits with its expansion. */
bool ldisc_can_write(const struct tty *tty);
/* Sends bytes to the master unprocessed; drops them if the ring is full. */
void ldisc_put_raw(struct tty *tty, const char *s, size_t len);
void ldisc_flush_output(struct tty *tty);
/* Stops (true) or resumes output. */
void ldisc_set_stopped(struct tty *tty, bool is_stopped);
/* True if there is space to echo any character. */
bool ldisc_can_echo(const struct tty *tty);
/* Echoes a typed character: ^X for control characters with ECHOCTL. */
void ldisc_echo(struct tty *tty, uint8_t c);
/* Processes one character of output, without ECHOCTL. */
void ldisc_echo_plain(struct tty *tty, uint8_t c);
bool ldisc_is_control(uint8_t c);
/* Returns the column after c was printed at column col. */
uint32_t ldisc_column_after(const struct tty *tty, uint32_t col, uint8_t c);

/* --- tty_job.c */

/* Returns 0 if t may change (or with SIGTTIN read) the terminal. -EIO, or
 * -EWAIT after `sig` was sent to its background group. */
int tty_check_job(struct tty *tty, struct task *t, int sig);
/* Sends a signal to the foreground group, if there is one. */
void tty_signal_foreground(struct tty *tty, int sig);
/* Implements TIOCSCTTY, TIOCNOTTY, TIOCGPGRP, TIOCSPGRP and TIOCGSID; f is the
 * master or a slave. */
int64_t tty_ioctl_session(struct tty *tty, struct file *f, struct task *t,
                          uint32_t cmd, uint32_t arg);

/* --- tty_ioctl.c */
int64_t tty_ioctl(struct tty *tty, struct file *f, struct task *t, uint32_t cmd,
                  uint32_t arg);

#endif
