/* Checks and answers that several front ends have in common. */
#include "wire/call.h"

#include <stdlib.h>
#include <time.h>

bool
call_has_absolute_path(OWN struct call *q)
{
    const char *path = param_text(q, "path");

    if (*path == '/')
        return true;
    answer_error(q, SANDBOX_ERROR, "EINVAL: not an absolute path: %.200s",
                 path);
    return false;
}

bool
call_get_request_id(OWN struct call *q, OWN char **ret)
{
    const struct json *wanted = param(q, "requestId");

    *ret = wanted ? message_id(wanted) : NULL;
    if (!wanted || *ret)
        return true;
    answer_error(q, INVALID_PARAMS, "requestId must be a string or a number");
    return false;
}

void
answer_cancelled(OWN struct call *q, bool was_running)
{
    struct buf *b = answer_begin(q);

    buf_puts(b, "{\"ok\":true");
    put_bool(b, "cancelled", was_running);
    buf_add(b, "}", 1);
    answer_end(q);
}

void
answer_data(OWN struct call *q, const void *p, size_t len)
{
    struct buf *b = answer_begin(q);

    buf_add(b, "{", 1);
    put_name(b, "data");
    put_base64(b, p, len);
    buf_add(b, "}", 1);
    answer_end(q);
}

void
put_time(struct buf *b, int64_t ms)
{
    char text[32];
    time_t s = ms / 1000;
    struct tm tm;

    (void)gmtime_r(&s, &tm);
    (void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &tm);
    buf_printf(b, "\"%s.%03dZ\"", text, (int)(ms % 1000));
}
