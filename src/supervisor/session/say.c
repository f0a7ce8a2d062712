/* Log lines: one function that checks the level first. text_log (wire/log.h)
 * adds the name of the program and replaces control characters, because texts
 * may come from guests. */
#include "supervisor/session/say.h"

#include "supervisor/session/supervisor.h"
#include "wire/log.h"

#include <stdarg.h>

void
say(const struct supervisor *sv, enum config_level level, const char *format,
    ...)
{
    va_list args;

    if (level > sv->config->log_level)
        return;
    va_start(args, format);
    text_log(format, args);
    va_end(args);
}
