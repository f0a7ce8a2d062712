/* session run, files, output and events.
 *
 * A run is streamed: its output arrives as notifications and is written as it
 * comes. Files are copied in parts, each in a request of its own. A part must
 * fit into one message together with base64 and JSON. */
#include "cli/session.h"

#include "base/base64.h"
#include "base/buf.h"
#include "base/hfd.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

enum { PART_BYTES = 4 << 20, STDIN_BYTES_MAX = 5 << 20, WAIT_MS = 60000 };

/* Returns the bytes of a base64 string, which the caller frees, or NULL. */
static char *
cli_decode(const struct json *string, size_t *ret_len)
{
    struct text t = json_text(string);
    char *p = t.p ? malloc(BASE64_BYTES(t.len) + 1) : NULL;

    if (p && base64_decode(t.p, t.len, p, ret_len) == 0)
        return p;
    free(p);
    return NULL;
}

char *
cli_output(const struct json *params, size_t *ret_len)
{
    return cli_decode(json_get(params, "data"), ret_len);
}

/* --- run */

/* A run whose output is being printed.
 *
 * A user expects ^C to end the run like a native program. The signals are
 * blocked and read from a descriptor, so they arrive in the same poll as the
 * answer and the output. The first one sends `cancel`, and the loop goes on:
 * the run ends in the session, and its answer has the last output and the
 * status. The signals are then unblocked, so that a second one ends this
 * program even if the supervisor does not answer. */
struct cli_running {
    struct cli *c;
    const char *id;
    int64_t request;
    sigset_t signals; /* they cancel the run; without ignored ones */
    int signal_hfd;
    bool is_cancelled;
    int error; /* -errno of writing the output */
};

/* Asks the supervisor to cancel the run. Its answer still arrives. */
static void
cli_cancel(struct cli_running *r)
{
    struct buf p = cli_params(r->id);

    put_number(&p, "requestId", (uint64_t)r->request);
    (void)link_send(&r->c->link, "cancel", &p);
}

/* Waits for a descriptor, and for signals. The first signal cancels the run,
 * and the next one ends this program. After the first, a reader of our output
 * that does not read is not waited for: -EAGAIN. */
static int
cli_await_events(struct cli_running *r, int hfd, short events)
{
    struct pollfd p[] = {{hfd, events, 0}, {r->signal_hfd, POLLIN, 0}};
    struct signalfd_siginfo info;

    while (!p[0].revents) {
        int n = poll(p, 2, r->is_cancelled && events == POLLOUT ? 0 : -1);
        if (n == 0 || (n < 0 && errno != EINTR))
            return n == 0 ? -EAGAIN : -errno;
        if (p[1].revents && read(r->signal_hfd, &info, sizeof info) > 0) {
            r->is_cancelled = true;
            (void)sigprocmask(SIG_UNBLOCK, &r->signals, NULL);
            cli_cancel(r);
        }
    }
    return 0;
}

/* Writes in pieces of PIPE_BUF, so that signals are handled in between. A pipe
 * that poll reports as writable accepts so many bytes without blocking. */
static int
cli_write_out(struct cli_running *r, int hfd, const char *p, size_t len)
{
    int e = 0;

    for (size_t n; e == 0 && len; p += n, len -= n) {
        n = len < PIPE_BUF ? len : PIPE_BUF;
        e = cli_await_events(r, hfd, POLLOUT);
        if (e == 0)
            e = hfd_write_all(hfd, p, n);
    }
    return e == -EAGAIN ? 0 : e;
}

/* If our output cannot be written, the run is cancelled: nobody would see the
 * rest. */
static void
cli_on_output(void *arg, const struct json *params)
{
    int hfd = strcmp(cli_member(params, "stream"), "stderr") ? 1 : 2;
    struct cli_running *r = arg;
    size_t len;
    char *p = r->error < 0 ? NULL : cli_output(params, &len);

    if (p)
        r->error = cli_write_out(r, hfd, p, len);
    if (p && r->error < 0)
        cli_cancel(r);
    free(p);
}

/* As link_wait, with signals handled while waiting. */
static bool
cli_await_answer(struct cli_running *r, struct json_doc *ret)
{
    struct link *k = &r->c->link;

    while (!link_find(k, r->request, ret))
        if (cli_await_events(r, k->hfd, POLLIN) < 0 || link_read(k) <= 0)
            return false;
    return true;
}

/* Signals that are ignored, as SIGHUP is under nohup, stay ignored. */
static const struct json *
cli_call_run(struct cli_running *r, struct buf *params, struct json_doc *ret)
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
    const struct json *result =
        cli_result(r->c, cli_await_answer(r, ret) ? ret->v : NULL);
    (void)close(r->signal_hfd);
    return result;
}

/* Appends the words as one string, with spaces between them. */
static void
session_run_put_joined(struct buf *p, char **words)
{
    CLEANUP(buf_fini) struct buf b;

    buf_init(&b, SIZE_MAX);
    for (char **w = words; *w; w++) {
        buf_puts(&b, w == words ? "" : " ");
        buf_puts(&b, *w);
    }
    put_string(p, b.p, b.len);
}

