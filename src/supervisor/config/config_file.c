/* The configuration file, and JSON files in general. All errors are reported at
 * once, with the file and the line or key. */
#include "supervisor/config/config_impl.h"

#include "base/hfd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES = 1 << 20 };

/* -ENOMEM is worse than any other error, because it is not the user's. */
int
config_worse(int a, int b)
{
    return a == -ENOMEM || b == 0 ? a : b;
}

/* --- bytes to JSON */

/* The size of a file may change while it is read, so it is read to its end. */
static int
config_file_read_all(int hfd, struct buf *b)
{
    for (;;) {
        char *to = buf_room(b, BUFSIZ);
        if (!to)
            return b->error;
        ssize_t n = read(hfd, to, BUFSIZ);
        if (n <= 0)
            return n < 0 ? -errno : 0;
        b->len += (size_t)n;
    }
}

/* A syntax error is reported with its line, which is counted up to the position
 * of the fault. */
static int
config_file_parse_text(const struct buf *b, const char *name,
                       struct buf *errors, struct json_doc *ret)
{
    char line[CONFIG_NAME_BYTES];
    struct json_fault fault;
    int n = 1;

    int r = json_read_copy(ret, b->len ? b->p : "", b->len, &fault);
    if (r == -EINVAL) {
        for (size_t i = 0; i < fault.offset; i++)
            n += b->p[i] == '\n';
        (void)snprintf(line, sizeof line, "line %d", n);
        return config_refuse(errors, name, line, "%s", fault.text);
    }
    if (r == 0 && !json_is(ret->v, JSON_OBJECT)) {
        json_fini(ret);
        return config_refuse(errors, name, "", "must be an object");
    }
    return r;
}

/* Only regular files: a FIFO would block, and a device has no end. */
static int
config_file_parse_file(int hfd, const char *name, struct buf *b,
                       struct buf *errors, struct json_doc *ret)
{
    struct stat st;

    if (fstat(hfd, &st) < 0)
        return config_refuse(errors, name, "", "%s", strerror(errno));
    if (!S_ISREG(st.st_mode))
        return config_refuse(errors, name, "", "not a regular file");
    int r = config_file_read_all(hfd, b);
    if (r == -ENOMEM)
        return r;
    if (r == -EFBIG)
        return config_refuse(errors, name, "", "longer than 1 MiB");
    if (r != 0)
        return config_refuse(errors, name, "", "%s", strerror(-r));
    return config_file_parse_text(b, name, errors, ret);
}

/* The text is freed here: the document has its own copy of all strings. */
int
config_parse(int hfd, const char *name, struct buf *errors,
             struct json_doc *ret)
{
    CLEANUP(buf_fini) struct buf b;

    buf_init(&b, FILE_BYTES);
    return config_file_parse_file(hfd, name, &b, errors, ret);
}

/* --- JSON to values */

/* A file that is being applied to a configuration. */
struct config_file {
    struct config *c;
    const char *name;
    struct buf *errors;
};

/* True if this is the name that the key had when keys were written with '_'.
 * Old files stay valid. The keys of limits always had capitals. */
static bool
config_file_is_old_name(const struct config_row *row, const char *name)
{
    const char *key = row->key;

    if (row->of)
        return false;
    for (; *key && *name; key++, name++) {
        bool is_capital = *key >= 'A' && *key <= 'Z';
        if (is_capital && *name++ != '_')
            return false;
        if (*name != (is_capital ? *key - 'A' + 'a' : *key))
            return false;
    }
    return !*key && !*name;
}

/* Finds a key by its present or its old name. */
static const struct config_row *
config_file_find_row(const char *name)
{
    for (size_t i = 0; i < n_config_rows; i++)
        if (!strcmp(config_rows[i].key, name) ||
            config_file_is_old_name(&config_rows[i], name))
            return &config_rows[i];
    return NULL;
}

/* True if there are rows `section.key`. */
static bool
config_file_is_section(const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < n_config_rows; i++)
        if (!strncmp(config_rows[i].key, name, n) &&
            config_rows[i].key[n] == '.')
            return true;
    return false;
}

/* Sets the value of a member of `object`. Errors name the key as it was
 * written, which may be its old name. Both names at once are an error, because
 * one would silently win. */
static int
config_file_lay_value(const struct config_file *f, const struct json *object,
                      const char *name, const struct json *value)
{
    const struct config_row *found = config_file_find_row(name);

    if (!found)
        return config_refuse(f->errors, f->name, name, "unknown key");
    struct config_row row = *found;
    const char *dot = strchr(row.key, '.');
    if (strcmp(row.key, name) != 0 && json_get(object, dot ? dot + 1 : row.key))
        return config_refuse(f->errors, f->name, name,
                             "the old name of %s, which is set too", row.key);
    row.key = name;
    return config_set_json(f->c, &row, f->name, value, f->errors);
}

/* The members of an object are keys `section.key`. */
static int
config_file_lay_section(const struct config_file *f, const char *section,
                        const struct json *object)
{
    char name[CONFIG_NAME_BYTES];
    int r = 0;

    if (!json_is(object, JSON_OBJECT))
        return config_refuse(f->errors, f->name, section, "must be an object");
    JSON_EACH_KEY(key, object) {
        (void)snprintf(name, sizeof name, "%s.%s", section, key->text.p);
        r = config_worse(
            r, config_file_lay_value(f, object, name, json_value(key)));
    }
    return r;
}

/* A key with a dot is refused: otherwise "a.b" would mean the same as
 * {"a":{"b":...}}, and both could be given. */
static int
config_file_lay_object(const struct config_file *f, const struct json *object)
{
    int r = 0;

    JSON_EACH_KEY(member, object) {
        const struct json *value = json_value(member);
        const char *key = member->text.p;
        /* Else "a.b" would be the same as {"a":{"b":...}}. */
        if (strchr(key, '.'))
            r = config_worse(
                r, config_refuse(f->errors, f->name, key, "unknown key"));
        else if (config_file_is_section(key))
            r = config_worse(r, config_file_lay_section(f, key, value));
        else
            r = config_worse(r, config_file_lay_value(f, object, key, value));
    }
    return r;
}

/* O_NONBLOCK and O_NOCTTY: the path may name a FIFO or a terminal, which is
 * rejected after it was opened. */
int
config_lay_file(struct config *c, const char *path, bool must,
                struct buf *errors)
{
    CLEANUP(hfd_closep)
    int hfd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    CLEANUP(json_fini) struct json_doc json = {0};

    if (hfd < 0 && errno == ENOENT && !must)
        return 0;
    if (hfd < 0)
        return config_refuse(errors, path, "", "%s", strerror(errno));
    int r = config_parse(hfd, path, errors, &json);
    if (r != 0)
        return r;
    return config_file_lay_object(&(struct config_file){c, path, errors},
                                  json.v);
}
