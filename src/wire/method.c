/* Finding methods, and checking parameters against their rows.
 *
 * The table is searched from its beginning. It has a few hundred rows, most of
 * them for parameters, and a name is compared only if its length is right.
 *
 * Parameters are checked in two directions. Each row is applied to the
 * parameters (param_check), which finds missing and wrong values. Unknown names
 * are found as well: a misspelt limit must not be none. If the rows have found
 * as many plain values as there are names, all names are known. Otherwise each
 * of them is searched for among the rows. */
#include "wire/method.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 128 };

/* --- methods */

/* A prefix makes methods of another table available under a second name:
 * `session.run` is `run` of the sandbox in the session. The name is searched
 * for as it is, then without the prefix. */
const struct method *
method_find(const struct method_table *t, struct text name, bool is_line)
{
    size_t prefix = t->prefix ? strlen(t->prefix) : 0;
    unsigned flags = 0; /* of a method that is found */

    for (;;) {
        for (const struct method *m = t->rows; m < t->rows + t->n; m++)
            if (m->name_len == name.len && m->name &&
                !(m->flags & LINE) == !is_line && m->where & t->where &&
                !memcmp(m->name, name.p, name.len))
                return (m->flags & flags) == flags ? m : NULL;
        if (flags || !prefix || name.len < prefix ||
            memcmp(name.p, t->prefix, prefix) != 0)
            return NULL;
        name = (struct text){name.p + prefix, name.len - prefix};
        flags = PREFIXED;
    }
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

/* The members of an object `a` have rows `a.b`, those of the objects in an
 * array `a` rows `a[].b`. These follow the row of `a`. If there are none, the
 * handler checks the members. */
static int
method_check_members(const struct method_table *t, const struct method *m,
                     const struct method *row, const struct json *v,
                     char error[PARAM_ERROR_BYTES])
{
    const struct param *p = &row->param;
    char prefix[NAME_BYTES + 4];
    int r = 0;

    if ((p->type != OBJECT && p->type != OBJECTS) ||
        !method_has_row(t, row + 1) ||
        strncmp(row[1].param.name, p->name, strlen(p->name)) != 0)
        return 0;
    (void)snprintf(prefix, sizeof prefix, "%s%s.", p->name,
                   p->type == OBJECTS ? "[]" : "");
    if (p->type == OBJECT)
        return method_check_names(t, m, v, prefix, error);
    JSON_EACH(element, v)
        if (r == 0)
            r = method_check_names(t, m, element, prefix, error);
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
        int r = row && json_has_parts(v)
                    ? method_check_members(t, m, row, v, error)
                    : 0;
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
    const struct method *end = t->rows + t->n;
    size_t n_known = 0;

    if (m->flags & ROUTED)
        return 0;
    for (const struct method *row = m + 1; row < end && !row->name; row++) {
        const struct param_check c = {&row->param, error};
        const char *name = row->param.name;
        bool is_path = strpbrk(name, ".[") != NULL;
        const struct json *v = is_path ? NULL : json_get(params, name);
        int r = 0;
        if (v && !json_is(v, JSON_NULL))
            r = param_check(&c, row->param.type, v);
        else if (is_path || row->param.is_required)
            r = param_check_path(&c, params, name);
        if (r < 0)
            return r;
        n_known += v && !json_has_parts(v);
    }
    if (m->flags & LINE || n_known == json_count(params))
        return 0;
    return method_check_names(t, m, params, "", error);
}
