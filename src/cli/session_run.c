/* session run, files, events. */
#include "cli/session.h"

#include "base/buf.h"
#include "base/hfd.h"
#include "wire/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

static const char *
cli_text_of(const json_t *object, const char *name)
{
    const char *s = json_string_value(json_object_get(object, name));

    return s ? s : "";
}

enum { PART_BYTES = 4 << 20, STDIN_BYTES_MAX = 5 << 20, WAIT_MS = 60000 };

static char *
cli_decode(const json_t *string, size_t *ret_len)
{
    size_t len = json_string_length(string);
    char *p = malloc(BASE64_BYTES(len) + 1);

    if (p && base64_decode(json_string_value(string), len, p, ret_len) == 0)
        return p;
    free(p);
    return NULL;
}

static json_t *
cli_encode(const void *p, size_t len)
{
    struct buf b;

    buf_init(&b, SIZE_MAX);
    put_base64(&b, p, len);
    json_t *s = b.error ? NULL : json_stringn(b.p + 1, b.len - 2);
    buf_fini(&b);
    return s;
}

char *
cli_output(const json_t *params, size_t *ret_len)
{
    return cli_decode(json_object_get(params, "data"), ret_len);
}

/* --- run */

struct running {
    struct cli *c;
    const char *id;
    json_int_t request;
    sigset_t signals; /* that cancel it, but for those that are ignored */
    int signal_hfd;
    bool is_told_to_end;
    int error; /* of writing what it wrote */
};

static void
cli_cancel(struct running *r)
{
    (void)link_send(
        &r->c->link, "cancel",
        json_pack("{s:s, s:I}", "sessionId", r->id, "requestId", r->request));
}

/* The first signal cancels the run, and the next one ends us. -EAGAIN: from
 * then on we do not wait for the reader of our output. */
static int
cli_await_events(struct running *r, int hfd, short events)
{
    struct pollfd p[] = {{hfd, events, 0}, {r->signal_hfd, POLLIN, 0}};
    struct signalfd_siginfo info;

    while (!p[0].revents) {
        int n = poll(p, 2, r->is_told_to_end && events == POLLOUT ? 0 : -1);
        if (n == 0 || (n < 0 && errno != EINTR))
            return n == 0 ? -EAGAIN : -errno;
        if (p[1].revents && read(r->signal_hfd, &info, sizeof info) > 0) {
            r->is_told_to_end = true;
            (void)sigprocmask(SIG_UNBLOCK, &r->signals, NULL);
            cli_cancel(r);
        }
    }
    return 0;
}

static int
cli_write_out(struct running *r, int hfd, const char *p, size_t len)
{
    int e = 0;

    for (size_t n; e == 0 && len; p += n, len -= n) {
        n = len < PIPE_BUF ? len : PIPE_BUF; /* so much fits into a pipe */
        e = cli_await_events(r, hfd, POLLOUT);
        if (e == 0)
            e = hfd_write_all(hfd, p, n);
    }
    return e == -EAGAIN ? 0 : e;
}

/* Output that nobody reads need not be requested. */
static void
cli_on_output(void *arg, const json_t *params)
{
    const char *stream = json_string_value(json_object_get(params, "stream"));
    int hfd = stream && !strcmp(stream, "stderr") ? 2 : 1;
    struct running *r = arg;
    size_t len;
    char *p = r->error < 0 ? NULL : cli_output(params, &len);

    if (p)
        r->error = cli_write_out(r, hfd, p, len);
    if (p && r->error < 0)
        cli_cancel(r);
    free(p);
}

static json_t *
cli_await_answer(struct running *r)
{
    struct link *k = &r->c->link;
    json_t *answer;

    while (!(answer = link_find(k, r->request)))
        if (cli_await_events(r, k->hfd, POLLIN) < 0 || link_read(k) <= 0)
            return NULL;
    return answer;
}

