/* The commands of `wasm-sandbox session`. */
#include "cli/session.h"

#include "cli/cli.h"
#include "supervisor/config/config.h"
#include "wire/text.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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
    "      --user user|root\n"
    "  list                          --agent A --state S --ended\n"
    "  show SESSION\n"
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
    "  fork SESSION                  --label L\n"
    "  events [SESSION]              --after N --follow\n"
    "  fsck                          verify the store of a supervisor that "
    "is not running\n"
    "      --store DIR --repair\n\n"
    "  --json                        print the answer as JSON\n"
    "  --socket PATH                 socket of the supervisor\n"
    "  --no-wait                     do not wait up to 3 s for a supervisor "
    "that is\n"
    "                                starting\n";

enum { WAIT_MS = 3000 };

/* Writes one character, `?` for what could control a terminal (in UTF-8, C1 are
 * c2 80 to c2 9f); where the next one is. */
static const char *
cli_put_plain(const char *text, FILE *to)
{
    const unsigned char *p = (const unsigned char *)text;
    bool is_c1 = p[0] == 0xc2 && p[1] >= 0x80 && p[1] < 0xa0;

    (void)fputc(is_c1 || *p < ' ' || *p == 0x7f ? '?' : *p, to);
    return text + 1 + is_c1;
}

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

json_t *
cli_result(struct cli *c, OWN json_t *answer)
{
    json_t *result = json_object_get(answer, "result");
    const json_t *error = json_object_get(answer, "error");

    if (!answer)
        cli_complain(c, "the supervisor closed the connection");
    else if (!result)
        cli_complain(c, "%s",
                     json_string_value(json_object_get(error, "message")));
    json_incref(result);
    json_decref(answer);
    return result;
}

json_t *
cli_call(struct cli *c, const char *method, OWN json_t *params)
{
    if (!params) {
        cli_complain(c, "the path is not UTF-8");
        return NULL;
    }
    return cli_result(c,
                      link_wait(&c->link, link_send(&c->link, method, params)));
}

/* --- finding sessions */

static const char *
cli_member(const json_t *object, const char *name)
{
    const char *s = json_string_value(json_object_get(object, name));

    return s ? s : "";
}

struct search {
    const char *name;
    char id[SESSION_ID_BYTES];
    int n;
    char all[120]; /* the first of them, for a message */
};

static void
cli_match(struct search *f, const json_t *session)
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

/* One page of the list: calls fn for each; the number for the next, or 0. */
static json_int_t
cli_list_page(struct cli *c, OWN json_t *params,
              void (*fn)(void *arg, const json_t *session), void *arg)
{
    json_t *result = cli_call(c, "session.list", params), *session;
    json_int_t next = json_integer_value(json_object_get(result, "next"));
    size_t i;

    json_array_foreach(json_object_get(result, "sessions"), i, session)
        fn(arg, session);
    if (!result)
        next = -1;
    json_decref(result);
    return next;
}

static void
cli_match_one(void *arg, const json_t *session)
{
    cli_match(arg, session);
}

static bool
search_all(struct cli *c, struct search *f, bool with_ended)
{
    json_int_t after = 0;

    do
        after = cli_list_page(c,
                              json_pack("{s:I, s:i, s:b}", "after", after,
                                        "limit", 1000, "ended", with_ended),
                              cli_match_one, f);
    while (after > 0);
    return after == 0;
}

bool
cli_find(struct cli *c, const char *name, char ret_id[SESSION_ID_BYTES])
{
    struct search f = {.name = name};

    if (!name || !*name) {
        cli_complain(c, "which session?");
        return false;
    }
    if (strlen(name) == SESSION_ID_BYTES - 1) {
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

/* --- printing */

static void
cli_print_json(const json_t *value)
{
    (void)json_dumpf(value, stdout, JSON_INDENT(2) | JSON_ENCODE_ANY);
    (void)putchar('\n');
}

void
cli_print(const char *text, int width)
{
    int n = 0;

    while (*text) {
        n += ((unsigned char)*text & 0xc0) != 0x80; /* begins a character */
        text = cli_put_plain(text, stdout);
    }
    printf("%*s", n < width ? width - n : 0, "");
    if (width && n >= width)
        (void)putchar(' ');
}

/* Since 1970, as 21 characters. */
static void
cli_print_time(json_int_t ms)
{
    time_t t = (time_t)(ms / 1000);
    struct tm tm;
    char text[32];

    (void)localtime_r(&t, &tm);
    (void)strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm);
    cli_print(text, 21);
}

static void
cli_print_row(void *arg, const json_t *s)
{
    char id[13];

    (void)arg;
    (void)snprintf(id, sizeof id, "%s", cli_member(s, "sessionId"));
    cli_print(id, 14);
    cli_print(cli_member(s, "state"), 10);
    cli_print(cli_member(s, "cause"), 14);
    cli_print_time(json_integer_value(json_object_get(s, "changedAt")));
    cli_print(cli_member(s, "agent"), 14);
    cli_print(cli_member(s, "label"), 0);
    (void)putchar('\n');
}

static void
cli_print_value(const json_t *value)
{
    char *text = json_is_string(value)
                     ? NULL
                     : json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);

    cli_print(text ? text : json_string_value(value), 0);
    free(text);
}

