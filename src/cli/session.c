/* The commands of `wasm-sandbox session`: a client of the supervisor for
 * people. Each command is a row of a table; commands with more code are in
 * session_run.c and session_shell.c. */
#include "cli/session.h"

#include "cli/cli.h"
#include "supervisor/config/config.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

static const char help[] =
    "usage: wasm-sandbox session COMMAND [OPTION]... [ARG]...\n"
    "Manages sessions of the supervisor (wasm-sandbox serve). SESSION is an "
    "id, the\n"
    "beginning of an id, or a label.\n\n"
    "  create [COMMAND...]           create a session; with COMMAND, for a "
    "native program\n"
    "      --agent A --label L --memory MB --cpu PCT --disk MB --processes N\n"
    "      --durability full|interval --no-auto-resume --env NAME=VALUE "
    "--network\n"
    "      --user user|root --image NAME\n"
    "      --net RULE (any number of times; docs/network.md)\n"
    "  list                          list sessions that have not ended\n"
    "      --agent A --state S --ended\n"
    "  show SESSION                  print all that is known of a session\n"
    "  run SESSION [--] COMMAND...   run a command and exit with its status\n"
    "      --cwd DIR --timeout-ms N --env NAME=VALUE --stdin\n"
    "  shell SESSION [COMMAND...]    open a terminal in the session\n"
    "      --cwd DIR --env NAME=VALUE --user user|root\n"
    "  files ls SESSION [PATH] | get SESSION PATH [FILE] | put SESSION FILE "
    "[PATH]\n"
    "      paths in the session are relative to /home/user; FILE may be -\n"
    "  output SESSION                print the last output of a native "
    "program\n"
    "  pause, resume, stop, end SESSION\n"
    "  fork SESSION                  create a session with the same state\n"
    "      --label L\n"
    "  net SESSION                   print the network policy, or change it\n"
    "      --net RULE (replaces the policy), --allow RULE, --deny RULE, --net "
    "off\n"
    "  events [SESSION]              print changes of state\n"
    "      --after N --follow\n"
    "  fsck                          verify the store of a supervisor that "
    "is not running\n"
    "      --store DIR --repair\n\n"
    "  --json                        print the answer as JSON\n"
    "  --socket PATH                 socket of the supervisor\n"
    "  --no-wait                     do not wait up to 3 s for a supervisor "
    "that is\n"
    "                                starting\n";

/* The time that a client waits for a supervisor that is starting. */
enum { WAIT_MS = 3000 };

/* The message may contain text of the supervisor or of a guest, so control
 * characters are replaced. Further lines are indented. */
void
cli_complain(const struct cli *c, const char *format, ...)
{
    char line[2048];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fprintf(stderr, "wasm-sandbox: session %s: ", c->command);
    for (const char *p = line; *p;) {
        if (*p != '\n') {
            p = cli_put_plain(p, stderr);
            continue;
        }
        (void)fputs("\n  ", stderr);
        p++;
    }
    fputc('\n', stderr);
}

/* --- requests */

/* The object stays open: callers append members, and link_send closes it. */
struct buf
cli_params(const char *id)
{
    struct buf b;

    buf_init(&b, SIZE_MAX);
    buf_puts(&b, "{");
    cli_put_option(&b, "sessionId", id);
    return b;
}

void
cli_put_option(struct buf *params, const char *name, const char *text)
{
    if (text)
        put_member(params, name, text);
}

/* Entries have been checked: each has a name and an equals sign. */
void
cli_put_env(const struct cli *c, struct buf *params)
{
    if (!c->n_env)
        return;
    put_name(params, "env");
    for (size_t i = 0; i < c->n_env; i++) {
        size_t n = strcspn(c->env[i], "=");
        buf_puts(params, i ? "," : "{");
        put_string(params, c->env[i], n);
        buf_puts(params, ":");
        put_text(params, c->env[i] + n + 1);
    }
    buf_puts(params, "}");
}

const char *
cli_member(const struct json *object, const char *name)
{
    const struct json *v = json_get(object, name);

    return json_is(v, JSON_STRING) ? v->text.p : "";
}

