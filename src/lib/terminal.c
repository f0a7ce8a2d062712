/* A terminal of the sandbox connected to one of the host.
 *
 * Bytes typed on the host's terminal go to the master of a pseudo-terminal, and
 * the output of programs comes back. The line discipline is the sandbox's, so
 * that ^C and job control work inside; the host's terminal is in raw mode.
 *
 * Bytes are moved only between time slices of the programs: a typed ^C can end
 * a program, which must not happen in the middle of its call on the
 * terminal. */
#include "lib/terminal.h"

#include "kernel/kernel.h"
#include "kernel/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

enum { WAITERS = 4, BUF_BYTES = 4096 };

struct terminal_waiter {
    struct waiter w;
    struct terminal *term;
};

/* Owns the master, and a descriptor of its own for the host's terminal. */
struct terminal {
    struct kernel *kernel;
    struct file *master;
    struct tty *tty;
    int hfd;
    bool is_raw;
    bool is_due;     /* something can be moved */
    bool host_ended; /* the host's terminal is gone */
    struct termios saved;
    struct host_watch watch;
    struct terminal_waiter waiters[WAITERS];
    size_t n_waiters;
    struct poll_table pt;
    char out[BUF_BYTES], in[BUF_BYTES]; /* not yet passed on */
    size_t n_out, n_in;
};

static void
terminal_on_wake(struct waiter *w)
{
    CONTAINER_OF(w, struct terminal_waiter, w)->term->is_due = true;
}

static void
terminal_add_waiter(struct poll_table *pt, struct waitq *q)
{
    struct terminal *term = CONTAINER_OF(pt, struct terminal, pt);

    if (term->n_waiters < WAITERS)
        waitq_add(q, &term->waiters[term->n_waiters++].w);
}

static void
terminal_forget_waiters(struct terminal *term)
{
    for (size_t i = 0; i < term->n_waiters; i++)
        waiter_remove(&term->waiters[i].w);
    term->n_waiters = 0;
}

/* Returns the events that are possible now without waiting. */
static short
terminal_host_ready(int hfd, short events)
{
    struct pollfd p = {.fd = hfd, .events = events};

    return poll(&p, 1, 0) == 1 ? p.revents : 0;
}

/* Removes the first n bytes. */
static void
terminal_take(char *buf, size_t *len, size_t n)
{
    memmove(buf, buf + n, *len - n);
    *len -= n;
}

/* Moves bytes from the programs to the screen. Returns true if some moved. */
static bool
terminal_pump_out(struct terminal *term)
{
    bool moved = false;

    if (!term->n_out) {
        int64_t n = term->master->ops->read(term->master, NULL, term->out,
                                            sizeof term->out, NULL);
        if (n > 0)
            term->n_out = (size_t)n;
    }
    if (term->n_out && terminal_host_ready(term->hfd, POLLOUT)) {
        ssize_t n = write(term->hfd, term->out, term->n_out);
        if (n < 0 && errno != EAGAIN && errno != EINTR) {
            term->host_ended = true;
            n = (ssize_t)term->n_out; /* nobody will see it */
        }
        if (n > 0) {
            terminal_take(term->out, &term->n_out, (size_t)n);
            moved = true;
        }
    }
    return moved;
}

/* Moves bytes from the keyboard to the programs. */
static bool
terminal_pump_in(struct terminal *term)
{
    if (!term->n_in && !term->host_ended &&
        terminal_host_ready(term->hfd, POLLIN)) {
        ssize_t n = read(term->hfd, term->in, sizeof term->in);
        if (n > 0)
            term->n_in = (size_t)n;
        else
            term->host_ended = n == 0 || (errno != EINTR && errno != EAGAIN);
    }
    if (!term->n_in)
        return false;
    int64_t n = term->master->ops->write(term->master, NULL, term->in,
                                         term->n_in, NULL);
    if (n <= 0)
        return false;
    terminal_take(term->in, &term->n_in, (size_t)n);
    return true;
}

/* Moves everything that can be moved, and then waits for more. With POLLOUT
 * only while output is left: the host's terminal is almost always writable. */
