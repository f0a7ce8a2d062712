/* session shell: our terminal becomes that of a process in the session.
 *
 * The terminal is in raw mode, so ^C and the like are handled by the terminal
 * inside. Three sources are served in one loop: messages of the supervisor, our
 * own input, and signals. Without a terminal, the program works as a filter. */
#include "cli/session.h"

#include "base/buf.h"
#include "base/hfd.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <termios.h>
#include <unistd.h>

/* The state of the loop. */
struct shell_terminal {
    struct cli *c;
    const char *id;
    int64_t process, wait_id;
    bool has_tty, is_raw, is_over;
    bool has_input; /* more may come */
    struct termios saved;
    int signal_hfd;
    int status;
};

/* --- our terminal */

/* The terminal is restored before any message is printed. */
static void
cli_restore(struct shell_terminal *t)
{
    if (t->is_raw)
        (void)tcsetattr(0, TCSADRAIN, &t->saved);
    t->is_raw = false;
}

/* The old settings are kept for the end. */
static void
cli_make_raw(struct shell_terminal *t)
{
    struct termios raw;

    t->has_tty = isatty(0) && tcgetattr(0, &t->saved) == 0;
    if (!t->has_tty)
        return;
    raw = t->saved;
    cfmakeraw(&raw);
    t->is_raw = tcsetattr(0, TCSADRAIN, &raw) == 0;
}

/* Some terminals report a size of 0, which no program expects. */
static void
cli_put_size(struct buf *params)
{
    struct winsize size;

    if (ioctl(0, TIOCGWINSZ, &size) < 0 || !size.ws_row || !size.ws_col)
        return;
    put_number(params, "rows", size.ws_row);
    put_number(params, "cols", size.ws_col);
}

/* Signals arrive as events of the loop, so that nothing is interrupted
 * half-way. */
static int
cli_open_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGWINCH);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGINT);
    (void)sigprocmask(SIG_BLOCK, &set, NULL);
    return signalfd(-1, &set, SFD_CLOEXEC);
}

/* --- requests about the process */

/* Returns parameters with the session and the process. */
static struct buf
session_shell_begin_about(const struct shell_terminal *t)
{
    struct buf p = cli_params(t->id);

    put_number(&p, "processId", (uint64_t)t->process);
    return p;
}

/* Without a known size there is nothing to send. */
static void
cli_send_size(struct shell_terminal *t)
{
    struct buf p = session_shell_begin_about(t);
    size_t len = p.len;

    cli_put_size(&p);
    if (p.len > len)
        (void)link_send(&t->c->link, "process.resize", &p);
    buf_fini(&p);
}

/* An end of input is passed on once; the output may still go on. */
static void
cli_send_input(struct shell_terminal *t)
{
    struct buf p = session_shell_begin_about(t);
    char bytes[2048];
    ssize_t n = read(0, bytes, sizeof bytes);

    if (n == 0) {
        t->has_input = false;
        put_bool(&p, "eof", true);
    } else if (n > 0) {
        put_name(&p, "data");
        put_base64(&p, bytes, (size_t)n);
        put_member(&p, "encoding", "base64");
    }
    if (n >= 0)
        (void)link_send(&t->c->link, "process.write", &p);
    buf_fini(&p);
}

/* A SIGINT from outside reaches us although the terminal is raw; it is meant
 * for the process. */
static void
session_shell_send_interrupt(struct shell_terminal *t)
{
    struct buf p = session_shell_begin_about(t);

    put_number(&p, "signal", SIGINT);
    (void)link_send(&t->c->link, "process.kill", &p);
}

/* --- messages, input and signals */

/* Output of other processes of the same client does not belong to this
 * terminal. */
static void
cli_take_output(struct shell_terminal *t, const struct json *params)
{
    bool is_error = !strcmp(cli_member(params, "stream"), "stderr");
    size_t len;

    if (json_integer(json_get(params, "process_id")) != t->process)
        return;
    char *p = cli_output(params, &len);
    if (p)
        (void)hfd_write_all(is_error ? 2 : 1, p, len);
    free(p);
}

