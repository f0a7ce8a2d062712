/* Log lines. */
#include "supervisor/say.h"

#include "supervisor/supervisor.h"

#include <stdarg.h>
#include <stdio.h>

void
say(const struct supervisor *sv, enum config_level level, const char *format,
    ...)
{
    char line[1024];
    va_list args;

    if (level > sv->config->log_level)
        return;
    va_start(args, format);
    (void)vsnprintf(line, sizeof line, format, args);
    va_end(args);
    for (char *s = line; *s; s++)
        if ((unsigned char)*s < ' ' || *s == 0x7f)
            *s = '?';
    fprintf(stderr, "wasm-sandbox: %s\n", line);
}
