/* One value of the configuration: its row, its checks, its forms.
 *
 * Each kind of value has three functions: parse and store it, write it as JSON,
 * and describe the allowed values for an error message. The message of an
 * invalid value is the same for files, variables and options. */
#include "supervisor/config/config_impl.h"

#include "base/parse.h"
#include "supervisor/config/image_list.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Space for a line of an error, for the allowed values in it, and for the given
 * value. A longer value is cut off. */
enum { MESSAGE_BYTES = 384, ALLOWED_BYTES = 256, SAID_BYTES = 64 };

/* The members that all kinds have, and the location of the value. */
#define ROW(of_kind, name, of_key, default_, what)          \
    .kind = CONFIG_##of_kind, .id = #name, .key = (of_key), \
    .standard = (default_), .text = (what)
#define AT(member) .offset = offsetof(struct config, member)

/* The rows of config.def as a table; each macro fills the members of its
 * kind. */
const struct config_row config_rows[] = {
#define CONFIG_PATH(id, key, standard, text) \
    {ROW(path, id, key, standard, text), AT(id)},
#define CONFIG_ADDRESS(id, key, standard, text) \
    {ROW(address, id, key, standard, text), AT(id)},
#define CONFIG_IMAGES(id, key, text)  {ROW(images, id, key, "", text), AT(id)},
#define CONFIG_RULES(id, key, text)   {ROW(rules, id, key, "", text), AT(id)},
#define CONFIG_SERVERS(id, key, text) {ROW(servers, id, key, "", text), AT(id)},
#define CONFIG_DOMAIN(id, key, standard, text) \
    {ROW(domain, id, key, standard, text), AT(id)},
#define CONFIG_FLAG(id, key, standard, text) \
    {ROW(flag, id, key, #standard, text), AT(id)},
#define CONFIG_NUMBER(id, key, standard, least, most, of_unit, text) \
    {ROW(number, id, key, #standard, text), AT(id),                  \
     .range = {.min = (least), .max = (most), .unit = (of_unit)}},
#define CONFIG_CHOICE(id, key, standard, words, text) \
    {ROW(choice, id, key, standard, text), AT(id), .choices = (words)},
#define CONFIG_LIMITS(id, key, text)         \
    {ROW(limits, id, key, "", text), AT(id), \
     .choices = "memory cpu disk processes network"},
#define CONFIG_LIMIT(limit, where, id, key, standard, text)           \
    {ROW(number, id, key, #standard, text), AT(where[LIMIT_##limit]), \
     .of = &limit_rows[LIMIT_##limit]},
#include "supervisor/config/config_rows.h"
};
const size_t n_config_rows = sizeof config_rows / sizeof *config_rows;

/* Appends one line to the errors and returns -EINVAL, so that callers can go on
 * to the next value. */
int
config_refuse(struct buf *errors, const char *where, const char *key,
              const char *format, ...)
{
    char line[MESSAGE_BYTES];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    buf_puts(errors, where);
    buf_puts(errors, *where && *key ? ": " : "");
    buf_puts(errors, key);
    buf_puts(errors, ": ");
    buf_puts(errors, line);
    buf_puts(errors, "\n");
    return -EINVAL;
}

/* --- words between spaces */

/* Returns the position of `word` in a list separated by spaces, or -1. */
static int
config_value_find_word(const char *words, const char *word, size_t len)
{
    for (int i = 0; *words; i++) {
        size_t n = strcspn(words, " ");
        if (n == len && !memcmp(words, word, n))
            return i;
        words += n + (words[n] == ' ');
    }
    return -1;
}

/* Appends the word with this number as JSON. The number must be valid. */
static void
config_value_put_word(struct buf *b, const char *words, uint32_t index)
{
    while (index--)
        words += strcspn(words, " ") + 1;
    put_string(b, words, strcspn(words, " "));
}

/* Writes "a, b or c". */
static void
config_value_list_words(const char *words, char *ret, size_t size)
{
    size_t at = 0;

    *ret = 0;
    while (*words && at < size) {
        size_t n = strcspn(words, " ");
        const char *more = words + n + (words[n] == ' ');
        const char *then = !*more ? "" : strchr(more, ' ') ? ", " : " or ";
        int len = snprintf(ret + at, size - at, "%.*s%s", (int)n, words, then);
        at += (size_t)len;
        words = more;
    }
}

/* --- a value that is being set */

/* The syntax and the storage of a kind of value. */
struct kind {
    /* Parses and stores a value. -EINVAL: the error was reported. -ENOMEM. */
    int (*take)(const struct config_setting *v);
    /* Appends the stored value as JSON. */
    void (*put)(struct buf *b, const struct config *c,
                const struct config_row *row);
    /* Describes the allowed values; the text follows "must be". */
    void (*allow)(const struct config_row *row, char *ret, size_t size);
};

void *
config_value_member(const struct config *c, const struct config_row *row)
{
    return (char *)c + row->offset;
}

/* Returns the value as a string, or NULL if it is not one or contains a NUL. */
static const char *
config_value_text_of(const struct config_setting *v)
{
    struct text t = json_text(v->json);

    if (!v->json)
        return v->text;
    return t.p && strlen(t.p) == t.len ? t.p : NULL;
}

/* Writes the value as it was given, or its beginning if it is long. */
static void
config_value_quote(const struct config_setting *v, char *ret, size_t size)
{
    const char *text = config_value_text_of(v);

    CLEANUP(buf_fini) struct buf b;

    buf_init(&b, SIZE_MAX);
    if (!text)
        json_put(&b, v->json);
    if (text)
        (void)snprintf(ret, size, "'%s'", text);
    else
        (void)snprintf(ret, size, "%.*s", (int)b.len, b.p ? b.p : "");
}

/* --- the kinds */

/* An empty path means the default. Relative paths would depend on the folder in
 * which the program is started. */
static bool
config_value_is_plain_path(const char *path)
{
    size_t n = strlen(path);

    return !n ||
           (*path == '/' && n < CONFIG_PATH_BYTES && !strstr(path, "/../") &&
            (n < 3 || strcmp(path + n - 3, "/..") != 0));
}

/* Host names are not accepted: they would be resolved at each start, with
 * changing results. */
static bool
config_value_is_address(const char *text)
{
    struct in6_addr a;

    return inet_pton(AF_INET, text, &a) == 1 ||
           inet_pton(AF_INET6, text, &a) == 1;
}

/* An empty domain is none. The names of hosts in it must still fit. */
static bool
config_value_is_domain(const char *text)
{
    size_t n = strlen(text);

    return n <= CONFIG_DOMAIN_BYTES &&
           n == strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789-.") &&
           *text != '.' && !strstr(text, "..") && (!n || text[n - 1] != '.');
}

/* Replaces the string if it is valid. */
static int
config_value_take_string(const struct config_setting *v,
                         bool (*is_good)(const char *text))
{
    char **at = config_value_member(v->c, v->row);
    const char *text = config_value_text_of(v);

    if (!text || !is_good(text))
        return config_value_refuse(v);
    char *copy = strdup(text);
    if (!copy)
        return -ENOMEM;
    free(*at);
    *at = copy;
    return 0;
}

static int
config_value_take_path(const struct config_setting *v)
{
    return config_value_take_string(v, config_value_is_plain_path);
}

static int
config_value_take_address(const struct config_setting *v)
{
    return config_value_take_string(v, config_value_is_address);
}

static int
config_value_take_domain(const struct config_setting *v)
{
    return config_value_take_string(v, config_value_is_domain);
}

static void
config_value_put_string(struct buf *b, const struct config *c,
                        const struct config_row *row)
{
    char **at = config_value_member(c, row);

    put_text(b, *at);
}

static void
config_value_allow_string(const struct config_row *row, char *ret, size_t size)
{
    static const char *const texts[] = {
        [CONFIG_path] = "an absolute path without '..', or empty",
        [CONFIG_address] = "an IPv4 or IPv6 address in numbers",
        [CONFIG_domain] = "a name of lower-case letters, digits, '-' and '.', "
                          "or empty",
    };

    (void)snprintf(ret, size, "%s", texts[row->kind]);
}

/* Variables and options also accept 0 and 1. */
static int
config_value_take_flag(const struct config_setting *v)
{
    static const char *const names[2][2] = {{"false", "0"}, {"true", "1"}};
    bool *at = config_value_member(v->c, v->row);

    if (v->json && !json_is_bool(v->json))
        return config_value_refuse(v);
    if (v->json)
        *at = json_is(v->json, JSON_TRUE);
    for (int i = 0; !v->json && i < 4; i++) {
        if (strcmp(v->text, names[i / 2][i % 2]) != 0)
            continue;
        *at = i / 2;
        return 0;
    }
    return v->json ? 0 : config_value_refuse(v);
}

static void
config_value_put_flag(struct buf *b, const struct config *c,
                      const struct config_row *row)
{
    const bool *at = config_value_member(c, row);

    buf_puts(b, *at ? "true" : "false");
}

static void
config_value_allow_flag(const struct config_row *row, char *ret, size_t size)
{
    (void)row;
    (void)snprintf(ret, size, "true or false");
}

/* A limit has the range of its row in limits.def. */
static const struct limit_row *
config_value_range_of(const struct config_row *row)
{
    return row->of ? row->of : &row->range;
}

/* Returns the number, or -1 if it is not one. All ranges begin at 0 or
 * above. */
static int64_t
config_value_number_of(const struct config_setting *v)
{
    uint64_t n;

    if (v->json)
        return json_is(v->json, JSON_INTEGER) ? v->json->integer : -1;
    return parse_u64_text(v->text, INT64_MAX, &n) ? (int64_t)n : -1;
}

/* Numbers are stored as uint32_t; their ranges fit into it. */
static int
config_value_take_number(const struct config_setting *v)
{
    const struct limit_row *range = config_value_range_of(v->row);
    uint32_t *at = config_value_member(v->c, v->row);
    int64_t n = config_value_number_of(v);

    if (n < range->min || n > range->max)
        return config_value_refuse(v);
    *at = (uint32_t)n;
    return 0;
}

static void
config_value_put_number(struct buf *b, const struct config *c,
                        const struct config_row *row)
{
    const uint32_t *at = config_value_member(c, row);

    buf_printf(b, "%u", *at);
}

static void
config_value_allow_number(const struct config_row *row, char *ret, size_t size)
{
    const struct limit_row *range = config_value_range_of(row);

    (void)snprintf(ret, size, "an integer from %u to %u%s%s", range->min,
                   range->max, *range->unit ? " " : "", range->unit);
}

/* A choice is stored as the position of its word, which is the value of its
 * enum. */
static int
config_value_take_choice(const struct config_setting *v)
{
    const char *word = config_value_text_of(v);
    uint32_t *at = config_value_member(v->c, v->row);
    int i =
        word ? config_value_find_word(v->row->choices, word, strlen(word)) : -1;

    if (i < 0)
        return config_value_refuse(v);
    *at = (uint32_t)i;
    return 0;
}

static void
config_value_put_choice(struct buf *b, const struct config *c,
                        const struct config_row *row)
{
    const uint32_t *at = config_value_member(c, row);

    config_value_put_word(b, row->choices, *at);
}

static void
config_value_allow_choice(const struct config_row *row, char *ret, size_t size)
{
    config_value_list_words(row->choices, ret, size);
}

/* Returns the bits of words between commas, or -1 if one is not among the
 * choices. */
static int
config_value_bits_of_text(const char *choices, const char *text)
{
    int bits = 0;

    while (*text) {
        size_t n = strcspn(text, ",");
        int i = config_value_find_word(choices, text, n);
        if (i < 0)
            return -1;
        bits |= 1 << i;
        text += n + (text[n] == ',');
    }
    return bits;
}

/* Like config_value_bits_of_text, for a list of strings. */
static int
config_value_bits_of_json(const char *choices, const struct json *list)
{
    int bits = json_is(list, JSON_ARRAY) ? 0 : -1;

    if (bits < 0)
        return -1;
    JSON_EACH(item, list) {
        const char *word = json_text(item).p;
        int n = word ? config_value_find_word(choices, word, strlen(word)) : -1;
        if (n < 0)
            return -1;
        bits |= 1 << n;
    }
    return bits;
}

/* A set of limits is stored as bits, 1 << LIMIT_... */
static int
config_value_take_limits(const struct config_setting *v)
{
    uint32_t *at = config_value_member(v->c, v->row);
    int bits = v->json ? config_value_bits_of_json(v->row->choices, v->json)
                       : config_value_bits_of_text(v->row->choices, v->text);

    if (bits < 0)
        return config_value_refuse(v);
    *at = (uint32_t)bits;
    return 0;
}

/* Writes the set of limits as a list of words. */
static void
config_value_put_limits(struct buf *b, const struct config *c,
                        const struct config_row *row)
{
    const uint32_t *at = config_value_member(c, row);
    const char *comma = "";

    buf_puts(b, "[");
    for (uint32_t i = 0; i < N_LIMITS; i++) {
        if (!(*at >> i & 1))
            continue;
        buf_puts(b, comma);
        comma = ", ";
        config_value_put_word(b, row->choices, i);
    }
    buf_puts(b, "]");
}

static void
config_value_allow_limits(const struct config_row *row, char *ret, size_t size)
{
    char words[ALLOWED_BYTES / 2];

    config_value_list_words(row->choices, words, sizeof words);
    (void)snprintf(ret, size, "a list of %s", words);
}

/* Images are stored as text, in the form of a variable or an option. */
static bool
config_value_are_images(const char *text)
{
    CLEANUP(image_list_fini) struct image_list list = {0};

    return image_list_parse(&list, text) == 0;
}

/* Writes the members of an object in the form of a variable. */
static void
config_value_put_images_text(struct buf *b, const struct json *object)
{
    JSON_EACH_KEY(name, object) {
        const struct text path = json_text(json_value(name));
        buf_puts(b, b->len ? "," : "");
        buf_add(b, name->text.p, name->text.len);
        buf_puts(b, "=");
        buf_add(b, path.p, path.len);
    }
    buf_add(b, "", 1);
}

/* True if the text has as many images as the object: a comma in a name or a
 * path would make more of them. */
static bool
config_value_has_images(const char *text, size_t n)
{
    CLEANUP(image_list_fini) struct image_list list = {0};

    return image_list_parse(&list, text) == 0 && list.n == n;
}

static int
config_value_take_images(const struct config_setting *v)
{
    CLEANUP(buf_fini) struct buf b;
    struct config_setting as_text = *v;

    buf_init(&b, SIZE_MAX);
    if (!v->json)
        return config_value_take_string(v, config_value_are_images);
    if (!json_is(v->json, JSON_OBJECT))
        return config_value_refuse(v);
    config_value_put_images_text(&b, v->json);
    if (b.error)
        return b.error;
    if (!config_value_has_images(b.p, json_count(v->json)))
        return config_value_refuse(v);
    as_text.json = NULL;
    as_text.text = b.p;
    return config_value_take_string(&as_text, config_value_are_images);
}

static void
config_value_put_images(struct buf *b, const struct config *c,
                        const struct config_row *row)
{
    CLEANUP(image_list_fini) struct image_list list = {0};
    char **at = config_value_member(c, row);

    if (image_list_parse(&list, *at) < 0)
        b->error = -ENOMEM;
    buf_puts(b, "{");
    for (size_t i = 0; i < list.n; i++) {
        buf_puts(b, i ? ", " : "");
        put_text(b, list.v[i].name);
        buf_puts(b, ": ");
        put_text(b, list.v[i].path);
    }
    buf_puts(b, "}");
}

static void
config_value_allow_images(const struct config_row *row, char *ret, size_t size)
{
    (void)row;
    (void)snprintf(ret, size,
                   "absolute paths without commas by name (letters, digits, "
                   "'.', '_' and '-'; not \"default\")");
}

static const struct kind kinds[] = {
    [CONFIG_path] = {config_value_take_path, config_value_put_string,
                     config_value_allow_string},
    [CONFIG_address] = {config_value_take_address, config_value_put_string,
                        config_value_allow_string},
    [CONFIG_images] = {config_value_take_images, config_value_put_images,
                       config_value_allow_images},
    [CONFIG_domain] = {config_value_take_domain, config_value_put_string,
                       config_value_allow_string},
    [CONFIG_flag] = {config_value_take_flag, config_value_put_flag,
                     config_value_allow_flag},
    [CONFIG_number] = {config_value_take_number, config_value_put_number,
                       config_value_allow_number},
    [CONFIG_choice] = {config_value_take_choice, config_value_put_choice,
                       config_value_allow_choice},
    [CONFIG_limits] = {config_value_take_limits, config_value_put_limits,
                       config_value_allow_limits},
    [CONFIG_rules] = {config_list_take_rules, config_list_put,
                      config_list_allow_rules},
    [CONFIG_servers] = {config_list_take_servers, config_list_put,
                        config_list_allow_servers},
};

/* Writes the error: the allowed values, and the given one. */
int
config_value_refuse(const struct config_setting *v)
{
    char allowed[ALLOWED_BYTES], said[SAID_BYTES];

    kinds[v->row->kind].allow(v->row, allowed, sizeof allowed);
    config_value_quote(v, said, sizeof said);
    return config_refuse(v->errors, v->where, v->row->key, "must be %s, not %s",
                         allowed, said);
}

int
config_set_text(struct config *c, const struct config_row *row,
                const char *where, const char *text, struct buf *errors)
{
    struct config_setting v = {c, row, where, text, NULL, errors};

    return kinds[row->kind].take(&v);
}

int
config_set_json(struct config *c, const struct config_row *row,
                const char *where, const struct json *json, struct buf *errors)
{
    struct config_setting v = {c, row, where, NULL, json, errors};

    return kinds[row->kind].take(&v);
}

void
config_put_value(struct buf *b, const struct config *c,
                 const struct config_row *row)
{
    kinds[row->kind].put(b, c, row);
}
