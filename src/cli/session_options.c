/* The options of `wasm-sandbox session`. All commands share one table: an
 * option that a command does not use is ignored.
 *
 * Options and arguments may be mixed, up to the command that a session is to
 * run: from there on, everything belongs to that command. */
#include "cli/session.h"

#include "base/parse.h"
#include "base/vec.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The values that getopt_long returns. Those of limits are their enum limit, so
 * that one line handles all of them. */
enum {
    OPT_AGENT = N_LIMITS,
    OPT_LABEL,
    OPT_STATE,
    OPT_DURABILITY,
    OPT_CWD,
    OPT_USER,
    OPT_IMAGE,
    OPT_TIMEOUT,
    OPT_AFTER,
    OPT_ENV,
    OPT_ENDED,
    OPT_FOLLOW,
    OPT_NO_AUTO_RESUME,
    OPT_NETWORK,
    OPT_NET,
    OPT_ALLOW,
    OPT_DENY,
    OPT_NO_WAIT,
    OPT_STDIN,
    OPT_JSON,
    OPT_SOCKET,
    OPT_HELP,
};

static const struct option options[] = {
    {"memory", required_argument, NULL, LIMIT_memory},
    {"cpu", required_argument, NULL, LIMIT_cpu},
    {"disk", required_argument, NULL, LIMIT_disk},
    {"processes", required_argument, NULL, LIMIT_processes},
    {"agent", required_argument, NULL, OPT_AGENT},
    {"label", required_argument, NULL, OPT_LABEL},
    {"state", required_argument, NULL, OPT_STATE},
    {"durability", required_argument, NULL, OPT_DURABILITY},
    {"cwd", required_argument, NULL, OPT_CWD},
    {"user", required_argument, NULL, OPT_USER},
    {"image", required_argument, NULL, OPT_IMAGE},
    {"timeout-ms", required_argument, NULL, OPT_TIMEOUT},
    {"after", required_argument, NULL, OPT_AFTER},
    {"env", required_argument, NULL, OPT_ENV},
    {"ended", no_argument, NULL, OPT_ENDED},
    {"follow", no_argument, NULL, OPT_FOLLOW},
    {"no-auto-resume", no_argument, NULL, OPT_NO_AUTO_RESUME},
    {"network", no_argument, NULL, OPT_NETWORK},
    {"net", required_argument, NULL, OPT_NET},
    {"allow", required_argument, NULL, OPT_ALLOW},
    {"deny", required_argument, NULL, OPT_DENY},
    {"no-wait", no_argument, NULL, OPT_NO_WAIT},
    {"stdin", no_argument, NULL, OPT_STDIN},
    {"json", no_argument, NULL, OPT_JSON},
    {"socket", required_argument, NULL, OPT_SOCKET},
    {"help", no_argument, NULL, OPT_HELP},
    {0},
};

/* Numbers are not checked further: the supervisor knows the ranges, and its
 * message names them. Returns false after reporting an error. */
static bool
cli_take_number(const struct cli *c, const char *name, int64_t *ret)
{
    uint64_t n;

    if (parse_u64_text(optarg, INT64_MAX, &n)) {
        *ret = (int64_t)n;
        return true;
    }
    cli_complain(c, "--%s '%s' is not a number", name, optarg);
    return false;
}

/* The last value of a variable wins. */
bool
cli_set_env(struct cli *c, const char *name, const char *value)
{
    size_t n = strlen(name), i = 0;
    char *text;

    while (i < c->n_env &&
           (strncmp(c->env[i], name, n) != 0 || c->env[i][n] != '='))
        i++;
    if (i == c->n_env && !VEC_ROOM(c->env, c->n_env))
        return false;
    if (asprintf(&text, "%s=%s", name, value) < 0)
        return false;
    if (i == c->n_env)
        c->n_env++;
    else
        free(c->env[i]);
    c->env[i] = text;
    return true;
}

/* Splits NAME=VALUE in place. */
static bool
cli_take_env(struct cli *c)
{
    char *equals = strchr(optarg, '=');

    if (!equals || equals == optarg) {
        cli_complain(c, "--env '%s' is not NAME=VALUE", optarg);
        return false;
    }
    *equals = 0;
    return cli_set_env(c, optarg, equals + 1);
}