/* Appends all of standard input, which must fit into one request. */
static bool
session_run_put_stdin(struct cli *c, struct buf *p)
{
    CLEANUP(buf_fini) struct buf b;
    char part[2048];
    ssize_t n;

    buf_init(&b, STDIN_BYTES_MAX);
    while ((n = read(0, part, sizeof part)) > 0 && !b.error)
        buf_add(&b, part, (size_t)n);
    if (b.error)
        cli_complain(c, "more than %d bytes of standard input",
                     STDIN_BYTES_MAX);
    put_name(p, "stdin");
    put_base64(p, b.p, b.len);
    return !b.error;
}

/* The exit status is that of the command. Additional lines explain a limit or
 * omitted output. */
static int
cli_run_status(struct cli *c, const struct json *result)
{
    const char *class = cli_member(result, "errorClass");

    if (*class)
        cli_complain(c, "%s", class);
    if (json_get(result, "truncated"))
        cli_complain(c, "the output was longer than its limit");
    return result ? (int)json_integer(json_get(result, "exitCode"))
                  : CLI_FAILED;
}

/* With --json the output is part of the answer; otherwise it is streamed while
 * the command runs. */
static bool
session_run_put_command(struct cli *c, struct buf *p)
{
    bool is_text = c->is_json && !c->reads_stdin;

    put_name(p, "command");
    session_run_put_joined(p, c->words);
    put_bool(p, "stream", !c->is_json);
    put_member(p, "encoding", is_text ? "text" : "base64");
    cli_put_option(p, "cwd", c->cwd);
    if (c->timeout_ms)
        put_number(p, "timeoutMs", (uint64_t)c->timeout_ms);
    cli_put_env(c, p);
    return !c->reads_stdin || session_run_put_stdin(c, p);
}

/* A closed pipe ends the command like a native one: with the status of
 * SIGPIPE. */
int
cli_run(struct cli *c, const char *id)
{
    CLEANUP(json_fini) struct json_doc answer = {0};
    CLEANUP(buf_fini) struct buf p = cli_params(id);
    struct cli_running r = {.c = c, .id = id};

    if (!*c->words) {
        cli_complain(c, "no command given; see wasm-sandbox session --help");
        return CLI_USAGE;
    }
    if (!session_run_put_command(c, &p))
        return CLI_FAILED;
    const struct json *result = cli_call_run(&r, &p, &answer);
    if (c->is_json && result)
        cli_print_json(result);
    if (r.error == 0)
        return cli_run_status(c, result);
    if (r.error == -EPIPE)
        return 128 + SIGPIPE;
    cli_complain(c, "its output: %s", strerror(-r.error));
    return CLI_FAILED;
}

/* --- files */

/* Relative paths are in the home folder. The caller frees the result. */
static char *
cli_full_path(const char *path)
{
    char *full = NULL;

    if (*path == '/')
        return strdup(path);
    return asprintf(&full, "/home/user%s%s", *path ? "/" : "", path) < 0 ? NULL
                                                                         : full;
}

/* With --json, the answer is printed as it is. */
static int
cli_list_files(struct cli *c, const char *id, char **words)
{
    CLEANUP(json_fini) struct json_doc answer = {0};
    struct buf p = cli_params(id);

    put_member(&p, "path", words[0]);
    const struct json *result = cli_call(c, "files.list", &p, &answer);
    if (c->is_json && result)
        cli_print_json(result);
    else
        JSON_EACH(entry, json_get(result, "entries")) {
            printf("%-8s %12" PRId64 " ", cli_member(entry, "type"),
                   json_integer(json_get(entry, "size")));
            cli_print(cli_member(entry, "name"), 0);
            (void)putchar('\n');
        }
    return result ? 0 : CLI_FAILED;
}

/* Returns the part after the last slash. */
static const char *
cli_last_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* The destination, created when there is something to write. */
struct file_target {
    const char *name;
    int hfd; /* -1: not opened yet */
};