static json_t *
cli_call_run(struct running *r, OWN json_t *params)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction now;

    sigemptyset(&r->signals);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (sigaction(numbers[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(&r->signals, numbers[i]);
    (void)sigprocmask(SIG_BLOCK, &r->signals, NULL);
    r->signal_hfd = signalfd(-1, &r->signals, SFD_CLOEXEC);
    r->c->link.notified = cli_on_output;
    r->c->link.arg = r;
    r->request = link_send(&r->c->link, "run", params);
    json_t *result = cli_result(r->c, cli_await_answer(r));
    (void)close(r->signal_hfd);
    return result;
}

static char *
cli_join(char **words)
{
    struct buf b;

    buf_init(&b, SIZE_MAX);
    for (char **w = words; *w; w++) {
        buf_puts(&b, w == words ? "" : " ");
        buf_puts(&b, *w);
    }
    buf_add(&b, "", 1);
    return buf_steal(&b);
}

/* All of standard input. */
static json_t *
cli_read_stdin(struct cli *c)
{
    struct buf b;
    char part[2048];
    ssize_t n;

    buf_init(&b, STDIN_BYTES_MAX);
    while ((n = read(0, part, sizeof part)) > 0 && !b.error)
        buf_add(&b, part, (size_t)n);
    if (b.error)
        cli_complain(c, "more than %d bytes of standard input",
                     STDIN_BYTES_MAX);
    json_t *s = b.error ? NULL : cli_encode(b.p, b.len);
    buf_fini(&b);
    return s;
}

static int
cli_told_status(struct cli *c, OWN json_t *result)
{
    const char *class =
        json_string_value(json_object_get(result, "errorClass"));
    int status =
        result ? (int)json_integer_value(json_object_get(result, "exitCode"))
               : CLI_FAILED;

    if (class)
        cli_complain(c, "%s", class);
    if (json_object_get(result, "truncated"))
        cli_complain(c, "the output was longer than its limit");
    json_decref(result);
    return status;
}

int
cli_run(struct cli *c, const char *id)
{
    char *command = cli_join(c->words);
    json_t *p = json_pack("{s:s, s:s, s:b, s:s}", "sessionId", id, "command",
                          command, "stream", !c->is_json, "encoding",
                          c->is_json && !c->reads_stdin ? "text" : "base64");

    free(command);
    if (!*c->words) {
        json_decref(p);
        cli_complain(c, "which command?");
        return CLI_USAGE;
    }
    if (c->cwd)
        (void)json_object_set_new(p, "cwd", json_string(c->cwd));
    if (c->timeout_ms)
        (void)json_object_set_new(p, "timeoutMs", json_integer(c->timeout_ms));
    if (json_object_size(c->env))
        (void)json_object_set(p, "env", c->env);
    if (c->reads_stdin &&
        json_object_set_new(p, "stdin", cli_read_stdin(c)) < 0) {
        json_decref(p);
        return CLI_FAILED;
    }
    struct running r = {.c = c, .id = id};
    json_t *result = cli_call_run(&r, p);
    if (c->is_json && result) {
        (void)json_dumpf(result, stdout, JSON_INDENT(2));
        (void)putchar('\n');
    }
    if (r.error == 0)
        return cli_told_status(c, result);
    json_decref(result);
    if (r.error == -EPIPE)
        return 128 + SIGPIPE;
    cli_complain(c, "its output: %s", strerror(-r.error));
    return CLI_FAILED;
}

/* --- files */

/* Relative paths are in the home folder; the caller frees the result. */
static char *
cli_full_path(const char *path)
{
    char *full = NULL;

    if (*path == '/')
        return strdup(path);
    return asprintf(&full, "/home/user%s%s", *path ? "/" : "", path) < 0 ? NULL
                                                                         : full;
}

static void
cli_print_entry(const json_t *entry)
{
    printf("%-8s %12" JSON_INTEGER_FORMAT " ", cli_text_of(entry, "type"),
           json_integer_value(json_object_get(entry, "size")));
    cli_print(cli_text_of(entry, "name"), 0);
    (void)putchar('\n');
}

static int
cli_list_files(struct cli *c, const char *id, char **words)
{
    json_t *result =
        cli_call(c, "files.list",
                 json_pack("{s:s, s:s}", "sessionId", id, "path", words[0]));
    const json_t *entry;
    size_t i;

    if (c->is_json && result) {
        (void)json_dumpf(result, stdout, JSON_INDENT(2));
        (void)putchar('\n');
    } else {
        json_array_foreach(json_object_get(result, "entries"), i, entry)
            cli_print_entry(entry);
    }
    int status = result ? 0 : CLI_FAILED;
    json_decref(result);
    return status;
}

static const char *
cli_last_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* Where it goes, which is made when there is something to write. */
struct target {
    const char *name;
    int hfd; /* -1: not opened yet */
};

static int
cli_open_target(struct target *t)
{
    if (t->hfd < 0)
        t->hfd = open(t->name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return t->hfd < 0 ? -errno : 0;
}

/* 1: there may be more. */
static int
cli_get_part(struct cli *c, const char *id, const char *path, json_int_t at,
             struct target *to, size_t *ret_len)
{
    json_t *p = json_pack("{s:s, s:s, s:I, s:i}", "sessionId", id, "path", path,
                          "offset", at, "length", PART_BYTES);
    json_t *result = cli_call(c, "files.read", p);
    char *data =
        result ? cli_decode(json_object_get(result, "data"), ret_len) : NULL;
    int r = data ? cli_open_target(to) : -EIO;

    if (r == 0)
        r = hfd_write_all(to->hfd, data, *ret_len);
    free(data);
    if (result && r < 0)
        cli_complain(c, "%s: %s", to->name, strerror(-r));
    json_decref(result);
    return r < 0 ? r : *ret_len == PART_BYTES;
}

static int
cli_get_file(struct cli *c, const char *id, char **words)
{
    struct target to = {words[1] ? words[1] : cli_last_name(words[0]), -1};
    json_int_t at = 0;
    size_t len = 0;
    int r = 1;

    if (!strcmp(to.name, "-"))
        to.hfd = 1;
    for (; r == 1; at += (json_int_t)len)
        r = cli_get_part(c, id, words[0], at, &to, &len);
    if (to.hfd > 1 && close(to.hfd) < 0)
        r = -errno;
    return r < 0 ? CLI_FAILED : 0;
}

static int
cli_put_part(struct cli *c, const char *id, const char *path, const char *part,
             size_t len, bool is_first)
{
    json_t *p = json_pack("{s:s, s:s, s:o, s:b}", "sessionId", id, "path", path,
                          "data", cli_encode(part, len), "append", !is_first);
    json_t *result = cli_call(c, "files.write", p);

    json_decref(result);
    return result ? 0 : -EIO;
}

static int
cli_put_file(struct cli *c, const char *id, char **words)
{
    bool is_stdin = !strcmp(words[0], "-");
    int hfd = is_stdin ? 0 : open(words[0], O_RDONLY | O_CLOEXEC);
    char *part = malloc(PART_BYTES);
    bool is_first = true;
    ssize_t n;
    int r = 0;

    if (hfd < 0 || !part) {
        cli_complain(c, "%s: %s", words[0], strerror(errno));
        free(part);
        return CLI_FAILED;
    }
    do {
        n = read(hfd, part, PART_BYTES);
        if (n > 0 || (n == 0 && is_first))
            r = cli_put_part(c, id, words[1], part, (size_t)n, is_first);
        is_first = false;
    } while (n > 0 && r == 0);
    if (n < 0)
        cli_complain(c, "%s: %s", words[0], strerror(errno));
    free(part);
    if (!is_stdin)
        (void)close(hfd);
    return n < 0 || r < 0 ? CLI_FAILED : 0;
}

/* A path that is not given is the home, or a file of the same name there. */
static int
cli_with_path(struct cli *c, const char *id, char **given, int path,
              int (*run)(struct cli *c, const char *id, char **words))
{
    char *words[3] = {given[0], given[0] ? given[1] : NULL, NULL};
    const char *name = words[path] ? words[path]
                       : path      ? cli_last_name(given[0])
                                   : "";
    char *full = cli_full_path(name);
    int status = CLI_FAILED;

    words[path] = full;
    if (full)
        status = run(c, id, words);
    free(full);
    return status;
}

int
cli_files(struct cli *c)
{
    static const struct {
        const char *name;
        int (*run)(struct cli *c, const char *id, char **words);
        int least, most;
        int path; /* which word is a path in the session */
    } rows[] = {{"ls", cli_list_files, 0, 1, 0},
                {"get", cli_get_file, 1, 2, 0},
                {"put", cli_put_file, 1, 2, 1}};
    char **words = c->words, id[33];
    int n = 0;

    while (words[n])
        n++;
    for (size_t i = 0; n >= 2 && i < sizeof rows / sizeof *rows; i++) {
        if (strcmp(words[0], rows[i].name) != 0 || n - 2 < rows[i].least ||
            n - 2 > rows[i].most)
            continue;
        if (!cli_find(c, words[1], id))
            return CLI_FAILED;
        return cli_with_path(c, id, words + 2, rows[i].path, rows[i].run);
    }
    cli_complain(c, "ls SESSION [PATH], get SESSION PATH [FILE], or put "
                    "SESSION FILE [PATH]");
    return CLI_USAGE;
}

/* --- the output of a command */

int
cli_show_output(struct cli *c, const char *id)
{
    json_int_t after = 0;
    size_t len = 1;

    while (len) {
        json_t *result =
            cli_call(c, "session.output",
                     json_pack("{s:s, s:I}", "sessionId", id, "after", after));
        char *p = result ? cli_output(result, &len) : NULL;
        int r = p ? hfd_write_all(1, p, len) : -EIO;
        after = json_integer_value(json_object_get(result, "end"));
        free(p);
        json_decref(result);
        if (r < 0)
            return CLI_FAILED;
    }
    return 0;
}

/* --- events */

static void
cli_print_event(const struct cli *c, const json_t *e)
{
    time_t t = (time_t)(json_integer_value(json_object_get(e, "time")) / 1000);
    char when[32];
    struct tm tm;

    if (c->is_json) {
        (void)json_dumpf(e, stdout, JSON_COMPACT);
        (void)putchar('\n');
        return;
    }
    (void)localtime_r(&t, &tm);
    (void)strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &tm);
    printf("%6" JSON_INTEGER_FORMAT "  %s  %.12s  %-8s %-8s %s%s",
           json_integer_value(json_object_get(e, "seq")), when,
           cli_text_of(e, "sessionId"), cli_text_of(e, "from"),
           cli_text_of(e, "to"), cli_text_of(e, "cause"),
           *cli_text_of(e, "reason") ? ": " : "");
    cli_print(cli_text_of(e, "reason"), 0);
    (void)putchar('\n');
}

/* Returns the number of events, or -1 after reporting an error. */
static int
cli_print_events(struct cli *c, const char *id)
{
    json_t *p = json_pack("{s:I, s:i, s:i}", "after", c->after, "limit", 1000,
                          "waitMs", c->follow ? WAIT_MS : 0);
    json_t *event;
    size_t i;

    if (*id)
        (void)json_object_set_new(p, "sessionId", json_string(id));
    json_t *result = cli_call(c, "session.events", p);
    if (!result)
        return -1;
    json_array_foreach(json_object_get(result, "events"), i, event)
        cli_print_event(c, event);
    c->after = json_integer_value(json_object_get(result, "last"));
    int n = (int)json_array_size(json_object_get(result, "events"));
    json_decref(result);
    return fflush(stdout) < 0 ? -1 : n;
}

int
cli_events(struct cli *c)
{
    char id[33] = "";
    int n;

    if (*c->words && !cli_find(c, *c->words, id))
        return CLI_FAILED;
    do
        n = cli_print_events(c, id);
    while (n > 0 || (n == 0 && c->follow));
    return n < 0 ? CLI_FAILED : 0;
}