static bool
cli_take_rule(const struct cli *c, struct cli_rules *rules)
{
    if (rules->n == sizeof rules->v / sizeof *rules->v) {
        cli_complain(c, "at most 64 rules can be given; further ones "
                        "can be added with session net");
        return false;
    }
    rules->v[rules->n++] = optarg;
    return true;
}

/* Sets the member that belongs to the option. Texts and flags are found in two
 * tables; only options with a syntax of their own need code. Returns false
 * after reporting an error. */
static bool
cli_take_option(struct cli *c, int o, const char *name)
{
    const struct {
        int option;
        const char **text;
    } texts[] = {{OPT_AGENT, &c->agent}, {OPT_LABEL, &c->label},
                 {OPT_STATE, &c->state}, {OPT_DURABILITY, &c->durability},
                 {OPT_CWD, &c->cwd},     {OPT_SOCKET, &c->socket},
                 {OPT_USER, &c->user},   {OPT_IMAGE, &c->image}};
    const struct {
        int option;
        bool *flag;
    } flags[] = {{OPT_ENDED, &c->ended},
                 {OPT_FOLLOW, &c->follow},
                 {OPT_NO_AUTO_RESUME, &c->no_auto_resume},
                 {OPT_NETWORK, &c->network},
                 {OPT_NO_WAIT, &c->no_wait},
                 {OPT_STDIN, &c->reads_stdin},
                 {OPT_JSON, &c->is_json},
                 {OPT_HELP, &c->wants_help}};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].option == o)
            *texts[i].text = optarg;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (flags[i].option == o)
            *flags[i].flag = true;
    if (o < N_LIMITS)
        return cli_take_number(c, name, &c->limit[o]);
    if (o == OPT_ENV)
        return cli_take_env(c);
    if (o == OPT_NET || o == OPT_ALLOW || o == OPT_DENY)
        return cli_take_rule(c, o == OPT_NET     ? &c->net
                                : o == OPT_ALLOW ? &c->allow
                                                 : &c->deny);
    if (o == OPT_TIMEOUT)
        return cli_take_number(c, name, &c->timeout_ms);
    return o != OPT_AFTER || cli_take_number(c, name, &c->after);
}

/* JSON is UTF-8, so other bytes cannot be sent. */
static bool
cli_is_text(const struct cli *c, const char *word)
{
    if (text_is_utf8(word, strlen(word)))
        return true;
    cli_complain(c, "'%s' is not UTF-8", word);
    return false;
}

/* Parses the options up to the next word. The socket is a path of the host,
 * which may have any bytes. */
static bool
cli_take_options(struct cli *c, int argc, char **argv)
{
    int o, index;

    while ((o = getopt_long(argc, argv, "+:", options, &index)) != -1) {
        if (o == '?' || o == ':') {
            cli_complain(c, "%s %s; see wasm-sandbox session --help",
                         argv[optind - 1],
                         o == ':' ? "needs a value" : "is not an option");
            return false;
        }
        if ((o != OPT_SOCKET && optarg && !cli_is_text(c, optarg)) ||
            !cli_take_option(c, o, options[index].name))
            return false;
    }
    return true;
}

/* Returns the number of arguments that may be mixed with options; those of a
 * program to run are its own. */
static int
cli_words_before_command(const struct cli *c)
{
    if (!strcmp(c->command, "create"))
        return 0;
    return !strcmp(c->command, "run") || !strcmp(c->command, "shell") ? 1
                                                                      : INT_MAX;
}

/* Files of the host may have any name, so words of `files` are not checked
 * here. */
static bool
cli_are_texts(const struct cli *c)
{
    bool is = true;

    if (strcmp(c->command, "files") != 0)
        for (char **w = c->words; is && *w; w++)
            is = cli_is_text(c, *w);
    return is;
}

/* Options may stand between the words, up to the command that is to be run. The
 * words are moved to the front of argv. */
bool
cli_parse(struct cli *c, int argc, char **argv)
{
    int n_words = 0, most = cli_words_before_command(c);

    opterr = 0;
    optind = 1;
    while (cli_take_options(c, argc, argv)) {
        if (optind < argc && strcmp(argv[optind - 1], "--") != 0 &&
            n_words < most) {
            argv[++n_words] = argv[optind++];
            continue;
        }
        for (; optind < argc; optind++)
            argv[++n_words] = argv[optind];
        argv[n_words + 1] = NULL;
        c->words = argv + 1;
        return cli_are_texts(c);
    }
    return false;
}
