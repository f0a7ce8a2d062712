/* The configuration as a whole: its layers, and rules between keys.
 *
 * Each layer sets values through the same rows (config.def), so a key, a
 * variable and an option have the same checks and messages. All errors of all
 * layers are collected, and the user sees them at once. */
#include "supervisor/config/config_impl.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

static const char standard_file[] = "/etc/wasmsand/config.json";
static const char prefix[] = "WASMSAND_";

/* A configuration that is being read. `result` is 0 or the worst error so
 * far. */
struct load {
    struct config *c;
    char *const *argv, *const *env;
    struct buf *errors;
    int result;
};

/* Remembers the worst result so far and goes on. */
static void
config_add_result(struct load *l, int r)
{
    l->result = config_worse(l->result, r);
}

/* --- the environment */

/* Returns the value of a variable, or NULL. */
static const char *
config_find_env(char *const *env, const char *name)
{
    size_t n = strlen(name);

    for (; *env; env++)
        if (!strncmp(*env, name, n) && (*env)[n] == '=')
            return *env + n + 1;
    return NULL;
}

/* The name of the variable is the id in capitals, with the prefix. */
static void
config_env_name(const struct config_row *row, char *ret, size_t size)
{
    (void)snprintf(ret, size, "%s%s", prefix, row->id);
    for (char *p = ret; *p; p++)
        *p = (char)toupper((unsigned char)*p);
}

/* Only the variables of known keys are read: others with the prefix may belong
 * to clients. */
static void
config_lay_env(struct load *l)
{
    char name[CONFIG_NAME_BYTES];

    for (size_t i = 0; i < n_config_rows; i++) {
        config_env_name(&config_rows[i], name, sizeof name);
        const char *text = config_find_env(l->env, name);
        if (text)
            config_add_result(l, config_set_text(l->c, &config_rows[i], name,
                                                 text, l->errors));
    }
}

/* --- the command line */

/* An option: `--name value` or `--name=value`. */
struct option_word {
    const char *name, *value; /* value NULL: none */
    size_t len;
    int words;
};

/* Splits at the equals sign, if there is one. */
static struct option_word
config_split_option(char *const *argv)
{
    struct option_word o = {.name = argv[0] + 2, .words = 1};

    o.len = strcspn(o.name, "=");
    if (o.name[o.len])
        o.value = o.name + o.len + 1;
    return o;
}

/* The value of `--name value` is the next word. */
static void
config_take_next_word(struct option_word *o, char *const *argv)
{
    if (o->value || !argv[1])
        return;
    o->value = argv[1];
    o->words = 2;
}

/* Compares an option with an id, whose underscores are dashes in options. */
static bool
config_is_named(const struct option_word *o, const char *id)
{
    for (size_t i = 0; i < o->len; i++)
        if (o->name[i] != (id[i] == '_' ? '-' : id[i]))
            return false;
    return !id[o->len];
}

/* Returns the row of an option, or NULL. */
static const struct config_row *
config_find_option(const struct option_word *o)
{
    for (size_t i = 0; i < n_config_rows; i++)
        if (config_is_named(o, config_rows[i].id))
            return &config_rows[i];
    return NULL;
}

static bool
config_is_option(const char *word)
{
    return word[0] == '-' && word[1] == '-' && word[2];
}

/* Sets the value of an option. Returns the number of its words. --config was
 * handled before. */
static int
config_lay_option(struct load *l, char *const *argv)
{
    char name[CONFIG_NAME_BYTES];
    struct option_word o = config_split_option(argv);
    const struct config_row *row = config_find_option(&o);

    (void)snprintf(name, sizeof name, "%.*s", (int)o.len + 2, argv[0]);
    if (!row && !config_is_named(&o, "config")) {
        config_add_result(
            l, config_refuse(l->errors, name, "",
                             "not an option; see wasm-sandbox serve --help"));
        return 1;
    }
    if (row && row->kind == CONFIG_flag && !o.value)
        o.value = "true";
    config_take_next_word(&o, argv);
    if (!o.value)
        config_add_result(l,
                          config_refuse(l->errors, name, "", "needs a value"));
    else if (row)
        config_add_result(l,
                          config_set_text(l->c, row, name, o.value, l->errors));
    return o.words;
}

/* Every word must be an option or its value. */
static void
config_lay_options(struct load *l)
{
    for (char *const *argv = l->argv; *argv;) {
        if (config_is_option(*argv)) {
            argv += config_lay_option(l, argv);
            continue;
        }
        config_add_result(
            l, config_refuse(l->errors, *argv, "",
                             "not an option; see wasm-sandbox serve --help"));
        argv++;
    }
}

