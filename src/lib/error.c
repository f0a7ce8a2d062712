/* Error objects: an errno, a class and a message. The message begins with the
 * name of the errno, because clients compare it. */
#include "lib/error.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Writes the errno's name and the formatted text. */
static void __attribute__((format(printf, 3, 0)))
error_begin(struct wsand_error *err, int errnum, const char *format,
            va_list args)
{
    const char *name = strerrorname_np(errnum);
    size_t size = sizeof err->message;

    err->errnum = errnum;
    err->error_class = errnum == ECANCELED ? WSAND_CANCELLED : WSAND_CLASS_NONE;
    err->is_program = false;
    int n = snprintf(err->message, size, "%s: ", name ? name : "EIO");
    (void)vsnprintf(err->message + n, size - (size_t)n, format, args);
}

/* A NULL error is accepted everywhere; the result alone is enough for some
 * callers. */
int
error_set(struct wsand_error *err, int errnum, const char *format, ...)
{
    va_list args;

    if (err) {
        va_start(args, format);
        error_begin(err, errnum, format, args);
        va_end(args);
    }
    return -errnum;
}

int
error_errno(struct wsand_error *err, int errnum, const char *format, ...)
{
    va_list args;

    if (err) {
        va_start(args, format);
        error_begin(err, errnum, format, args);
        va_end(args);
        size_t len = strlen(err->message);
        (void)snprintf(err->message + len, sizeof err->message - len, ": %s",
                       strerrordesc_np(errnum));
    }
    return -errnum;
}

/* The text of the errno begins in lower case, as in the messages of Node and of
 * the protocols. */
int
error_path(struct wsand_error *err, int errnum, const char *path)
{
    const char *text = strerrordesc_np(errnum);

    if (!text)
        text = "Unknown error";
    return error_set(err, errnum, "%c%s: %s", tolower((unsigned char)*text),
                     text + 1, path);
}

int
error_of_program(struct wsand_error *err, int r)
{
    if (err)
        err->is_program = true;
    return r;
}

int
error_of_class(struct wsand_error *err, enum wsand_class c, int r)
{
    if (err)
        err->error_class = c;
    return r;
}

int
error_limit(struct wsand_error *err, const char *what, uint64_t max)
{
    return error_of_class(err, WSAND_LIMIT_EXCEEDED,
                          error_set(err, ENOSPC, "%s limit reached (max: %llu)",
                                    what, (unsigned long long)max));
}

const char *
wsand_class_name(enum wsand_class c)
{
    static const char *const names[] = {
        [WSAND_TIMEOUT] = "TIMEOUT",
        [WSAND_CANCELLED] = "CANCELLED",
        [WSAND_LIMIT_EXCEEDED] = "LIMIT_EXCEEDED",
        [WSAND_CAPABILITY_DENIED] = "CAPABILITY_DENIED",
    };

    return (size_t)c < sizeof names / sizeof *names ? names[c] : NULL;
}

/* Returns the message without the name of the errno. */
const char *
wsand_error_text(const struct wsand_error *err)
{
    const char *colon = strstr(err->message, ": ");

    return colon ? colon + 2 : err->message;
}
