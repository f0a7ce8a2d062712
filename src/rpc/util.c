/* Logs and clocks. */
#include "rpc/rpc.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

void
say(const struct server *srv, enum log_level level, const char *format, ...)
{
    va_list args;

    if (level > srv->options->log_level)
        return;
    va_start(args, format);
    text_log(format, args);
    va_end(args);
}

int
fail(struct wsand_error *err, int errnum, const char *format, ...)
{
    size_t size = sizeof err->message;
    va_list args;

    err->errnum = errnum;
    int n = snprintf(err->message, size, "%s: ", strerrorname_np(errnum));
    va_start(args, format);
    (void)vsnprintf(err->message + n, size - (size_t)n, format, args);
    va_end(args);
    return -errnum;
}

int
fail_path(struct wsand_error *err, int errnum, const char *path)
{
    const char *text = strerrordesc_np(errnum);

    return fail(err, errnum, "%c%s: %s", tolower((unsigned char)*text),
                text + 1, path);
}

static int64_t
clock_ns(clockid_t id)
{
    struct timespec t;

    (void)clock_gettime(id, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t
now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

int64_t
wall_ms(void)
{
    return clock_ns(CLOCK_REALTIME) / 1000000;
}