/* --- the file */

/* Finds --config before anything is set, because the file is the lower layer.
 * Words are skipped as config_lay_options will do it, so that a value is not
 * mistaken for an option. */
static const char *
config_file_of_options(char *const *argv)
{
    const char *path = NULL;

    while (*argv) {
        struct option_word o = {.words = 1};
        if (config_is_option(*argv))
            o = config_split_option(argv);
        const struct config_row *row = o.name ? config_find_option(&o) : NULL;
        if (o.name && !(row && row->kind == CONFIG_flag))
            config_take_next_word(&o, argv);
        if (o.name && config_is_named(&o, "config"))
            path = o.value;
        argv += o.words;
    }
    return path;
}

/* A file that was named must exist; the default one may be missing. */
static void
config_lay_named_file(struct load *l)
{
    const char *path = config_file_of_options(l->argv);

    if (!path)
        path = config_find_env(l->env, "WASMSAND_CONFIG");
    config_add_result(
        l, config_lay_file(l->c, path ? path : standard_file, path, l->errors));
}

/* --- defaults */

/* Defaults are texts, which are parsed like any other value. A wrong default
 * would be found by the first test. */
static void
config_lay_defaults(struct load *l)
{
    for (size_t i = 0; i < n_config_rows; i++)
        config_add_result(l,
                          config_set_text(l->c, &config_rows[i], "default",
                                          config_rows[i].standard, l->errors));
}

/* Default folders for a kind of file, best first. */
static const struct default_path {
    const char *variable, *then;
} socket_defaults[] = {{"XDG_RUNTIME_DIR", "/wasmsand.sock"},
                       {NULL, "/run/wasmsand.sock"}},
  store_defaults[] = {{"XDG_STATE_HOME", "/wasmsand"},
                      {"HOME", "/.local/state/wasmsand"},
                      {NULL, "/var/lib/wasmsand"}};

/* Fills an empty path with the first default whose variable is an absolute
 * path. */
static void
config_fill_in(struct load *l, char **path, const struct default_path *p)
{
    const char *dir = "";
    struct buf b;

    if (!*path || **path)
        return;
    for (; p->variable; p++) {
        dir = config_find_env(l->env, p->variable);
        if (dir && *dir == '/')
            break;
    }
    buf_init(&b, CONFIG_PATH_BYTES);
    buf_puts(&b, p->variable ? dir : "");
    buf_puts(&b, p->then);
    buf_add(&b, "", 1);
    config_add_result(l, b.error ? -ENOMEM : 0);
    free(*path);
    *path = buf_steal(&b);
}

/* --- rules between keys */
static void
config_check_limits(struct load *l)
{
    const struct config *c = l->c;
    char name[CONFIG_NAME_BYTES];

    for (int i = 0; i < N_LIMITS; i++) {
        const char *key = config_limit_key((enum limit)i);
        if (!key || c->standard[i] <= c->most[i])
            continue;
        (void)snprintf(name, sizeof name, "resources.%s", key);
        config_add_result(l, config_refuse(l->errors, "", name,
                                           "%u is more than maximum.%s, %u",
                                           c->standard[i], key, c->most[i]));
    }
}

/* Each of these rules concerns more than one key, or a property of the
 * system. */
static void
config_check(struct load *l)
{
    const struct config *c = l->c;

    config_check_limits(l);
    if (strlen(c->socket) >= sizeof((struct sockaddr_un *)0)->sun_path)
        config_add_result(
            l, config_refuse(l->errors, "", "socket",
                             "a path of at most %zu bytes is possible",
                             sizeof((struct sockaddr_un *)0)->sun_path - 1));
    if (c->http_enabled && !*c->http_tokens_file)
        config_add_result(l,
                          config_refuse(l->errors, "", "http.tokensFile",
                                        "required where http.enabled is true"));
}

/* --- the whole */

/* Defaults, file, environment and options, each overriding the one before.
 * Rules between keys are checked at the end, for the result. */
int
config_read(char *const *argv, char *const *env, struct buf *errors,
            struct config **ret)
{
    CLEANUP(config_freep) struct config *c = calloc(1, sizeof *c);
    struct load l = {c, argv, env, errors, 0};

