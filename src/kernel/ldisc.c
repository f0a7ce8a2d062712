/* The line discipline: turns typed bytes into lines, echo and signals, like
 * Linux's N_TTY.
 *
 * A byte passes through the steps of ldisc_receive in a fixed order: literal
 * next, flow control, signals, mapping of CR and NL, editing, end of line. In
 * canonical mode a line becomes readable at its end; until then it can be
 * edited. tty_impl.h describes the ring of input and its marks. */
#include "kernel/clock.h"
#include "kernel/kernel.h"
#include "kernel/tty_impl.h"

#include <ctype.h>
#include <signal.h>
#include <string.h>
#include <termios.h>

static bool
ldisc_has_l(const struct tty *tty, uint32_t flags)
{
    return tty->tio.lflag & flags;
}

static bool
ldisc_has_i(const struct tty *tty, uint32_t flags)
{
    return tty->tio.iflag & flags;
}

/* Returns true if c is the special character at `which`. A NUL there means that
 * the character is disabled. */
static bool
ldisc_is_cc(const struct tty *tty, unsigned which, uint8_t c)
{
    return c && tty->tio.cc[which] == c;
}

/* Positions only increase, so the difference is the number of bytes, complete
 * lines and the line being typed. */
static size_t
ldisc_in_used(const struct tty *tty)
{
    return (size_t)(tty->in_head - tty->in_tail);
}

static bool
ldisc_is_canonical(const struct tty *tty)
{
    return ldisc_has_l(tty, ICANON);
}

static uint8_t *
ldisc_in_at(struct tty *tty, uint64_t pos)
{
    return &tty->in[pos % TTY_IN_BYTES];
}

/* The mark of a byte says whether it ends a line. */
static void
ldisc_put(struct tty *tty, uint8_t c, enum mark mark)
{
    *ldisc_in_at(tty, tty->in_head) = c;
    tty->mark[tty->in_head % TTY_IN_BYTES] = (uint8_t)mark;
    tty->in_head++;
}

/* Makes everything that was typed readable. */
static void
ldisc_input_ready(struct tty *tty)
{
    tty->in_canon = tty->in_head;
    tty->last_input_ns = clock_mono_ns(&tty->kernel->clock);
    waitq_wake(&tty->slave_queue);
}

void
ldisc_flush_input(struct tty *tty)
{
    tty->in_tail = tty->in_canon = tty->in_head;
    tty->is_literal = false;
    waitq_wake(&tty->master_queue);
}

/* Bytes that were typed in the old mode become readable as they are. In
 * canonical mode, the end of them counts as the end of a line. */
void
ldisc_mode_changed(struct tty *tty)
{
    memset(tty->mark, MARK_NONE, sizeof tty->mark);
    tty->is_literal = false;
    tty->in_canon = tty->in_head;
    if (ldisc_is_canonical(tty) && ldisc_in_used(tty))
        tty->mark[(tty->in_head - 1) % TTY_IN_BYTES] = MARK_LINE;
    waitq_wake(&tty->slave_queue);
}

/* --- signals and flow control */

/* A literal character (after VLNEXT) has no special meaning. */
static int
ldisc_signal_of(const struct tty *tty, uint8_t c)
{
    if (!ldisc_has_l(tty, ISIG) || tty->is_literal)
        return 0;
    if (ldisc_is_cc(tty, VINTR, c))
        return SIGINT;
    if (ldisc_is_cc(tty, VQUIT, c))
        return SIGQUIT;
    return ldisc_is_cc(tty, VSUSP, c) ? SIGTSTP : 0;
}

/* Typed input and pending output are dropped, unless NOFLSH is set. */
static void
ldisc_receive_signal(struct tty *tty, uint8_t c, int sig)
{
    if (ldisc_has_i(tty, IXON))
        ldisc_set_stopped(tty, false);
    if (!ldisc_has_l(tty, NOFLSH)) {
        ldisc_flush_input(tty);
        ldisc_flush_output(tty);
    }
    if (ldisc_has_l(tty, ECHO))
        ldisc_echo(tty, c);
    tty_signal_foreground(tty, sig);
}

