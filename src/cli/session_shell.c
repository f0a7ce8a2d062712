/* session shell: our terminal becomes that of a process in the session. */
#include "cli/session.h"

#include "base/buf.h"
#include "base/hfd.h"
#include "wire/text.h"

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

struct terminal {
    struct cli *c;
    const char *id;
    json_int_t process, wait_id;
    bool has_tty, is_raw, is_over;
    bool has_input; /* more may come */
    struct termios saved;
    int signal_hfd;
    int status;
};

/* --- our terminal */

static void
cli_restore(struct terminal *t)
{
    if (t->is_raw)
        (void)tcsetattr(0, TCSADRAIN, &t->saved);
    t->is_raw = false;
}

static void
cli_make_raw(struct terminal *t)
{
    struct termios raw;

    t->has_tty = isatty(0) && tcgetattr(0, &t->saved) == 0;
    if (!t->has_tty)
        return;
    raw = t->saved;
    cfmakeraw(&raw);
    t->is_raw = tcsetattr(0, TCSADRAIN, &raw) == 0;
}

static void
cli_put_size(json_t *params)
{
    struct winsize size;

    if (ioctl(0, TIOCGWINSZ, &size) < 0 || !size.ws_row || !size.ws_col)
        return;
    (void)json_object_set_new(params, "rows", json_integer(size.ws_row));
    (void)json_object_set_new(params, "cols", json_integer(size.ws_col));
}

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

static void
cli_send_about(struct terminal *t, const char *method, OWN json_t *params)
{
    (void)json_object_set_new(params, "sessionId", json_string(t->id));
    (void)json_object_set_new(params, "processId", json_integer(t->process));
    json_int_t id = link_send(&t->c->link, method, params);
    if (!strcmp(method, "process.wait"))
        t->wait_id = id;
}

static void
cli_send_size(struct terminal *t)
{
    json_t *p = json_object();

    cli_put_size(p);
    if (json_object_size(p))
        cli_send_about(t, "process.resize", p);
    else
        json_decref(p);
}

static void
cli_send_input(struct terminal *t)
{
    char bytes[2048];
    struct buf b;
    ssize_t n = read(0, bytes, sizeof bytes);

    if (n < 0)
        return;
    if (n == 0) {
        t->has_input = false;
        cli_send_about(t, "process.write", json_pack("{s:b}", "eof", true));
        return;
    }
    buf_init(&b, SIZE_MAX);
    put_base64(&b, bytes, (size_t)n);
    if (!b.error)
        cli_send_about(t, "process.write",
                       json_pack("{s:o, s:s}", "data",
                                 json_stringn(b.p + 1, b.len - 2), "encoding",
                                 "base64"));
    buf_fini(&b);
}

/* --- what comes */

static void
cli_take_output(struct terminal *t, const json_t *params)
{
    const char *stream = json_string_value(json_object_get(params, "stream"));
    size_t len;

    if (json_integer_value(json_object_get(params, "process_id")) != t->process)
        return;
    char *p = cli_output(params, &len);
    if (p)
        (void)hfd_write_all(stream && !strcmp(stream, "stderr") ? 2 : 1, p,
                            len);
    free(p);
}

static void
cli_take_message(struct terminal *t, const json_t *m)
{
    const json_t *params = json_object_get(m, "params");
    const json_t *result = json_object_get(m, "result");

    if (params)
        cli_take_output(t, params);
    if (json_integer_value(json_object_get(m, "id")) != t->wait_id)
        return;
    t->is_over = true;
    if (result) {
        t->status =
            (int)json_integer_value(json_object_get(result, "exitCode"));
        return;
    }
    cli_restore(t);
    cli_complain(t->c, "%s",
                 json_string_value(
                     json_object_get(json_object_get(m, "error"), "message")));
}

static void
cli_take_messages(struct terminal *t)
{
    json_t *m;

    while ((m = link_next(&t->c->link))) {
        cli_take_message(t, m);
        json_decref(m);
    }
}

static void
cli_read_messages(struct terminal *t)
{
    if (link_read(&t->c->link) <= 0) {
        t->is_over = true;
        cli_restore(t);
        cli_complain(t->c, "the supervisor closed the connection");
    }
    cli_take_messages(t);
}

static void
cli_take_signal(struct terminal *t)
{
    struct signalfd_siginfo info;

    if (read(t->signal_hfd, &info, sizeof info) != (ssize_t)sizeof info)
        return;
    if (info.ssi_signo == SIGWINCH)
        cli_send_size(t);
    else if (info.ssi_signo == SIGINT && t->has_tty)
        cli_send_about(t, "process.kill", json_pack("{s:i}", "signal", SIGINT));
    else
        t->is_over = true; /* closing the connection hangs it up */
}

static void
cli_converse(struct terminal *t)
{
    cli_take_messages(t); /* that came with the answer to process.start */
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

static json_t *
cli_start_params(struct terminal *t)
{
    const char *term = getenv("TERM");
    json_t *p = json_pack("{s:s, s:b, s:s}", "sessionId", t->id, "pty",
                          t->has_tty, "encoding", "base64");
    struct buf b;

    if (t->has_tty)
        cli_put_size(p);
    if (t->has_tty && term)
        (void)json_object_set_new(t->c->env, "TERM", json_string(term));
    if (json_object_size(t->c->env))
        (void)json_object_set(p, "env", t->c->env);
    if (t->c->cwd)
        (void)json_object_set_new(p, "cwd", json_string(t->c->cwd));
    if (t->c->user)
        (void)json_object_set_new(p, "user", json_string(t->c->user));
    buf_init(&b, SIZE_MAX);
    for (char **w = t->c->words; *w; w++) {
        buf_puts(&b, w == t->c->words ? "" : " ");
        buf_puts(&b, *w);
    }
    if (!*t->c->words && !t->has_tty)
        buf_puts(&b, "bash");
    if (b.len)
        (void)json_object_set_new(p, "command", json_stringn(b.p, b.len));
    buf_fini(&b);
    return p;
}

int
cli_shell(struct cli *c, const char *id)
{
    struct terminal t = {
        .c = c, .id = id, .has_input = true, .status = CLI_FAILED};

    t.has_tty = isatty(0);
    json_t *started = cli_call(c, "process.start", cli_start_params(&t));
    if (!started)
        return CLI_FAILED;
    t.process = json_integer_value(json_object_get(started, "processId"));
    json_decref(started);
    t.signal_hfd = cli_open_signals();
    cli_make_raw(&t);
    cli_send_about(&t, "process.wait", json_object());
    cli_converse(&t);
    cli_restore(&t);
    (void)close(t.signal_hfd);
    return t.status;
}
