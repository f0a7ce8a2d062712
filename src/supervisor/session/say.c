/* Log lines: one function that checks the level first. text_log adds the time
 * and the newline. */
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