/* The answer to process.wait ends the loop. It arrives after all output. */
static void
cli_take_message(struct shell_terminal *t, const struct json *m)
{
    const struct json *params = json_get(m, "params");
    const struct json *result = json_get(m, "result");

    if (params)
        cli_take_output(t, params);
    if (json_integer(json_get(m, "id")) != t->wait_id)
        return;
    t->is_over = true;
    if (result) {
        t->status = (int)json_integer(json_get(result, "exitCode"));
        return;
    }
    cli_restore(t);
    cli_complain(t->c, "%s", cli_member(json_get(m, "error"), "message"));
}

/* Several messages may have arrived with one read. */
static void
cli_take_messages(struct shell_terminal *t)
{
    struct json_doc m = {0};

    while (link_next(&t->c->link, &m)) {
        cli_take_message(t, m.v);
        json_fini(&m);
    }
}

/* A closed connection is an error: the supervisor hangs the process up then. */
static void
cli_read_messages(struct shell_terminal *t)
{
    if (link_read(&t->c->link) <= 0) {
        t->is_over = true;
        cli_restore(t);
        cli_complain(t->c, "the supervisor closed the connection");
    }
    cli_take_messages(t);
}

/* Any other signal ends this program. Closing the connection hangs up the
 * terminal inside. */
static void
cli_take_signal(struct shell_terminal *t)
{
    struct signalfd_siginfo info;

    if (read(t->signal_hfd, &info, sizeof info) != (ssize_t)sizeof info)
        return;
    if (info.ssi_signo == SIGWINCH)
        cli_send_size(t);
    else if (info.ssi_signo == SIGINT && t->has_tty)
        session_shell_send_interrupt(t);
    else
        t->is_over = true;
}

/* Output may have arrived together with the answer to process.start, before the
 * loop. */
static void
cli_converse(struct shell_terminal *t)
{
    cli_take_messages(t);
    while (!t->is_over) {
        struct pollfd p[] = {{t->c->link.hfd, POLLIN, 0},
                             {t->signal_hfd, POLLIN, 0},
                             {t->has_input ? 0 : -1, POLLIN, 0}};
        if (poll(p, 3, -1) < 0 && errno != EINTR)
            break;
        if (p[1].revents)
            cli_take_signal(t);
        if (p[2].revents)
            cli_send_input(t);
        if (p[0].revents)
            cli_read_messages(t);
    }
}

/* --- the command */

/* Writes the words as one command. Without any, a terminal gets the shell of
 * the session, and a pipe a bash that reads commands. */
static void
session_shell_put_command(const struct shell_terminal *t, struct buf *p)
{
    CLEANUP(buf_fini) struct buf b;

    buf_init(&b, SIZE_MAX);
    for (char **w = t->c->words; *w; w++) {
        buf_puts(&b, w == t->c->words ? "" : " ");
        buf_puts(&b, *w);
    }
    if (!*t->c->words && !t->has_tty)
        buf_puts(&b, "bash");
    if (!b.len)
        return;
    put_name(p, "command");
    put_string(p, b.p, b.len);
}

/* TERM is passed on, because programs inside draw on our terminal. */
static struct buf
cli_start_params(struct shell_terminal *t)
{
    const char *term = getenv("TERM");
    struct buf p = cli_params(t->id);

    put_bool(&p, "pty", t->has_tty);
    put_member(&p, "encoding", "base64");
    if (t->has_tty)
        cli_put_size(&p);
    if (t->has_tty && term)
        (void)cli_set_env(t->c, "TERM", term);
    cli_put_env(t->c, &p);
    cli_put_option(&p, "cwd", t->c->cwd);
    cli_put_option(&p, "user", t->c->user);
    session_shell_put_command(t, &p);
    return p;
}

/* The terminal becomes raw only after the process has started, so that errors
 * before it are shown as usual. */
int
cli_shell(struct cli *c, const char *id)
{
    CLEANUP(json_fini) struct json_doc answer = {0};
    struct shell_terminal t = {
        .c = c, .id = id, .has_input = true, .status = CLI_FAILED};

    t.has_tty = isatty(0);
    struct buf p = cli_start_params(&t);
    const struct json *started = cli_call(c, "process.start", &p, &answer);
    if (!started)
        return CLI_FAILED;
    t.process = json_integer(json_get(started, "processId"));
    t.signal_hfd = cli_open_signals();
    cli_make_raw(&t);
    p = session_shell_begin_about(&t);
    t.wait_id = link_send(&c->link, "process.wait", &p);
    cli_converse(&t);
    cli_restore(&t);
    (void)close(t.signal_hfd);
    return t.status;
}