/* The message of the supervisor is shown as it is: it names the cause and the
 * remedy. */
const struct json *
cli_result(struct cli *c, const struct json *answer)
{
    const struct json *result = json_get(answer, "result");

    if (!answer)
        cli_complain(c, "the supervisor closed the connection");
    else if (!result)
        cli_complain(c, "%s", cli_member(json_get(answer, "error"), "message"));
    return result;
}

const struct json *
cli_call(struct cli *c, const char *method, struct buf *params,
         struct json_doc *ret)
{
    int64_t id = link_send(&c->link, method, params);

    return cli_result(c, link_wait(&c->link, id, ret) ? ret->v : NULL);
}

/* --- finding sessions */

/* A search for a session by the beginning of its id, or by its label. */
struct session_search {
    const char *name;
    char id[SESSION_ID_BYTES];
    int n;
    char all[120]; /* the first of them, for a message */
};

/* An id that begins with the name matches, and so does a label that equals
 * it. */
static void
cli_match(struct session_search *f, const struct json *session)
{
    const char *id = cli_member(session, "sessionId");

    if (strncmp(id, f->name, strlen(f->name)) != 0 &&
        strcmp(cli_member(session, "label"), f->name) != 0)
        return;
    f->n++;
    (void)snprintf(f->id, sizeof f->id, "%s", id);
    size_t len = strlen(f->all);
    (void)snprintf(f->all + len, sizeof f->all - len, "%s%.12s",
                   len ? ", " : "", id);
}

/* Reads a page of the list and calls fn for each session. Returns the number
 * for the next page, 0 after the last, or -1 if an error was reported. */
static int64_t
cli_list_page(struct cli *c, int64_t after, bool with_ended,
              const struct cli *filter,
              void (*fn)(void *arg, const struct json *session), void *arg)
{
    CLEANUP(json_fini) struct json_doc answer = {0};
    struct buf p = cli_params(NULL);

    put_number(&p, "after", (uint64_t)after);
    put_number(&p, "limit", 1000);
    put_bool(&p, "ended", with_ended);
    cli_put_option(&p, "agent", filter ? filter->agent : NULL);
    cli_put_option(&p, "state", filter ? filter->state : NULL);
    const struct json *result = cli_call(c, "session.list", &p, &answer);
    JSON_EACH(session, json_get(result, "sessions"))
        fn(arg, session);
    return result ? json_integer(json_get(result, "next")) : -1;
}

/* cli_match with the type of a callback of cli_list_page. */
static void
cli_match_one(void *arg, const struct json *session)
{
    cli_match(arg, session);
}

/* Walks all pages. Returns false after an error was reported. */
static bool
search_all(struct cli *c, struct session_search *f, bool with_ended)
{
    int64_t after = 0;

    do
        after = cli_list_page(c, after, with_ended, NULL, cli_match_one, f);
    while (after > 0);
    return after == 0;
}

/* A complete id needs no search. Sessions that have ended are searched only if
 * no other matches, so that a label can be used again. */
bool
cli_find(struct cli *c, const char *name, char ret_id[SESSION_ID_BYTES])
{
    struct session_search f = {.name = name};

    if (!name || !*name) {
        cli_complain(c, "no session given; `wasm-sandbox session list` lists "
                        "them");
        return false;
    }
    if (strlen(name) == SESSION_ID_BYTES - 1 &&
        strspn(name, "0123456789abcdef") == SESSION_ID_BYTES - 1) {
        memcpy(ret_id, name, SESSION_ID_BYTES);
        return true;
    }
    bool is_whole =
        search_all(c, &f, false) && (f.n || search_all(c, &f, true));
    if (f.n == 1)
        memcpy(ret_id, f.id, sizeof f.id);
    else if (is_whole)
        cli_complain(c,
                     f.n ? "'%s' matches several sessions: %s"
                         : "there is no session '%s'%s",
                     name, f.all);
    return f.n == 1;
}

/* --- commands */

/* Appends the limits that were given, with the names that the supervisor
 * uses. */
