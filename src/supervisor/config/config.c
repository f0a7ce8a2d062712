/* The configuration as a whole: its layers, and what must fit together. */
#include "supervisor/config/config_impl.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

static const char standard_file[] = "/etc/wasmsand/config.json";
static const char prefix[] = "WASMSAND_";

/* A configuration that is being read. */
struct load {
    struct config *c;
    char *const *argv, *const *env;
    struct buf *errors;
    int result;
};

static void
note(struct load *l, int r)
{
    l->result = config_worse(l->result, r);
}

/* --- the environment */

static const char *
find_env(char *const *env, const char *name)
{
    size_t n = strlen(name);

    for (; *env; env++)
        if (!strncmp(*env, name, n) && (*env)[n] == '=')
            return *env + n + 1;
    return NULL;
}

static void
env_name(const struct config_row *row, char *ret, size_t size)
{
    (void)snprintf(ret, size, "%s%s", prefix, row->id);
    for (char *p = ret; *p; p++)
        *p = (char)toupper((unsigned char)*p);
}

static void
lay_env(struct load *l)
{
    char name[CONFIG_NAME_BYTES];

    for (size_t i = 0; i < n_config_rows; i++) {
        env_name(&config_rows[i], name, sizeof name);
        const char *text = find_env(l->env, name);
        if (text)
            note(l,
                 config_set_text(l->c, &config_rows[i], name, text, l->errors));
    }
}

/* --- the command line */

/* An option: `--name value` or `--name=value`. */
struct option_word {
    const char *name, *value; /* value NULL: none */
    size_t len;
    int words;
};

static struct option_word
split_option(char *const *argv)
{
    struct option_word o = {.name = argv[0] + 2, .words = 1};

    o.len = strcspn(o.name, "=");
    if (o.name[o.len])
        o.value = o.name + o.len + 1;
    return o;
}

static void
take_next_word(struct option_word *o, char *const *argv)
{
    if (o->value || !argv[1])
        return;
    o->value = argv[1];
    o->words = 2;
}

static bool
is_named(const struct option_word *o, const char *id)
{
    for (size_t i = 0; i < o->len; i++)
        if (o->name[i] != (id[i] == '_' ? '-' : id[i]))
            return false;
    return !id[o->len];
}

static const struct config_row *
find_option(const struct option_word *o)
{
    for (size_t i = 0; i < n_config_rows; i++)
        if (is_named(o, config_rows[i].id))
            return &config_rows[i];
    return NULL;
}

static bool
is_option(const char *word)
{
    return word[0] == '-' && word[1] == '-' && word[2];
}

/* The number of words it has. */
static int
lay_option(struct load *l, char *const *argv)
{
    char name[CONFIG_NAME_BYTES];
    struct option_word o = split_option(argv);
    const struct config_row *row = find_option(&o);

    (void)snprintf(name, sizeof name, "%.*s", (int)o.len + 2, argv[0]);
    if (!row && !is_named(&o, "config")) {
        note(l, config_refuse(l->errors, name, "", "not an option"));
        return 1;
    }
    if (row && row->kind == CONFIG_flag && !o.value)
        o.value = "true";
    take_next_word(&o, argv);
    if (!o.value)
        note(l, config_refuse(l->errors, name, "", "needs a value"));
    else if (row)
        note(l, config_set_text(l->c, row, name, o.value, l->errors));
    return o.words;
}

static void
lay_options(struct load *l)
{
    for (char *const *argv = l->argv; *argv;) {
        if (is_option(*argv)) {
            argv += lay_option(l, argv);
            continue;
        }
        note(l, config_refuse(l->errors, *argv, "", "not an option"));
        argv++;
    }
}

/* --- the file */

static const char *
file_of_options(char *const *argv)
{
    const char *path = NULL;

    while (*argv) {
        struct option_word o = {.words = 1};
        if (is_option(*argv))
            o = split_option(argv);
        const struct config_row *row = o.name ? find_option(&o) : NULL;
        if (o.name && !(row && row->kind == CONFIG_flag))
            take_next_word(&o, argv);
        if (o.name && is_named(&o, "config"))
            path = o.value;
        argv += o.words;
    }
    return path;
}

static void
lay_file(struct load *l)
{
    const char *path = file_of_options(l->argv);

    if (!path)
        path = find_env(l->env, "WASMSAND_CONFIG");
    note(l,
         config_lay_file(l->c, path ? path : standard_file, path, l->errors));
}

/* --- defaults */

static void
lay_defaults(struct load *l)
{
    for (size_t i = 0; i < n_config_rows; i++)
        note(l, config_set_text(l->c, &config_rows[i], "default",
                                config_rows[i].standard, l->errors));
}