    if (!c)
        return -ENOMEM;
    config_lay_defaults(&l);
    config_lay_named_file(&l);
    config_lay_env(&l);
    config_lay_options(&l);
    config_fill_in(&l, &c->socket, socket_defaults);
    config_fill_in(&l, &c->store_dir, store_defaults);
    if (l.result != -ENOMEM)
        config_check(&l);
    if (l.result == 0)
        *ret = STEAL(c);
    return l.result;
}

/* Frees the strings of all rows; the macros of the other kinds are empty. */
void
config_free(struct config *c)
{
    if (!c)
        return;
#define CONFIG_PATH(id, key, standard, text)    free(c->id);
#define CONFIG_ADDRESS(id, key, standard, text) free(c->id);
#define CONFIG_IMAGES(id, key, text)            free(c->id);
#define CONFIG_RULES(id, key, text)             free(c->id);
#define CONFIG_SERVERS(id, key, text)           free(c->id);
#define CONFIG_DOMAIN(id, key, standard, text)  free(c->id);
#define CONFIG_FLAG(id, key, standard, text)
#define CONFIG_NUMBER(id, key, standard, least, most, unit, text)
#define CONFIG_CHOICE(id, key, standard, choices, text)
#define CONFIG_LIMITS(id, key, text)
#define CONFIG_LIMIT(limit, where, id, key, standard, text)
#include "supervisor/config/config_rows.h"
    free(c);
}

/* --- printing */

/* Returns the length of the section in a key, or 0 for a member of the root. */
static size_t
config_section_len(const struct config_row *row)
{
    const char *dot = strchr(row->key, '.');

    return dot ? (size_t)(dot - row->key) : 0;
}

/* Two rows of the root are in the same section, whose name is empty. */
static bool
config_same_section(const struct config_row *a, const struct config_row *b)
{
    size_t n = config_section_len(a);

    return n == config_section_len(b) && !strncmp(a->key, b->key, n);
}

/* Writes a member, with a comma unless it is the first one. */
static void
config_put_row(struct buf *b, const struct config *c,
               const struct config_row *row, const char *key,
               const char *indent)
{
    buf_printf(b, "%s%s", b->p[b->len - 1] == '{' ? "\n" : ",\n", indent);
    put_text(b, key);
    buf_puts(b, ": ");
    if (row)
        config_put_value(b, c, row);
}

/* Writes all rows of a section at the position of its first one. Called for
 * each row; all but the first do nothing. */
static void
config_put_section(struct buf *b, const struct config *c, size_t first)
{
    const struct config_row *row = &config_rows[first];
    size_t n = config_section_len(row);
    char name[CONFIG_NAME_BYTES];

    for (size_t i = 0; i < first; i++)
        if (config_same_section(&config_rows[i], row))
            return;
    (void)snprintf(name, sizeof name, "%.*s", (int)n, row->key);
    config_put_row(b, c, NULL, name, "  ");
    buf_puts(b, "{");
    for (size_t i = first; i < n_config_rows; i++)
        if (config_same_section(&config_rows[i], row))
            config_put_row(b, c, &config_rows[i], config_rows[i].key + n + 1,
                           "    ");
    buf_puts(b, "\n  }");
}

/* Keys are printed in the order of config.def, with sections as objects. */
void
config_print(const struct config *c, FILE *out)
{
    CLEANUP(buf_fini) struct buf b;

    buf_init(&b, SIZE_MAX);
    buf_puts(&b, "{");
    for (size_t i = 0; i < n_config_rows && !b.error; i++) {
        const struct config_row *row = &config_rows[i];
        if (config_section_len(row))
            config_put_section(&b, c, i);
        else
            config_put_row(&b, c, row, row->key, "  ");
    }
    buf_puts(&b, "\n}\n");
    (void)fwrite(b.p, 1, b.error ? 0 : b.len, out);
}

/* The text of a row is its help; docs/config.md is generated from the same
 * rows. */
void
config_print_options(FILE *out)
{
    char name[CONFIG_NAME_BYTES];

    (void)fprintf(out, "  --%-21s %s\n", "config FILE",
                  "the configuration file");
    for (size_t i = 0; i < n_config_rows; i++) {
        const struct config_row *row = &config_rows[i];
        (void)snprintf(name, sizeof name, "%s", row->id);
        for (char *p = name; *p; p++)
            *p = *p == '_' ? '-' : *p;
        (void)fprintf(out, "  --%-21s %s", name, row->text);
        if (row->kind == CONFIG_choice)
            (void)fprintf(out, " One of: %s.", row->choices);
        if (*row->standard)
            (void)fprintf(out, " [%s]", row->standard);
        (void)fputc('\n', out);
    }
}