static void
session_put_limits(const struct cli *c, struct buf *p)
{
    const char *comma = "{";

    for (int i = 0; i < N_LIMITS; i++) {
        if (c->limit[i] < 0)
            continue;
        if (*comma == '{')
            put_name(p, "limits");
        buf_puts(p, comma);
        comma = ",";
        put_text(p, config_limit_key((enum limit)i));
        buf_printf(p, ":%" PRId64, c->limit[i]);
    }
    buf_puts(p, *comma == ',' ? "}" : "");
}

/* Appends the words as a list. There must be at least one. */
static void
session_put_words(struct buf *p, char **words)
{
    for (char **w = words; *w; w++) {
        buf_puts(p, w == words ? "[" : ",");
        put_text(p, *w);
    }
    buf_puts(p, "]");
}

/* With words, the session runs them as a native program. */
static int
cli_do_create(struct cli *c, const char *id)
{
    CLEANUP(json_fini) struct json_doc answer = {0};
    struct buf p = cli_params(NULL);

    (void)id;
    cli_put_option(&p, "agent", c->agent);
    cli_put_option(&p, "label", c->label);
    cli_put_option(&p, "durability", c->durability);
    cli_put_option(&p, "user", c->user);
    cli_put_option(&p, "image", c->image);
    session_put_limits(c, &p);
    cli_put_env(c, &p);
    if (c->network)
        put_bool(&p, "network", true);
    cli_put_network(c, &p);
    if (c->no_auto_resume)
        put_bool(&p, "autoResume", false);
    if (*c->words) {
        put_name(&p, "command");
        session_put_words(&p, c->words);
    }
    const struct json *session = cli_call(c, "session.create", &p, &answer);
    if (!session || c->is_json)
        return cli_print_session(c, session);
    printf("%s\n", cli_member(session, "sessionId"));
    return 0;
}

/* Collects sessions as one JSON list, although they arrive in pages. */
static void
cli_collect(void *arg, const struct json *session)
{
    struct buf *all = arg;

    buf_puts(all, all->len ? ",\n  " : "[\n  ");
    cli_put_indented(all, session, 1);
}

/* Rows are printed as the pages arrive; only JSON has to wait for the end of
 * the list. */
static int
cli_do_list(struct cli *c, const char *id)
{
    CLEANUP(buf_fini) struct buf all;
    int64_t after = 0;

    (void)id;
    buf_init(&all, SIZE_MAX);
    if (!c->is_json)
        printf("%-14s%-10s%-14s%-21s%-14s%s\n", "SESSION", "STATE", "CAUSE",
               "SINCE", "AGENT", "LABEL");
    do
        after = cli_list_page(c, after, c->ended, c,
                              c->is_json ? cli_collect : cli_print_row, &all);
    while (after > 0);
    if (c->is_json && after == 0) {
        buf_puts(&all, all.len ? "\n]\n" : "[]\n");
        (void)fwrite(all.p, 1, all.len, stdout);
    }
    return after == 0 ? 0 : CLI_FAILED;
}

/* Unlike `list`, `show` prints everything that the supervisor knows of a
 * session. */
static int
cli_do_show(struct cli *c, const char *id)
{
    CLEANUP(json_fini) struct json_doc answer = {0};
    struct buf p = cli_params(id);

    return cli_print_session(c, cli_call(c, "session.get", &p, &answer));
}

/* pause, resume, stop, end and fork: one method each, with the same parameters
 * and answer. */
static int
cli_do_change(struct cli *c, const char *id)
{
    CLEANUP(json_fini) struct json_doc answer = {0};
    struct buf p = cli_params(id);
    char method[32];

    cli_put_option(&p, "label", c->label);
    (void)snprintf(method, sizeof method, "session.%s", c->command);
    const struct json *session = cli_call(c, method, &p, &answer);
    if (!session || c->is_json)
        return cli_print_session(c, session);
    if (!strcmp(c->command, "fork"))
        printf("%s\n", cli_member(session, "sessionId"));
    else
        printf("%.12s %s\n", cli_member(session, "sessionId"),
               cli_member(session, "state"));
    return 0;
}

/* `files` and `events` find their session themselves: it is not their first
 * word, or may be missing. */
static int
cli_do_files(struct cli *c, const char *id)
{
    (void)id;
    return cli_files(c);
}