static void
terminal_pump_both(struct terminal *term)
{
    short events = 0;

    term->is_due = false;
    terminal_forget_waiters(term);
    bool moved = true;
    while (moved) {
        moved = terminal_pump_in(term);
        moved |= terminal_pump_out(term);
    }
    if (!term->n_in && !term->host_ended)
        events |= POLLIN;
    if (term->n_out)
        events |= POLLOUT;
    (void)file_poll(term->master, &term->pt);
    if (events)
        (void)host_watch_poll(&term->watch, term->kernel, events, &term->pt);
}

void
terminal_pump(struct terminal *term)
{
    if (!term->is_due)
        return;
    terminal_pump_both(term);
    if (term->host_ended)
        tty_hangup(term->tty);
}

/* Opens a description of our own, for both directions and non-blocking: flags
 * of the given one are shared with other processes, which must not see
 * O_NONBLOCK. If that fails, the given one is used. */
static int
terminal_open_again(int hfd)
{
    char path[32];

    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", hfd);
    int opened = open(path, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    return opened < 0 ? fcntl(hfd, F_DUPFD_CLOEXEC, 0) : opened;
}

static int
terminal_make_raw(struct terminal *term)
{
    struct termios raw;

    if (tcgetattr(term->hfd, &term->saved) < 0)
        return -errno;
    raw = term->saved;
    cfmakeraw(&raw);
    if (tcsetattr(term->hfd, TCSADRAIN, &raw) < 0)
        return -errno;
    term->is_raw = true;
    return 0;
}

void
terminal_resize(struct terminal *term)
{
    struct winsize ws;

    if (ioctl(term->hfd, TIOCGWINSZ, &ws) < 0)
        return;
    struct tty_winsize to = {ws.ws_row, ws.ws_col, ws.ws_xpixel, ws.ws_ypixel};
    tty_set_winsize(term->tty, &to);
}

/* A terminal that cannot be opened again or made raw is an error: the program
 * would not work as expected. */
int
terminal_new(struct kernel *k, int hfd, OWN struct terminal **ret)
{
    struct terminal *term = calloc(1, sizeof *term);

    if (!term)
        return -ENOMEM;
    term->kernel = k;
    term->hfd = terminal_open_again(hfd);
    term->pt.add = terminal_add_waiter;
    for (size_t i = 0; i < WAITERS; i++) {
        term->waiters[i].w.wake = terminal_on_wake;
        term->waiters[i].term = term;
        list_init(&term->waiters[i].w.link);
    }
    host_watch_init(&term->watch, k, term->hfd);
    int r = term->hfd < 0 ? -EMFILE : 0;
    if (r == 0)
        r = pty_new_pair(k, &term->master, &term->tty);
    if (r == 0)
        r = terminal_make_raw(term);
    if (r < 0) {
        terminal_free(term);
        return r;
    }
    terminal_resize(term);
    terminal_pump_both(term);
    *ret = term;
    return 0;
}

/* The last output may still be in transit. A terminal that accepts nothing for
 * a second is given up. */
static void
terminal_drain(struct terminal *term)
{
    enum { PATIENCE_MS = 1000 };

    while (terminal_pump_out(term) || term->n_out) {
        struct pollfd p = {.fd = term->hfd, .events = POLLOUT};
        if (term->n_out && poll(&p, 1, PATIENCE_MS) != 1)
            break;
    }
}

/* The host's terminal is restored after the last output, so that the output is
 * still shown in raw mode. */
void
terminal_free(OWN struct terminal *term)
{
    if (!term)
        return;
    if (term->master) {
        terminal_forget_waiters(term);
        terminal_drain(term);
        file_put(term->master);
    }
    host_watch_fini(&term->watch);
    if (term->is_raw)
        (void)tcsetattr(term->hfd, TCSADRAIN, &term->saved);
    if (term->hfd >= 0)
        close(term->hfd);
    free(term);
}

struct tty *
terminal_tty(struct terminal *term)
{
    return term->tty;
}

int
terminal_open_tty(struct kernel *k, const struct tty *tty,
                  OWN struct file **ret)
{
    char path[32];
    const struct at at = {.vfs = &k->vfs, .path = path};

    (void)snprintf(path, sizeof path, "/dev/pts/%u", tty_index(tty));
    return vfs_open(&at, O_RDWR | O_NOCTTY, 0, ret);
}
