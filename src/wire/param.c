/* Checking parameters against their rows.
 *
 * A row names a type, and each type has one function here. Errors begin with
 * the name of the parameter as the row has it, so the same text is right for
 * members of objects and arrays. */
#include "wire/param.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- values */

/* The context that the checks of one parameter share. */
struct param_check {
    const struct param *param;
    char *error;
};

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
check_any(const struct param_check *c, const struct json *v)
{
    (void)c;
    (void)v;
    return 0;
}

static int
check_string(const struct param_check *c, const struct json *v)
{
    return json_is(v, JSON_STRING) ? 0 : param_refuse(c, "must be a string");
}

static int
check_text(const struct param_check *c, const struct json *v)
{
    if (!json_is(v, JSON_STRING))
        return param_refuse(c, "must be a string");
    struct text t = json_text(v);
    return memchr(t.p, 0, t.len) ? param_refuse(c, "must not contain NUL") : 0;
}

static int
check_texts(const struct param_check *c, const struct json *v)
{
    if (!json_is(v, JSON_ARRAY))
        return param_refuse(c, "must be an array of strings");
    JSON_EACH(element, v) {
        int r = check_text(c, element);
        if (r < 0)
            return r;
    }
    return 0;
}

static int
check_members(const struct param_check *c, const struct json *v,
              int (*check)(const struct param_check *, const struct json *))
{
    if (!json_is(v, JSON_OBJECT))
        return param_refuse(c, "must be an object of strings");
    JSON_EACH_KEY(key, v) {
        int r = check(c, json_value(key));
        if (r < 0)
            return r;
    }
    return 0;
}

/* A name with a sign of equality would set another variable. */
static int
check_env(const struct param_check *c, const struct json *v)
{
    int r = check_members(c, v, check_text);
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
    return check_members(c, v, check_string);
}

static int
check_object(const struct param_check *c, const struct json *v)
{
    return json_is(v, JSON_OBJECT) ? 0 : param_refuse(c, "must be an object");
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
                             : check_text(c, v);
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

static int (*const checks[])(const struct param_check *c,
                             const struct json *v) = {
    [ANY] = check_any,       [STRING] = check_string,
    [TEXT] = check_text,     [TEXTS] = check_texts,
    [ENV] = check_env,       [FILES] = check_files,
    [OBJECT] = check_object, [OBJECTS] = check_objects,
    [BOOL] = check_bool,     [INT] = check_int,
    [ID] = check_id,         [OCTAL] = check_octal,
    [MODE] = check_mode,     [ENCODING] = check_encoding,
    [KEEP] = check_keep,
};

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

static int param_check_path(const struct param_check *c, const struct json *in,
                            const char *path);

/* The text of a missing parameter is fixed by the protocol. */
static int
param_check_value(const struct param_check *c, const struct json *v)
{
    if (v && !json_is(v, JSON_NULL))
        return checks[c->param->type](c, v);
    if (!c->param->is_required)
        return 0;
    (void)snprintf(c->error, PARAM_ERROR_BYTES, "Missing required param: %s",
                   c->param->name);
    return -EINVAL;
}

static int
check_each(const struct param_check *c, const struct json *array,
           const char *path)
{
    JSON_EACH(element, array) {
        int r = param_check_path(c, element, path);
        if (r < 0)
            return r;
    }
    return 0;
}

/* The value at `path` (a, a.b, a[].b) in an object. The rows of the containers
 * on the way come first, so those have been checked. */
static int
param_check_path(const struct param_check *c, const struct json *in,
                 const char *path)
{
    size_t n = strcspn(path, ".[");
    const struct json *v = json_get_n(in, path, n);

    if (!path[n])
        return param_check_value(c, v);
    if (!v || json_is(v, JSON_NULL))
        return 0;
    return path[n] == '.' ? param_check_path(c, v, path + n + 1)
                          : check_each(c, v, path + n + strlen("[]."));
}

int
param_check(const struct param *p, const struct json *params,
            char error[PARAM_ERROR_BYTES])
{
    struct param_check c = {p, error};

    return param_check_path(&c, params, p->name);
}
