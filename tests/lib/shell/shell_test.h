/* Checks of commands in the resident shell: their status and their output. */
#ifndef SHELL_TEST_H
#define SHELL_TEST_H

#include "lib_test.h"

/* Runs a command and compares its status and standard output; a difference
 * fails the test. */
void check_run(const char *file, int line, struct wsand_sandbox *sb,
               const struct wsand_run *run, const char *command, int status,
               const char *out);
/* Checks that `command`, run with the other members of *run, ends with `status`
 * and prints `out`. */
#define CHECK_WITH(sb, run, command, status, out) \
    check_run(__FILE__, __LINE__, sb, run, command, status, out)
/* The usual form, without options. */
#define CHECK_RUN(sb, command, status, out)                               \
    CHECK_WITH(sb, &(struct wsand_run){.size = sizeof(struct wsand_run)}, \
               command, status, out)

#endif
