/* Error objects. */
#include "lib/lib.h"

#include <stdarg.h>
#include <string.h>

int
error_set(struct wsand_error *err, int errnum, const char *format, ...)
{
    va_list args;

    if (err) {
        err->errnum = errnum;
        err->is_program = false;
        va_start(args, format);
        (void)vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
    }
    return -errnum;
}

int
error_errno(struct wsand_error *err, int errnum, const char *format, ...)
{
    va_list args;

    if (err) {
        err->errnum = errnum;
        err->is_program = false;
        va_start(args, format);
        (void)vsnprintf(err->message, sizeof err->message, format, args);
        va_end(args);
        size_t len = strlen(err->message);
        (void)snprintf(err->message + len, sizeof err->message - len, ": %s",
                       strerrordesc_np(errnum));
    }
    return -errnum;
}

int
error_of_program(struct wsand_error *err, int r)
{
    if (err)
        err->is_program = true;
    return r;
}