static void
cli_print_members(json_t *object)
{
    const char *name, *comma = "";
    json_t *value;

    json_object_foreach(object, name, value)
    {
        if (json_is_object(value) && !json_object_size(value))
            continue;
        printf("%s", comma);
        cli_print(name, 0);
        (void)putchar(' ');
        cli_print_value(value);
        comma = ", ";
    }
}

static void
cli_print_member(const char *name, json_t *value)
{
    cli_print(name, 14);
    if (json_is_object(value))
        cli_print_members(value);
    else if (json_is_integer(value) && !strcmp(name + strlen(name) - 2, "At"))
        cli_print_time(json_integer_value(value));
    else
        cli_print_value(value);
    (void)putchar('\n');
}

static int
cli_print_session(const struct cli *c, OWN json_t *session)
{
    const char *name;
    json_t *value;

    if (!session)
        return CLI_FAILED;
    if (c->is_json)
        cli_print_json(session);
    else
        json_object_foreach(session, name, value) cli_print_member(name, value);
    json_decref(session);
    return 0;
}

/* --- commands */

static void
cli_set_text(json_t *object, const char *name, const char *text)
{
    if (text)
        (void)json_object_set_new(object, name, json_string(text));
}

static json_t *
cli_words_json(char **words)
{
    json_t *array = json_array();

    for (; *words; words++)
        (void)json_array_append_new(array, json_string(*words));
    return array;
}

static int
cli_do_create(struct cli *c, const char *id)
{
    json_t *p = json_object();

    (void)id;
    cli_set_text(p, "agent", c->agent);
    cli_set_text(p, "label", c->label);
    cli_set_text(p, "durability", c->durability);
    cli_set_text(p, "user", c->user);
    if (json_object_size(c->limits))
        (void)json_object_set(p, "limits", c->limits);
    if (json_object_size(c->env))
        (void)json_object_set(p, "env", c->env);
    if (c->network)
        (void)json_object_set_new(p, "network", json_true());
    if (c->no_auto_resume)
        (void)json_object_set_new(p, "autoResume", json_false());
    if (*c->words)
        (void)json_object_set_new(p, "command", cli_words_json(c->words));
    json_t *session = cli_call(c, "session.create", p);
    if (!session || c->is_json)
        return cli_print_session(c, session);
    printf("%s\n", cli_member(session, "sessionId"));
    json_decref(session);
    return 0;
}

static void
cli_collect(void *arg, const json_t *session)
{
    (void)json_array_append(arg, (json_t *)session);
}

static int
cli_do_list(struct cli *c, const char *id)
{
    json_t *all = json_array();
    json_int_t after = 0;

    (void)id;
    if (!c->is_json)
        printf("%-14s%-10s%-14s%-21s%-14s%s\n", "SESSION", "STATE", "CAUSE",
               "SINCE", "AGENT", "LABEL");
    do {
        json_t *p = json_pack("{s:I, s:i, s:b}", "after", after, "limit", 1000,
                              "ended", c->ended);
        cli_set_text(p, "agent", c->agent);
        cli_set_text(p, "state", c->state);
        after =
            cli_list_page(c, p, c->is_json ? cli_collect : cli_print_row, all);
    } while (after > 0);
    if (c->is_json && after == 0)
        cli_print_json(all);
    json_decref(all);
    return after == 0 ? 0 : CLI_FAILED;
}

static int
cli_do_show(struct cli *c, const char *id)
{
    return cli_print_session(
        c, cli_call(c, "session.get", json_pack("{s:s}", "sessionId", id)));
}

/* pause, resume, stop, end, fork */
static int
cli_do_change(struct cli *c, const char *id)
{
    json_t *p = json_pack("{s:s}", "sessionId", id);
    char method[32];

    cli_set_text(p, "label", c->label);
    (void)snprintf(method, sizeof method, "session.%s", c->command);
    json_t *session = cli_call(c, method, p);
    if (!session || c->is_json)
        return cli_print_session(c, session);
    if (!strcmp(c->command, "fork"))
        printf("%s\n", cli_member(session, "sessionId"));
    else
        printf("%.12s %s\n", cli_member(session, "sessionId"),
               cli_member(session, "state"));
    json_decref(session);
    return 0;
}

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
    {"output", cli_show_output, true, 0},
};

/* --- from the words to a command */

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

static int
cli_start(struct cli *c, size_t i, char **words)
{
    int argc = 0;

    while (words[argc])
        argc++;
    c->limits = json_object();
    c->env = json_object();
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

/* argv[0] is "session". */
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
        json_decref(c.limits);
        json_decref(c.env);
        return status;
    }
    cli_complain(&c, "unknown command; see wasm-sandbox session --help");
    return CLI_USAGE;
}
