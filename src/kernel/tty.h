/* Terminals: pseudo-terminal pairs with a line discipline, and job control.
 *
 * The master, each open slave and each task->ctty hold a reference. When the
 * master goes the terminal is hung up, and no task has it as its controlling
 * terminal any more. A new task inherits ctty, setsid puts it. */
#ifndef KERNEL_TTY_H
#define KERNEL_TTY_H

#include "base/own.h"
#include "kernel/file.h"

#include <stdint.h>

struct kernel;
struct task;
struct tty;

/* struct termios as TCGETS and TCSETS carry it (asm-generic). */
struct tty_termios {
    uint32_t iflag, oflag, cflag, lflag;
    uint8_t line;
    uint8_t cc[19];
};

struct tty_winsize {
    uint16_t rows, cols, xpixel, ypixel;
};

struct tty *tty_get(struct tty *tty);
void tty_put(OWN struct tty *tty); /* NULL is fine */

/* A new pair: the master as an open file, and the terminal, which the master
 * keeps alive. The slave starts unlocked. -ENOSPC: too many. */
int pty_new_pair(struct kernel *k, OWN struct file **ret_master,
                 struct tty **ret_slave);
/* /dev/ptmx: a new pair, its slave locked and owned by t. */
int pty_open_master(struct kernel *k, struct task *t, uint32_t flags,
                    OWN struct file **ret);
/* /dev/pts/N as a session leader opens it: may become the controlling
 * terminal. -EIO while it is locked or hung up. */
int tty_open(struct tty *tty, struct task *t, uint32_t flags,
             OWN struct file **ret);
/* /dev/tty: the controlling terminal of t, -ENXIO without one. */
int tty_open_current(struct kernel *k, struct task *t, uint32_t flags,
                     OWN struct file **ret);

/* The terminal of /dev/pts/<index>, borrowed; NULL: none. */
struct tty *tty_find(struct kernel *k, unsigned index);
/* The lowest index >= from in use, or -1. */
int tty_next_index(struct kernel *k, unsigned from);
unsigned tty_index(const struct tty *tty);
/* Its device number as st_rdev shows it. */
uint64_t tty_rdev(const struct tty *tty);
/* The foreground process group; 0: none. */
int32_t tty_foreground(const struct tty *tty);
/* Mode, owner and device number of /dev/pts/N. */
void tty_getattr(const struct tty *tty, struct attr *ret);
int tty_setattr(struct tty *tty, const struct attr *a, unsigned what);

void tty_get_termios(const struct tty *tty, struct tty_termios *ret);
void tty_set_termios(struct tty *tty, const struct tty_termios *tio);
/* Tells the foreground group when it changes (SIGWINCH). */
void tty_set_winsize(struct tty *tty, const struct tty_winsize *ws);

/* --- controlling terminal (tty_job.c) */

/* Makes tty the controlling terminal of the session that t leads. -EPERM if
 * t leads none or has one, or the terminal serves another session. */
int tty_set_session(struct tty *tty, struct task *t);
/* The terminal is gone for the session: SIGHUP and SIGCONT to its leader and
 * the foreground group; open slaves read the end and fail with EIO. */
void tty_hangup(struct tty *tty);
/* A task ends: if it leads a session, its terminal is given up and the
 * foreground group gets SIGHUP. Its ctty is NULL then. */
void tty_session_leader_exit(struct task *t);

#endif
