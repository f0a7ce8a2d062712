/* Lines of the program on standard error. */
#ifndef WIRE_LOG_H
#define WIRE_LOG_H

#include <stdarg.h>

/* Writes a line; control characters become '?'. */
void text_log(const char *format, va_list args)
    __attribute__((format(printf, 1, 0)));
void text_logf(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
