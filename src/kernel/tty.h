/* Terminals: pseudo-terminal pairs with a line discipline, and job control.
 *
 * The master, each open slave and each task->ctty hold a reference. When the
 * master is closed, the terminal is hung up and is no task's controlling
 * terminal any more. A new task inherits ctty; setsid puts it. */
#ifndef KERNEL_TTY_H
#define KERNEL_TTY_H

#include "base/own.h"
#include "kernel/vfs/file.h"

#include <stdint.h>

struct kernel;
struct task;
struct tty;

/* struct termios in the layout of TCGETS and TCSETS (asm-generic). */
struct tty_termios {
    uint32_t iflag, oflag, cflag, lflag;
    uint8_t line;
    uint8_t cc[19];
};

struct tty_winsize {
    uint16_t rows, cols, xpixel, ypixel;
};

/* Terminals are counted; the count is not atomic. */
struct tty *tty_get(struct tty *tty);
void tty_put(OWN struct tty *tty); /* accepts NULL */

/* Creates a pair: the master as an open file, and the terminal, which the
 * master keeps alive. The slave starts unlocked. -ENOSPC: too many. */
int pty_new_pair(struct kernel *k, OWN struct file **ret_master,
                 struct tty **ret_slave);
/* Opens /dev/ptmx: creates a pair whose slave is locked and owned by t. */
int pty_open_master(struct kernel *k, struct task *t, uint32_t flags,
                    OWN struct file **ret);
/* Opens /dev/pts/N; for a session leader it may become the controlling
 * terminal. -EIO while it is locked or hung up. */
int tty_open(struct tty *tty, struct task *t, uint32_t flags,
             OWN struct file **ret);
/* Opens /dev/tty, the controlling terminal of t; -ENXIO without one. */
int tty_open_current(struct kernel *k, struct task *t, uint32_t flags,
                     OWN struct file **ret);

/* Returns the terminal of /dev/pts/<index>, borrowed, or NULL. */
struct tty *tty_find(struct kernel *k, unsigned index);
/* Returns the lowest index >= from in use, or -1. */
int tty_next_index(struct kernel *k, unsigned from);
unsigned tty_index(const struct tty *tty);
/* Returns its device number as in st_rdev. */
uint64_t tty_rdev(const struct tty *tty);
/* Returns the foreground process group, or 0. */
int32_t tty_foreground(const struct tty *tty);
/* Returns mode, owner and device number of /dev/pts/N. */
void tty_getattr(const struct tty *tty, struct attr *ret);
/* Sets mode and owner of /dev/pts/N. -EINVAL for a size. */
int tty_setattr(struct tty *tty, const struct attr *a, unsigned what);

void tty_get_termios(const struct tty *tty, struct tty_termios *ret);
/* Changes the settings. Typed bytes stay when the mode changes, and stopped
 * output starts again if IXON is switched off. */
void tty_set_termios(struct tty *tty, const struct tty_termios *tio);
/* Notifies the foreground group of a change (SIGWINCH). */
void tty_set_winsize(struct tty *tty, const struct tty_winsize *ws);

/* --- controlling terminal (tty_job.c) */

/* Makes tty the controlling terminal of the session that t leads. -EPERM if
 * t leads none or has one, or the terminal serves another session. */
int tty_set_session(struct tty *tty, struct task *t);
/* Hangs up the terminal: sends SIGHUP and SIGCONT to the session leader and the
 * foreground group. Open slaves read the end and fail with EIO. */
void tty_hangup(struct tty *tty);
/* Called when a task ends. If it leads a session, its terminal is released and
 * the foreground group gets SIGHUP. Sets its ctty to NULL. */
void tty_session_leader_exit(struct task *t);

#endif
