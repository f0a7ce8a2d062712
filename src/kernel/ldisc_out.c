/* The way of bytes to the master: output processing, echo, flow control.
 *
 * Programs and echo share one ring. The last TTY_ECHO_BYTES of it are
 * reserved for echo, so that typing is still visible while a program fills
 * the rest. A character is written only if its longest expansion fits, so it
 * is never cut. */
#include "kernel/tty_impl.h"

#include <ctype.h>
#include <string.h>
#include <termios.h>

/* The maximum number of bytes that one character becomes: a tab. */
enum { EXPANSION_MAX = 8 };

static size_t
ldisc_out_used(const struct tty *tty)
{
    return (size_t)(tty->out_head - tty->out_tail);
}

/* Space for the output of programs; echo may use the rest. */
static size_t
ldisc_out_write_room(const struct tty *tty)
{
    size_t max = TTY_OUT_BYTES - TTY_ECHO_BYTES;

    return ldisc_out_used(tty) < max ? max - ldisc_out_used(tty) : 0;
}

/* Two copies, because the ring may wrap around. */
static void
ldisc_out_put_bytes(struct tty *tty, const uint8_t *s, size_t len)
{
    size_t at = tty->out_head % TTY_OUT_BYTES;
    size_t first = TTY_OUT_BYTES - at < len ? TTY_OUT_BYTES - at : len;

    memcpy(tty->out + at, s, first);
    memcpy(tty->out, s + first, len - first);
    tty->out_head += len;
}

void
ldisc_put_raw(struct tty *tty, const char *s, size_t len)
{
    if (len > TTY_OUT_BYTES - ldisc_out_used(tty))
        return;
    ldisc_out_put_bytes(tty, (const uint8_t *)s, len);
    waitq_wake(&tty->master_queue);
}

bool
ldisc_is_control(uint8_t c)
{
    return c < 0x20 || c == 0x7f;
}

static bool
ldisc_out_is_continuation(const struct tty *tty, uint8_t c)
{
    return (tty->tio.iflag & IUTF8) && (c & 0xc0) == 0x80;
}

uint32_t
ldisc_column_after(const struct tty *tty, uint32_t col, uint8_t c)
{
    if (c == '\t')
        return (col | 7) + 1;
    if (c == '\r')
        return 0;
    if (c == '\b')
        return col ? col - 1 : 0;
    return col + (!ldisc_is_control(c) && !ldisc_out_is_continuation(tty, c));
}

/* The column is kept, because the width of a tab depends on it. */
static size_t
ldisc_out_expand_newline(struct tty *tty, uint8_t *out)
{
    uint32_t flags = tty->tio.oflag;
    size_t n = 0;

    if (flags & (ONLCR | ONLRET))
        tty->column = tty->canon_column = 0;
    if (flags & ONLCR)
        out[n++] = '\r';
    out[n++] = '\n';
    return n;
}

/* ONOCR drops a carriage return in the first column. */
static size_t
ldisc_out_expand_return(struct tty *tty, uint8_t *out)
{
    uint32_t flags = tty->tio.oflag;

    if ((flags & ONOCR) && !tty->column)
        return 0;
    out[0] = flags & OCRNL ? '\n' : '\r';
    if (!(flags & OCRNL) || (flags & ONLRET))
        tty->column = tty->canon_column = 0;
    return 1;
}

/* Expands c for output; at most EXPANSION_MAX bytes. */
static size_t
ldisc_out_expand(struct tty *tty, uint8_t c, uint8_t *out)
{
    uint32_t col = tty->column;

    if (!(tty->tio.oflag & OPOST)) {
        out[0] = c;
        return 1;
    }
    if (c == '\n')
        return ldisc_out_expand_newline(tty, out);
    if (c == '\r')
        return ldisc_out_expand_return(tty, out);
    if (tty->tio.oflag & OLCUC)
        c = (uint8_t)toupper(c);
    tty->column = ldisc_column_after(tty, col, c);
    if (c == '\t' && (tty->tio.oflag & TABDLY) == XTABS) {
        memset(out, ' ', tty->column - col);
        return tty->column - col;
    }
    out[0] = c;
    return 1;
}

bool
ldisc_can_write(const struct tty *tty)
{
    return !tty->is_stopped && ldisc_out_write_room(tty) >= EXPANSION_MAX;
}

/* Without OPOST, bytes are copied as they are, and the column is not
 * followed. */
size_t
ldisc_write(struct tty *tty, const uint8_t *buf, size_t len)
{
    uint8_t out[EXPANSION_MAX];
    size_t n = 0;

    if (!(tty->tio.oflag & OPOST) && ldisc_can_write(tty)) {
        n = len < ldisc_out_write_room(tty) ? len : ldisc_out_write_room(tty);
        ldisc_out_put_bytes(tty, buf, n);
    }
    for (; n < len && ldisc_can_write(tty); n++) {
        size_t k = ldisc_out_expand(tty, buf[n], out);
        ldisc_out_put_bytes(tty, out, k);
    }
    if (n)
        waitq_wake(&tty->master_queue);
    return n;
}

bool
ldisc_can_echo(const struct tty *tty)
{
    return TTY_OUT_BYTES - ldisc_out_used(tty) >= EXPANSION_MAX;
}

void
ldisc_echo_plain(struct tty *tty, uint8_t c)
{
    uint8_t out[EXPANSION_MAX];
    size_t n = ldisc_out_expand(tty, c, out);

    ldisc_put_raw(tty, (const char *)out, n);
}

/* ^X is the control character with bit 6 flipped, so DEL is shown as ^?. */
void
ldisc_echo(struct tty *tty, uint8_t c)
{
    bool caret = (tty->tio.lflag & ECHOCTL) && ldisc_is_control(c);

    if (!caret || c == '\t') {
        ldisc_echo_plain(tty, c);
        return;
    }
    ldisc_put_raw(tty, (char[]){'^', (char)(c ^ 0100)}, 2);
    tty->column += 2;
}

/* Writers that wait for space are woken. */
void
ldisc_flush_output(struct tty *tty)
{
    tty->out_tail = tty->out_head;
    waitq_wake(&tty->slave_queue);
}

void
ldisc_set_stopped(struct tty *tty, bool is_stopped)
{
    if (tty->is_stopped == is_stopped)
        return;
    tty->is_stopped = is_stopped;
    if (!is_stopped)
        waitq_wake(&tty->slave_queue);
}
