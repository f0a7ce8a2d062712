/* Logs and errors. */
#include "rpc/report.h"

#include "rpc/server_impl.h"

#include "wire/log.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void
report_line(const struct server *srv, enum log_level level, const char *format,
            ...)
{
    va_list args;

    if (level > srv->options->log_level)
        return;
    va_start(args, format);
    text_log(format, args);
    va_end(args);
}

int
report_fail(struct wsand_error *err, int errnum, const char *format, ...)
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
report_fail_path(struct wsand_error *err, int errnum, const char *path)
{
    const char *text = strerrordesc_np(errnum);

    return report_fail(err, errnum, "%c%s: %s", tolower((unsigned char)*text),
                       text + 1, path);
}
