/* Commands and what they print. */
#ifndef SHELL_TEST_H
#define SHELL_TEST_H

#include "lib_test.h"

void check_run(const char *file, int line, struct wsand_sandbox *sb,
               const struct wsand_run *run, const char *command, int status,
               const char *out);
/* `command`, with the rest of *run, ends with `status` and prints `out`. */
#define CHECK_WITH(sb, run, command, status, out) \
    check_run(__FILE__, __LINE__, sb, run, command, status, out)
#define CHECK_RUN(sb, command, status, out)                               \
    CHECK_WITH(sb, &(struct wsand_run){.size = sizeof(struct wsand_run)}, \
               command, status, out)

#endif