/* True if c stopped or started the output and is used up. */
static bool
ldisc_receive_flow(struct tty *tty, uint8_t c)
{
    if (!ldisc_has_i(tty, IXON))
        return false;
    if (ldisc_is_cc(tty, VSTART, c)) {
        ldisc_set_stopped(tty, false);
        return true;
    }
    if (ldisc_is_cc(tty, VSTOP, c)) {
        ldisc_set_stopped(tty, true);
        return true;
    }
    return false;
}

/* --- the line being typed */

static bool
ldisc_is_continuation(const struct tty *tty, uint8_t c)
{
    return ldisc_has_i(tty, IUTF8) && (c & 0xc0) == 0x80;
}

/* Returns the column after the part of the line that is left. The width of a
 * tab depends on the column where it starts, so the line is measured from its
 * start. */
static uint32_t
ldisc_line_column(struct tty *tty)
{
    uint32_t col = tty->canon_column;

    for (uint64_t p = tty->in_canon; p < tty->in_head; p++) {
        uint8_t c = *ldisc_in_at(tty, p);
        bool caret =
            ldisc_is_control(c) && c != '\t' && ldisc_has_l(tty, ECHOCTL);
        col = caret ? col + 2 : ldisc_column_after(tty, col, c);
    }
    return col;
}

/* Removes the erased character c from the screen. */
static void
ldisc_rub_out(struct tty *tty, uint8_t c)
{
    if (c == '\t') {
        uint32_t back = ldisc_line_column(tty);
        while (tty->column > back) {
            ldisc_put_raw(tty, "\b", 1);
            tty->column--;
        }
        return;
    }
    unsigned cells = 1;
    if (ldisc_is_control(c))
        cells = ldisc_has_l(tty, ECHOCTL) ? 2 : 0;
    for (; cells; cells--) {
        ldisc_put_raw(tty, "\b \b", 3);
        tty->column -= tty->column > 0;
    }
}

/* Finds the last character of the line, with its UTF-8 continuation bytes.
 * Returns false if only such bytes are left. */
static bool
ldisc_last_character(struct tty *tty, uint64_t *ret_at)
{
    uint64_t at = tty->in_head;

    do
        at--;
    while (at > tty->in_canon &&
           ldisc_is_continuation(tty, *ldisc_in_at(tty, at)));
    *ret_at = at;
    return !ldisc_is_continuation(tty, *ldisc_in_at(tty, at));
}

/* Echo depends on the mode: the erase character itself, or a blank over the old
 * one. */
static void
ldisc_erase_at(struct tty *tty, uint64_t at, bool one_only)
{
    uint8_t c = *ldisc_in_at(tty, at);

    tty->in_head = at;
    if (!ldisc_has_l(tty, ECHO))
        return;
    if (one_only && !ldisc_has_l(tty, ECHOE))
        ldisc_echo(tty, tty->tio.cc[VERASE]);
    else
        ldisc_rub_out(tty, c);
}

static void
ldisc_erase_character(struct tty *tty)
{
    uint64_t at;

    if (tty->in_head > tty->in_canon && ldisc_last_character(tty, &at))
        ldisc_erase_at(tty, at, true);
}

/* A word is letters, digits and underscores; other characters after it are
 * erased with it, as Linux does. */
static void
ldisc_erase_word(struct tty *tty)
{
    bool in_word = false;
    uint64_t at;

    while (tty->in_head > tty->in_canon && ldisc_last_character(tty, &at)) {
        uint8_t c = *ldisc_in_at(tty, at);
        bool is_word = isalnum(c) || c == '_';
        if (!is_word && in_word)
            return;
        in_word = is_word;
        ldisc_erase_at(tty, at, false);
    }
}

/* Without ECHOKE the line stays on the screen, and the kill character is
 * shown. */