/* Where files of a kind are, best first. */
static const struct place {
    const char *variable, *then;
} socket_places[] = {{"XDG_RUNTIME_DIR", "/wasmsand.sock"},
                     {NULL, "/run/wasmsand.sock"}},
  store_places[] = {{"XDG_STATE_HOME", "/wasmsand"},
                    {"HOME", "/.local/state/wasmsand"},
                    {NULL, "/var/lib/wasmsand"}};

static void
fill_in(struct load *l, char **path, const struct place *p)
{
    const char *dir = "";
    struct buf b;

    if (!*path || **path)
        return;
    for (; p->variable; p++) {
        dir = find_env(l->env, p->variable);
        if (dir && *dir == '/')
            break;
    }
    buf_init(&b, CONFIG_PATH_BYTES);
    buf_puts(&b, p->variable ? dir : "");
    buf_puts(&b, p->then);
    buf_add(&b, "", 1);
    note(l, b.error ? -ENOMEM : 0);
    free(*path);
    *path = buf_steal(&b);
}

/* --- what must fit together */

static void
check_limits(struct load *l)
{
    const struct config *c = l->c;
    char name[CONFIG_NAME_BYTES];

    for (int i = 0; i < N_LIMITS; i++) {
        const char *key = config_limit_key((enum limit)i);
        if (!key || c->standard[i] <= c->most[i])
            continue;
        (void)snprintf(name, sizeof name, "resources.%s", key);
        note(l, config_refuse(l->errors, "", name,
                              "%u is more than maximum.%s, %u", c->standard[i],
                              key, c->most[i]));
    }
}

static void
check(struct load *l)
{
    const struct config *c = l->c;

    check_limits(l);
    if (strlen(c->socket) >= sizeof((struct sockaddr_un *)0)->sun_path)
        note(l, config_refuse(l->errors, "", "socket",
                              "a path of at most %zu bytes is possible",
                              sizeof((struct sockaddr_un *)0)->sun_path - 1));
    if (c->http_enabled && !*c->http_tokens_file)
        note(l, config_refuse(l->errors, "", "http.tokens_file",
                              "required where http.enabled is true"));
}

/* --- the whole */

int
config_read(char *const *argv, char *const *env, struct buf *errors,
            struct config **ret)
{
    CLEANUP(config_freep) struct config *c = calloc(1, sizeof *c);
    struct load l = {c, argv, env, errors, 0};

    if (!c)
        return -ENOMEM;
    lay_defaults(&l);
    lay_file(&l);
    lay_env(&l);
    lay_options(&l);
    fill_in(&l, &c->socket, socket_places);
    fill_in(&l, &c->store_dir, store_places);
    if (l.result != -ENOMEM)
        check(&l);
    if (l.result == 0)
        *ret = STEAL(c);
    return l.result;
}

void
config_free(struct config *c)
{
    if (!c)
        return;
#define CONFIG_PATH(id, key, standard, text)    free(c->id);
#define CONFIG_ADDRESS(id, key, standard, text) free(c->id);
#define CONFIG_FLAG(id, key, standard, text)
#define CONFIG_NUMBER(id, key, standard, least, most, unit, text)
#define CONFIG_CHOICE(id, key, standard, choices, text)
#define CONFIG_LIMITS(id, key, text)
#define CONFIG_LIMIT(limit, where, id, key, standard, text)
#include "supervisor/config/config_rows.h"
    free(c);
}

/* The object that has the key: the root, or a section of it. */
static json_t *
section_of(json_t *root, const char *key)
{
    char name[CONFIG_NAME_BYTES];
    const char *dot = strchr(key, '.');

    if (!dot)
        return root;
    (void)snprintf(name, sizeof name, "%.*s", (int)(dot - key), key);
    json_t *section = json_object_get(root, name);
    if (section)
        return section;
    (void)json_object_set_new(root, name, json_object());
    return json_object_get(root, name);
}

void
config_print(const struct config *c, FILE *out)
{
    json_t *root = json_object();

    for (size_t i = 0; i < n_config_rows; i++) {
        const struct config_row *row = &config_rows[i];
        const char *dot = strchr(row->key, '.');
        (void)json_object_set_new(section_of(root, row->key),
                                  dot ? dot + 1 : row->key,
                                  config_get_json(c, row));
    }
    (void)json_dumpf(root, out, JSON_INDENT(2));
    (void)fputc('\n', out);
    json_decref(root);
}

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
        (void)fprintf(out, "  --%-21s %s [%s]\n", name, row->text,
                      row->standard);
    }
}
