/* Lines on standard error. */
#include "wire/log.h"

#include <stdio.h>

void
text_log(const char *format, va_list args)
{
    char line[2048];

    (void)vsnprintf(line, sizeof line, format, args);
    for (char *s = line; *s; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            *s = '?';
    fprintf(stderr, "wasm-sandbox: %s\n", line);
}

void
text_logf(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    text_log(format, args);
    va_end(args);
}