static int
cli_do_events(struct cli *c, const char *id)
{
    (void)id;
    return cli_events(c);
}

/* The commands that need a connection. */
static const struct {
    const char *name;
    int (*run)(struct cli *c, const char *id);
    bool takes_session; /* as its first word */
    int words;          /* at most, after it; -1: any */
} commands[] = {
    {"create", cli_do_create, false, -1}, {"list", cli_do_list, false, 0},
    {"show", cli_do_show, true, 0},       {"run", cli_run, true, -1},
    {"shell", cli_shell, true, -1},       {"files", cli_do_files, false, -1},
    {"pause", cli_do_change, true, 0},    {"resume", cli_do_change, true, 0},
    {"stop", cli_do_change, true, 0},     {"end", cli_do_change, true, 0},
    {"fork", cli_do_change, true, 0},     {"events", cli_do_events, false, 1},
    {"output", cli_show_output, true, 0}, {"net", cli_net, true, 0},
};

/* --- from the words to a command */

/* The socket is found like the supervisor finds it, from the same
 * configuration. If there is no supervisor, the message shows how to start
 * one. */
static bool
cli_connect_to(struct cli *c, const char *socket)
{
    char *words[] = {"--socket", (char *)socket, NULL};
    CLEANUP(config_freep) struct config *config = NULL;
    struct buf errors;

    buf_init(&errors, SIZE_MAX);
    int r = config_read(socket ? words : words + 2, environ, &errors, &config);
    if (r != 0) {
        (void)fwrite(errors.p, 1, errors.len, stderr);
        buf_fini(&errors);
        return false;
    }
    r = link_open(&c->link, config->socket, c->no_wait ? 0 : WAIT_MS);
    if (r == 0)
        return true;
    cli_complain(c,
                 "no supervisor is listening on %s (%s); start one with: "
                 "wasm-sandbox serve%s%s",
                 config->socket, strerror(-r), socket ? " --socket " : "",
                 socket ? socket : "");
    return false;
}

/* Finds the session, checks the number of arguments, and runs the command. */
static int
cli_run_command(struct cli *c, size_t i)
{
    char id[SESSION_ID_BYTES] = "";
    int n = 0;

    if (commands[i].takes_session) {
        if (!cli_find(c, *c->words, id))
            return CLI_FAILED;
        c->words++;
    }
    while (c->words[n])
        n++;
    if (commands[i].words >= 0 && n > commands[i].words) {
        cli_complain(c, "too many arguments; see wasm-sandbox session --help");
        return CLI_USAGE;
    }
    return commands[i].run(c, id);
}

/* Options are parsed before the connection is opened, so that mistakes are
 * reported without a supervisor. */
static int
cli_start(struct cli *c, size_t i, char **words)
{
    int argc = 0;

    while (words[argc])
        argc++;
    memset(c->limit, -1, sizeof c->limit);
    if (!cli_parse(c, argc, words))
        return CLI_USAGE;
    if (c->wants_help) {
        (void)fputs(help, stdout);
        return 0;
    }
    if (!cli_connect_to(c, c->socket))
        return CLI_FAILED;
    int status = cli_run_command(c, i);
    link_close(&c->link);
    return status;
}

/* argv[0] is "session". fsck needs no supervisor, and is a command of another
 * program. */
int
cmd_session(int argc, char **argv)
{
    char **words = argv + 1;
    struct cli c = {.command = *words ? *words : ""};

    if (*words && !strcmp(*words, "fsck"))
        return cmd_supervisor(argc - 1, words);
    (void)signal(SIGPIPE, SIG_IGN);
    if (!*words || !strcmp(*words, "--help")) {
        (void)fputs(help, *words ? stdout : stderr);
        return *words ? 0 : CLI_USAGE;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(*words, commands[i].name) != 0)
            continue;
        int status = cli_start(&c, i, words);
        for (size_t k = 0; k < c.n_env; k++)
            free(c.env[k]);
        free(c.env);
        return status;
    }
    cli_complain(&c, "unknown command; see wasm-sandbox session --help");
    return CLI_USAGE;
}