static void
ldisc_erase_line(struct tty *tty)
{
    uint64_t at;

    if (tty->in_head == tty->in_canon)
        return;
    if (!ldisc_has_l(tty, ECHO)) {
        tty->in_head = tty->in_canon;
        return;
    }
    if (ldisc_has_l(tty, ECHOK) && ldisc_has_l(tty, ECHOKE) &&
        ldisc_has_l(tty, ECHOE)) {
        while (tty->in_head > tty->in_canon && ldisc_last_character(tty, &at))
            ldisc_erase_at(tty, at, false);
        return;
    }
    tty->in_head = tty->in_canon;
    ldisc_echo(tty, tty->tio.cc[VKILL]);
    if (ldisc_has_l(tty, ECHOK))
        ldisc_echo_plain(tty, '\n');
}

/* VREPRINT shows the line again, after output of a program has mixed with
 * it. */
static void
ldisc_reprint_line(struct tty *tty)
{
    ldisc_echo(tty, tty->tio.cc[VREPRINT]);
    ldisc_echo_plain(tty, '\n');
    for (uint64_t p = tty->in_canon; p < tty->in_head; p++) {
        if (!ldisc_can_echo(tty))
            return;
        ldisc_echo(tty, *ldisc_in_at(tty, p));
    }
}

/* True if c edited the line and is used up. */
static bool
ldisc_receive_edit(struct tty *tty, uint8_t c)
{
    bool extended = ldisc_has_l(tty, IEXTEN);

    if (ldisc_is_cc(tty, VERASE, c))
        ldisc_erase_character(tty);
    else if (ldisc_is_cc(tty, VKILL, c))
        ldisc_erase_line(tty);
    else if (extended && ldisc_is_cc(tty, VWERASE, c))
        ldisc_erase_word(tty);
    else if (extended && ldisc_is_cc(tty, VREPRINT, c) &&
             ldisc_has_l(tty, ECHO))
        ldisc_reprint_line(tty);
    else
        return false;
    return true;
}

/* Returns true if c ended the line. The end-of-file character is stored as a
 * mark without a byte: it ends the line, and is no part of it. */
static bool
ldisc_receive_end(struct tty *tty, uint8_t c)
{
    bool is_eof = ldisc_is_cc(tty, VEOF, c);
    bool is_eol = ldisc_is_cc(tty, VEOL, c) ||
                  (ldisc_has_l(tty, IEXTEN) && ldisc_is_cc(tty, VEOL2, c));

    if (c != '\n' && !is_eof && !is_eol)
        return false;
    if (c == '\n' && ldisc_has_l(tty, ECHO | ECHONL))
        ldisc_echo_plain(tty, c);
    else if (!is_eof && c != '\n' && ldisc_has_l(tty, ECHO))
        ldisc_echo(tty, c);
    ldisc_put(tty, is_eof && c != '\n' ? 0 : c,
              is_eof && c != '\n' ? MARK_EOF : MARK_LINE);
    ldisc_input_ready(tty);
    return true;
}

/* --- receiving */

static bool
ldisc_has_space(const struct tty *tty)
{
    return ldisc_in_used(tty) < TTY_IN_BYTES - 1;
}

bool
ldisc_has_room(const struct tty *tty, uint8_t c)
{
    if (ldisc_has_space(tty) || ldisc_signal_of(tty, c))
        return true;
    /* A line too long to fit is cut, so that it can still be ended. */
    return ldisc_is_canonical(tty) && tty->in_canon == tty->in_tail;
}

/* A character without space is dropped with a bell; the line can still be
 * ended. */
static void
ldisc_receive_plain(struct tty *tty, uint8_t c)
{
    if (!ldisc_has_space(tty)) {
        if (ldisc_has_i(tty, IMAXBEL))
            ldisc_put_raw(tty, "\a", 1);
        return;
    }
    if (tty->in_head == tty->in_canon)
        tty->canon_column = tty->column;
    if (ldisc_has_l(tty, ECHO))
        ldisc_echo(tty, c);
    ldisc_put(tty, c, MARK_NONE);
    if (!ldisc_is_canonical(tty))
        ldisc_input_ready(tty);
}