/* Opens the destination once. -errno. */
static int
cli_open_target(struct file_target *t)
{
    if (t->hfd < 0)
        t->hfd = open(t->name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    return t->hfd < 0 ? -errno : 0;
}

/* Returns 1 if there may be more. The target is opened with the first bytes, so
 * a missing file leaves no empty copy behind. */
static int
cli_get_part(struct cli *c, const char *id, const char *path, uint64_t at,
             struct file_target *to, size_t *ret_len)
{
    CLEANUP(json_fini) struct json_doc answer = {0};
    struct buf p = cli_params(id);

    put_member(&p, "path", path);
    put_number(&p, "offset", at);
    put_number(&p, "length", PART_BYTES);
    const struct json *result = cli_call(c, "files.read", &p, &answer);
    char *data = cli_decode(json_get(result, "data"), ret_len);
    int r = data ? cli_open_target(to) : -EIO;

    if (r == 0)
        r = hfd_write_all(to->hfd, data, *ret_len);
    free(data);
    if (result && r < 0)
        cli_complain(c, "%s: %s", to->name, strerror(-r));
    return r < 0 ? r : *ret_len == PART_BYTES;
}

/* Large files are read in parts, because an answer has a maximum length. A file
 * that changes meanwhile is not protected: the parts may be of different
 * versions. */
static int
cli_get_file(struct cli *c, const char *id, char **words)
{
    struct file_target to = {words[1] ? words[1] : cli_last_name(words[0]), -1};
    uint64_t at = 0;
    size_t len = 0;
    int r = 1;

    if (!strcmp(to.name, "-"))
        to.hfd = 1;
    for (; r == 1; at += len)
        r = cli_get_part(c, id, words[0], at, &to, &len);
    if (to.hfd > 1 && close(to.hfd) < 0)
        r = -errno;
    return r < 0 ? CLI_FAILED : 0;
}

/* Sends one part. Returns -EIO after an error was reported. */
static int
cli_put_part(struct cli *c, const char *id, const char *path, const char *part,
             size_t len, bool is_first)
{
    CLEANUP(json_fini) struct json_doc answer = {0};
    struct buf p = cli_params(id);

    put_member(&p, "path", path);
    put_name(&p, "data");
    put_base64(&p, part, len);
    put_bool(&p, "append", !is_first);
    return cli_call(c, "files.write", &p, &answer) ? 0 : -EIO;
}

/* The first part replaces the file and the others append to it. An empty file
 * is one empty part. */
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

/* Runs a command with its path in the session made absolute. A path that is not
 * given is the home folder, or a file of the same name there. */
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
    if (full && !text_is_utf8(full, strlen(full)))
        cli_complain(c, "the path is not UTF-8");
    else if (full)
        status = run(c, id, words);
    free(full);
    return status;
}

/* Finds the row by the first word and the number of arguments; the others are
 * the session and two paths. */
int
cli_files(struct cli *c)
{
    static const struct {
        const char *name;
        int (*run)(struct cli *c, const char *id, char **words);
        int least, most;
        int path; /* index of the path in the session */
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

/* Reads from position to position until nothing new is returned. */
int
cli_show_output(struct cli *c, const char *id)
{
    uint64_t after = 0;
    size_t len = 1;

    while (len) {
        CLEANUP(json_fini) struct json_doc answer = {0};
        struct buf p = cli_params(id);

        put_number(&p, "after", after);
        const struct json *result = cli_call(c, "session.output", &p, &answer);
        char *data = cli_output(result, &len);
        int r = data ? hfd_write_all(1, data, len) : -EIO;
        after = (uint64_t)json_integer(json_get(result, "end"));
        free(data);
        if (r < 0)
            return CLI_FAILED;
    }
    return 0;
}

/* --- events */

/* One line for each event, so that other programs can follow them. */
static void
session_run_print_event_json(const struct json *e)
{
    CLEANUP(buf_fini) struct buf b;

    buf_init(&b, SIZE_MAX);
    json_put(&b, e);
    buf_puts(&b, "\n");
    (void)fwrite(b.p, 1, b.len, stdout);
}

/* Prints an event of the network: its host, and why. */
static void
cli_print_net_event(const struct json *e)
{
    const char *host = cli_member(e, "host");

    printf("%-10s ", cli_member(e, "kind"));
    cli_print(host, 0);
    if (*host)
        printf(":%" PRId64 " ", json_integer(json_get(e, "port")));
    printf("%s%s\n", cli_member(e, "reason"), cli_member(e, "cause"));
}

/* The reason may contain text of a guest, so it is printed last and
 * filtered. */
static void
cli_print_event(const struct json *e)
{
    time_t t = (time_t)(json_integer(json_get(e, "time")) / 1000);
    char when[32];
    struct tm tm;

    (void)localtime_r(&t, &tm);
    (void)strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S", &tm);
    printf("%6" PRId64 "  %s  %.12s  ", json_integer(json_get(e, "seq")), when,
           cli_member(e, "sessionId"));
    if (*cli_member(e, "kind")) {
        cli_print_net_event(e);
        return;
    }
    printf("%-8s %-8s %s%s", cli_member(e, "from"), cli_member(e, "to"),
           cli_member(e, "cause"), *cli_member(e, "reason") ? ": " : "");
    cli_print(cli_member(e, "reason"), 0);
    (void)putchar('\n');
}

/* Prints the events after the last one. With --follow, the supervisor answers
 * when there are new ones. */
static int
cli_print_events(struct cli *c, const char *id)
{
    CLEANUP(json_fini) struct json_doc answer = {0};
    struct buf p = cli_params(*id ? id : NULL);

    put_number(&p, "after", (uint64_t)c->after);
    put_number(&p, "limit", 1000);
    put_number(&p, "waitMs", c->follow ? WAIT_MS : 0);
    const struct json *result = cli_call(c, "session.events", &p, &answer);
    if (!result)
        return -1;
    JSON_EACH(event, json_get(result, "events"))
        (c->is_json ? session_run_print_event_json : cli_print_event)(event);
    c->after = json_integer(json_get(result, "last"));
    int n = (int)json_count(json_get(result, "events"));
    return fflush(stdout) < 0 ? -1 : n;
}

/* Without --follow, the loop ends with the first page that has no events. */
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
