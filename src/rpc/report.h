/* Log lines of the server, and errors with a message. */
#ifndef RPC_REPORT_H
#define RPC_REPORT_H

#include "rpc/server.h"
#include "wasmsand.h"

struct server;

void report_line(const struct server *srv, enum log_level level,
                 const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Sets err to "ENOENT: " and the text; returns -errnum. */
int report_fail(struct wsand_error *err, int errnum, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Sets err to "ENOENT: no such file or directory: /path"; returns -errnum. */
int report_fail_path(struct wsand_error *err, int errnum, const char *path);

#endif