/* A caret shows that the next character is entered literally; the cursor stays
 * on it. */
static void
ldisc_receive_literal_next(struct tty *tty)
{
    tty->is_literal = true;
    if (ldisc_has_l(tty, ECHO) && ldisc_has_l(tty, ECHOCTL))
        ldisc_put_raw(tty, "^\b", 2);
}

/* Carriage returns and newlines as iflag wants them; false: dropped. */
static bool
ldisc_map_input(const struct tty *tty, uint8_t *c)
{
    if (*c == '\r') {
        if (ldisc_has_i(tty, IGNCR))
            return false;
        if (ldisc_has_i(tty, ICRNL))
            *c = '\n';
    } else if (*c == '\n' && ldisc_has_i(tty, INLCR)) {
        *c = '\r';
    }
    return true;
}

/* The steps of the head of this file, for one byte. */
void
ldisc_receive(struct tty *tty, uint8_t c)
{
    if (ldisc_has_i(tty, ISTRIP))
        c &= 0x7f;
    if (ldisc_has_i(tty, IUCLC) && ldisc_has_l(tty, IEXTEN))
        c = (uint8_t)tolower(c);
    if (tty->is_literal) {
        tty->is_literal = false;
        ldisc_receive_plain(tty, c);
        return;
    }
    if (ldisc_receive_flow(tty, c))
        return;
    int sig = ldisc_signal_of(tty, c);
    if (sig) {
        ldisc_receive_signal(tty, c, sig);
        return;
    }
    if (ldisc_has_i(tty, IXON) && ldisc_has_i(tty, IXANY))
        ldisc_set_stopped(tty, false);
    if (!ldisc_map_input(tty, &c))
        return;
    if (ldisc_is_canonical(tty) && ldisc_has_l(tty, IEXTEN) &&
        ldisc_is_cc(tty, VLNEXT, c))
        ldisc_receive_literal_next(tty);
    else if (!ldisc_is_canonical(tty) ||
             (!ldisc_receive_edit(tty, c) && !ldisc_receive_end(tty, c)))
        ldisc_receive_plain(tty, c);
}

/* --- reading */

size_t
ldisc_available(const struct tty *tty)
{
    return (size_t)(tty->in_canon - tty->in_tail);
}

/* In canonical mode, a read ends with a line. An end-of-file mark directly
 * after the last byte that was asked for is removed with it: otherwise the next
 * read would return 0 in the middle of the input. */
static size_t
ldisc_take_line(struct tty *tty, uint8_t *buf, size_t len, bool *ret_eof)
{
    size_t n = 0;

    while (tty->in_tail < tty->in_canon) {
        uint8_t mark = tty->mark[tty->in_tail % TTY_IN_BYTES];
        if (n == len && mark != MARK_EOF)
            return n;
        uint8_t c = *ldisc_in_at(tty, tty->in_tail++);
        if (mark == MARK_EOF) {
            *ret_eof = n == 0;
            return n;
        }
        buf[n++] = c;
        if (mark == MARK_LINE)
            return n;
    }
    return n;
}

size_t
ldisc_take(struct tty *tty, uint8_t *buf, size_t len, bool *ret_eof)
{
    size_t n = ldisc_available(tty);

    *ret_eof = false;
    if (ldisc_is_canonical(tty)) {
        n = ldisc_take_line(tty, buf, len, ret_eof);
    } else {
        n = n < len ? n : len;
        for (size_t i = 0; i < n; i++)
            buf[i] = *ldisc_in_at(tty, tty->in_tail + i);
        tty->in_tail += n;
    }
    if (n || *ret_eof)
        waitq_wake(&tty->master_queue);
    return n;
}
