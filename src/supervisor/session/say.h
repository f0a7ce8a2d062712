/* The log of the supervisor, on standard error. */
#ifndef SUPERVISOR_SAY_H
#define SUPERVISOR_SAY_H

#include "supervisor/config/config.h"

struct supervisor;

/* Writes a line to the log, if the configured level includes `level`. The
 * format has no newline at its end. */
void say(const struct supervisor *sv, enum config_level level,
         const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
