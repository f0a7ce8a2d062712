/* Finding methods and the rows of their parameters. */
#include "rpc/methods.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct method rows[] = {
#define METHOD(name, handler, flags, where, instead, result, doc) \
    {name, sizeof name - 1, do_##handler, flags, where, {0}},
#define PARAM(name, type, need, least, most, doc) \
    {NULL, 0, NULL, 0, 0, {name, type, need, least, most}},
#include "rpc/methods.def"
#include "rpc/worker.def"
#undef METHOD
#undef PARAM
};

static const struct method *const rows_end = rows + sizeof rows / sizeof *rows;

const struct method *
method_find(struct text name, bool is_line)
{
    for (const struct method *m = rows; m < rows_end; m++)
        if (m->name_len == name.len && m->name &&
            !(m->flags & LINE) == !is_line &&
            !memcmp(m->name, name.p, name.len))
            return m;
    return NULL;
}

/* --- names that no row has: a misspelt limit must not be none */

enum { NAME_BYTES = 128 };

static int methods_check_names(const struct method *m,
                               const struct json *object, const char *prefix,
                               char error[PARAM_ERROR_BYTES]);

static const struct param *
param_find(const struct method *m, const char *name)
{
    for (const struct method *row = m + 1; row < rows_end && !row->name; row++)
        if (!strcmp(row->param.name, name))
            return &row->param;
    return NULL;
}

static int
check_names_within(const struct method *m, const struct param *p,
                   const struct json *v, char error[PARAM_ERROR_BYTES])
{
    char prefix[NAME_BYTES + 4];
    int r = 0;

    (void)snprintf(prefix, sizeof prefix, "%s%s.", p->name,
                   p->type == OBJECTS ? "[]" : "");
    if (p->type == OBJECT)
        return methods_check_names(m, v, prefix, error);
    JSON_EACH(element, v) {
        r = methods_check_names(m, element, prefix, error);
        if (r < 0)
            break;
    }
    return r;
}

static int
methods_check_names(const struct method *m, const struct json *object,
                    const char *prefix, char error[PARAM_ERROR_BYTES])
{
    JSON_EACH_KEY(key, object) {
        const struct json *v = json_value(key);
        char name[NAME_BYTES];
        int n = snprintf(name, sizeof name, "%s%s", prefix, key->text.p);
        const struct param *p =
            n < (int)sizeof name ? param_find(m, name) : NULL;
        if (!p && strcmp(name, "sandboxId") != 0) {
            (void)snprintf(error, PARAM_ERROR_BYTES, "Unknown param: %s", name);
            return -EINVAL;
        }
        if (!p || (p->type != OBJECT && p->type != OBJECTS) ||
            json_is(v, JSON_NULL))
            continue;
        int r = check_names_within(m, p, v, error);
        if (r < 0)
            return r;
    }
    return 0;
}

static int
check_rows(const struct method *m, const struct json *params,
           char error[PARAM_ERROR_BYTES])
{
    for (const struct method *row = m + 1; row < rows_end && !row->name;
         row++) {
        int r = param_check(&row->param, params, error);
        if (r < 0)
            return r;
    }
    return 0;
}

int
method_check(const struct method *m, const struct json *params,
             char error[PARAM_ERROR_BYTES])
{
    int r = check_rows(m, params, error);

    if (r == 0 && !(m->flags & LINE))
        r = methods_check_names(m, params, "", error);
    return r;
}
