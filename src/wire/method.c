/* Finding methods, and checking parameters against their rows.
 *
 * The table is searched from its beginning. It has a few hundred rows, most of
 * them for parameters, and a name is compared only if its length is right.
 *
 * Parameters are checked in two directions. Each row is applied to the
 * parameters (param_check), which finds missing and wrong values. Then each
 * name in the parameters is searched for among the rows, which finds unknown
 * ones: a misspelt limit must not be none. */
#include "wire/method.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 128 };

/* --- methods */

static const struct method *
method_find_row(const struct method_table *t, struct text name, bool is_line)
{
    for (const struct method *m = t->rows; m < t->rows + t->n; m++)
        if (m->name_len == name.len && m->name &&
            !(m->flags & LINE) == !is_line && m->where & t->where &&
            !memcmp(m->name, name.p, name.len))
            return m;
    return NULL;
}

/* A prefix makes methods of another table available under a second name:
 * `session.run` is `run` of the sandbox in the session. */
const struct method *
method_find(const struct method_table *t, struct text name, bool is_line)
{
    const struct method *m = method_find_row(t, name, is_line);
    size_t n = t->prefix ? strlen(t->prefix) : 0;

    if (m || !n || name.len < n || memcmp(name.p, t->prefix, n) != 0)
        return m;
    m = method_find_row(t, (struct text){name.p + n, name.len - n}, is_line);
    return m && m->flags & PREFIXED ? m : NULL;
}

bool
method_is(const struct method *m, const char *name)
{
    return !strcmp(m->name, name);
}

/* --- names that no row has: a misspelt limit must not be none */

static int method_check_names(const struct method_table *t,
                              const struct method *m, const struct json *object,
                              const char *prefix,
                              char error[PARAM_ERROR_BYTES]);

/* The rows of a method end with the table or with the next method. */
static bool
method_has_row(const struct method_table *t, const struct method *row)
{
    return row < t->rows + t->n && !row->name;
}

static const struct method *
method_find_param(const struct method_table *t, const struct method *m,
                  const char *name)
{
    for (const struct method *row = m + 1; method_has_row(t, row); row++)
        if (!strcmp(row->param.name, name))
            return row;
    return NULL;
}

/* Are there rows for the members of the value? They follow its own row. If
 * not, the handler checks the members. */
static bool
method_has_members(const struct method_table *t, const struct method *row)
{
    size_t n = strlen(row->param.name);

    return (row->param.type == OBJECT || row->param.type == OBJECTS) &&
           method_has_row(t, row + 1) &&
           !strncmp(row[1].param.name, row->param.name, n);
}

/* The members of an object `a` have rows `a.b`, those of the objects in an
 * array `a` rows `a[].b`. The names that are compared are built in the same
 * way. */
static int
method_check_members(const struct method_table *t, const struct method *m,
                     const struct param *p, const struct json *v,
                     char error[PARAM_ERROR_BYTES])
{
    char prefix[NAME_BYTES + 4];
    int r = 0;

    (void)snprintf(prefix, sizeof prefix, "%s%s.", p->name,
                   p->type == OBJECTS ? "[]" : "");
    if (p->type == OBJECT)
        return method_check_names(t, m, v, prefix, error);
    JSON_EACH(element, v) {
        r = method_check_names(t, m, element, prefix, error);
        if (r < 0)
            break;
    }
    return r;
}

static int
method_check_names(const struct method_table *t, const struct method *m,
                   const struct json *object, const char *prefix,
                   char error[PARAM_ERROR_BYTES])
{
    JSON_EACH_KEY(key, object) {
        const struct json *v = json_value(key);
        char name[NAME_BYTES];
        int n = snprintf(name, sizeof name, "%s%s", prefix, key->text.p);
        const struct method *row =
            n < (int)sizeof name ? method_find_param(t, m, name) : NULL;
        if (!row && !t->is_common(m, name)) {
            (void)snprintf(error, PARAM_ERROR_BYTES, "Unknown param: %s", name);
            return -EINVAL;
        }
        if (!row || json_is(v, JSON_NULL) || !method_has_members(t, row))
            continue;
        int r = method_check_members(t, m, &row->param, v, error);
        if (r < 0)
            return r;
    }
    return 0;
}

/* Calls that are passed on to a worker are checked there, by the same rows.
 * The line protocol accepts unknown names, as its specification does. */
int
method_check(const struct method_table *t, const struct method *m,
             const struct json *params, char error[PARAM_ERROR_BYTES])
{
    if (m->flags & ROUTED)
        return 0;
    for (const struct method *row = m + 1; method_has_row(t, row); row++) {
        int r = param_check(&row->param, params, error);
        if (r < 0)
            return r;
    }
    return m->flags & LINE ? 0 : method_check_names(t, m, params, "", error);
}
