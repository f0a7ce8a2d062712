/* Reading the parameters of a call. */
#include "wire/call.h"

bool
call_is_line(const struct call *q)
{
    return q->method->flags & LINE;
}

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
