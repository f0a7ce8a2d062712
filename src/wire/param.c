/* Checking parameters against their rows.
 *
 * A row names a type, and the table of kinds says how a value of that type is
 * checked. Errors begin with the name of the parameter as the row has it, so
 * the same text is right for members of objects and arrays. */
#include "wire/param.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- values */

/* Writes "NAME must ..." as the error. */
static int __attribute__((format(printf, 2, 3)))
param_refuse(const struct param_check *c, const char *format, ...)
{
    va_list args;
    int n = snprintf(c->error, PARAM_ERROR_BYTES, "%s ", c->param->name);

    va_start(args, format);
    (void)vsnprintf(c->error + n, (size_t)(PARAM_ERROR_BYTES - n), format,
                    args);
    va_end(args);
    return -EINVAL;
}

static int
check_texts(const struct param_check *c, const struct json *v)
{
    if (!json_is(v, JSON_ARRAY))
        return param_refuse(c, "must be an array of strings");
    JSON_EACH(element, v) {
        int r = param_check(c, TEXT, element);
        if (r < 0)
            return r;
    }
    return 0;
}

static int
check_members(const struct param_check *c, enum param_type type,
              const struct json *v)
{
    if (!json_is(v, JSON_OBJECT))
        return param_refuse(c, "must be an object of strings");
    JSON_EACH_KEY(key, v) {
        int r = param_check(c, type, json_value(key));
        if (r < 0)
            return r;
    }
    return 0;
}

/* A name with a sign of equality would set another variable. */
static int
check_env(const struct param_check *c, const struct json *v)
{
    int r = check_members(c, TEXT, v);
    if (r < 0)
        return r;
    JSON_EACH_KEY(key, v)
        if (!key->text.len || strchr(key->text.p, '='))
            return param_refuse(c, "has a name that no variable can have");
    return 0;
}

static int
check_files(const struct param_check *c, const struct json *v)
{
    return check_members(c, STRING, v);
}

static int
check_objects(const struct param_check *c, const struct json *v)
{
    if (!json_is(v, JSON_ARRAY))
        return param_refuse(c, "must be an array of objects");
    JSON_EACH(element, v)
        if (!json_is(element, JSON_OBJECT))
            return param_refuse(c, "must be an array of objects");
    return 0;
}

static int
check_bool(const struct param_check *c, const struct json *v)
{
    return json_is_bool(v) ? 0 : param_refuse(c, "must be true or false");
}

/* A number without a fraction counts as an integer, however it is written: 1e3
 * is 1000. */
static int
check_int(const struct param_check *c, const struct json *v)
{
    int64_t n;

    if (json_whole(v, &n) && n >= c->param->least && n <= c->param->most)
        return 0;
    return param_refuse(c, "must be an integer from %" PRId64 " to %" PRId64,
                        c->param->least, c->param->most);
}

static int
check_id(const struct param_check *c, const struct json *v)
{
    int64_t n;

    if (json_whole(v, &n))
        return 0;
    return json_is_number(v) ? param_refuse(c, "must be a string or an integer")
                             : param_check(c, TEXT, v);
}

/* Text with NUL inside would be compared up to that only. */
static int
check_octal(const struct param_check *c, const struct json *v)
{
    const char *s = json_text(v).p;
    uint32_t mode;

    if (s && strlen(s) == json_text(v).len && mode_parse(s, &mode) == 0)
        return 0;
    return param_refuse(c, "must be octal text from 0 to 7777");
}

static int
check_mode(const struct param_check *c, const struct json *v)
{
    return json_is(v, JSON_STRING) ? check_octal(c, v) : check_int(c, v);
}

static int
check_encoding(const struct param_check *c, const struct json *v)
{
    const char *s = json_text(v).p;

    if (s && (!strcmp(s, "text") || !strcmp(s, "base64")))
        return 0;
    return param_refuse(c, "must be \"text\" or \"base64\"");
}

static int
check_keep(const struct param_check *c, const struct json *v)
{
    const char *s = json_text(v).p;

    if (s && (!strcmp(s, "head") || !strcmp(s, "ends")))
        return 0;
    return param_refuse(c, "must be \"head\" or \"ends\"");
}

/* The kinds of values. Plain ones have a JSON type and the text of the error
 * for others; the rest has a function. */
static const struct {
    bool is_plain;
    enum json_type type;
    const char *error;
    int (*check)(const struct param_check *c, const struct json *v);
} kinds[] = {
    [ANY] = {.check = NULL},
    [STRING] = {true, JSON_STRING, "must be a string", NULL},
    [TEXT] = {true, JSON_STRING, "must be a string", NULL},
    [OBJECT] = {true, JSON_OBJECT, "must be an object", NULL},
    [TEXTS] = {.check = check_texts},
    [ENV] = {.check = check_env},
    [FILES] = {.check = check_files},
    [OBJECTS] = {.check = check_objects},
    [BOOL] = {.check = check_bool},
    [INT] = {.check = check_int},
    [ID] = {.check = check_id},
    [OCTAL] = {.check = check_octal},
    [MODE] = {.check = check_mode},
    [ENCODING] = {.check = check_encoding},
    [KEEP] = {.check = check_keep},
};

int
param_check(const struct param_check *c, enum param_type type,
            const struct json *v)
{
    if (kinds[type].check)
        return kinds[type].check(c, v);
    if (kinds[type].is_plain && !json_is(v, kinds[type].type))
        return param_refuse(c, "%s", kinds[type].error);
    if (type == TEXT && memchr(json_text(v).p, 0, json_text(v).len))
        return param_refuse(c, "must not contain NUL");
    return 0;
}

int
mode_parse(const char *s, uint32_t *ret)
{
    uint32_t mode = 0;
    size_t n = strlen(s);

    if (!n || n > 6 || strspn(s, "01234567") != n)
        return -EINVAL;
    for (; *s; s++)
        mode = mode * 8 + (uint32_t)(*s - '0');
    if (mode > 07777)
        return -EINVAL;
    *ret = mode;
    return 0;
}

/* --- rows */

/* The text of a missing parameter is fixed by the protocol. The rows of the
 * containers on the path come first, so those have been checked. */
int
param_check_path(const struct param_check *c, const struct json *in,
                 const char *path)
{
    size_t n = strcspn(path, ".[");
    const struct json *v = json_get_n(in, path, n);
    bool is_absent = !v || json_is(v, JSON_NULL);
    int r = 0;

    if (!path[n] && !is_absent)
        return param_check(c, c->param->type, v);
    if (!path[n] && c->param->is_required) {
        (void)snprintf(c->error, PARAM_ERROR_BYTES,
                       "Missing required param: %s", c->param->name);
        return -EINVAL;
    }
    if (is_absent)
        return 0;
    if (path[n] == '.')
        return param_check_path(c, v, path + n + 1);
    JSON_EACH(element, v)
        if (r == 0)
            r = param_check_path(c, element, path + n + strlen("[]."));
    return r;
}
