/* Reading the parameters of a call.
 *
 * The parameters were checked against the rows of the method (method_check),
 * so these functions need no errors: a parameter that is there has the type of
 * its row. A parameter that is null counts as absent. */
#include "wire/call.h"

const struct json *
param(const struct call *q, const char *name)
{
    const struct json *v = json_get(q->params, name);

    return json_is(v, JSON_NULL) ? NULL : v;
}

const char *
param_text(const struct call *q, const char *name)
{
    return param_string(q, name).p;
}

struct text
param_string(const struct call *q, const char *name)
{
    const struct json *v = param(q, name);

    return v ? json_text(v) : (struct text){NULL, 0};
}

int64_t
param_int(const struct call *q, const char *name, int64_t absent)
{
    int64_t n = absent;

    (void)json_whole(param(q, name), &n);
    return n;
}

bool
param_bool(const struct call *q, const char *name, bool absent)
{
    const struct json *v = param(q, name);

    return v ? json_is(v, JSON_TRUE) : absent;
}
