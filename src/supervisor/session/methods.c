/* Finding methods: those of sessions, and those of the sandbox in them. */
#include "supervisor/session/methods.h"

#include "base/json.h"
#include "supervisor/session/sessions.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static const struct method rows[] = {
#define METHOD(name, handler, flags, result, doc) \
    {name, do_##handler, flags, NULL, {0}},
#define PARAM(name, type, need, least, most, doc) \
    {NULL, NULL, 0, NULL, {name, type, need, least, most}},
#include "supervisor/session/sessions.def"
#undef METHOD
#undef PARAM
};

/* The methods of the server. A session has most of them; `refusal` is the
 * advice for the others, and empty for methods that sessions do not know. */
static const struct method sandbox_rows[] = {
#define METHOD(name, handler, flags, where, instead, result, doc)       \
    {name,                                                              \
     NULL,                                                              \
     (where)&SESSION ? ROUTED | ((flags)&URGENT) : NO_SESSION | URGENT, \
     (where)&SESSION ? NULL : (instead),                                \
     {0}},
#define PARAM(name, type, need, least, most, doc)
#include "rpc/methods.def"
#undef METHOD
#undef PARAM
};

enum {
    N_ROWS = sizeof rows / sizeof *rows,
    N_SANDBOX_ROWS = sizeof sandbox_rows / sizeof *sandbox_rows,
};
_Static_assert(N_ROWS + N_SANDBOX_ROWS <= METHODS_MAX, "too few counters");

static bool
methods_is_known(const struct method *m)
{
    return !m->refusal || *m->refusal;
}

static const struct method *
find_sandbox(struct text name)
{
    for (size_t i = 0; i < N_SANDBOX_ROWS; i++)
        if (methods_is_known(&sandbox_rows[i]) &&
            text_is(name, sandbox_rows[i].name))
            return &sandbox_rows[i];
    return NULL;
}

static const struct method *
find_own(struct text name)
{
    for (size_t i = 0; i < N_ROWS; i++)
        if (rows[i].name && text_is(name, rows[i].name))
            return &rows[i];
    return NULL;
}

const struct method *
method_find(struct text name)
{
    static const char prefix[] = "session.";
    size_t n = sizeof prefix - 1;
    const struct method *m = find_own(name);

    if (m)
        return m;
    if (name.len > n && !memcmp(name.p, prefix, n))
        name = (struct text){name.p + n, name.len - n};
    return find_sandbox(name);
}

size_t
method_index(const struct method *m)
{
    if (m >= rows && m < rows + N_ROWS)
        return (size_t)(m - rows);
    return N_ROWS + (size_t)(m - sandbox_rows);
}

const char *
method_name(size_t index)
{
    if (index < N_ROWS)
        return rows[index].name;
    index -= N_ROWS;
    return index < N_SANDBOX_ROWS && methods_is_known(&sandbox_rows[index])
               ? sandbox_rows[index].name
               : NULL;
}

/* `stream` is for HTTP, whatever is asked. */
static bool
is_param(const struct method *m, const char *name)
{
    if (!strcmp(name, "stream") ||
        (!strcmp(name, "sessionId") && !(m->flags & NO_SESSION)))
        return true;
    for (const struct method *row = m + 1; row < rows + N_ROWS && !row->name;
         row++)
        if (!strcmp(row->param.name, name))
            return true;
    return false;
}

static int
check_names(const struct method *m, const struct json *params,
            char error[PARAM_ERROR_BYTES])
{
    JSON_EACH_KEY(key, params) {
        if (is_param(m, key->text.p))
            continue;
        (void)snprintf(error, PARAM_ERROR_BYTES, "Unknown param: %s",
                       key->text.p);
        return -EINVAL;
    }
    return 0;
}

int
method_check(const struct method *m, const struct json *params,
             char error[PARAM_ERROR_BYTES])
{
    if (m < rows || m >= rows + N_ROWS)
        return 0; /* its worker checks it */
    for (const struct method *row = m + 1; row < rows + N_ROWS && !row->name;
         row++) {
        int r = param_check(&row->param, params, error);
        if (r < 0)
            return r;
    }
    return check_names(m, params, error);
}

bool
method_is(const struct method *m, const char *name)
{
    return !strcmp(m->name, name);
}
