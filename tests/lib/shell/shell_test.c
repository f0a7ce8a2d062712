/* Commands and what they print. */
#include "shell_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
check_run(const char *file, int line, struct wsand_sandbox *sb,
          const struct wsand_run *run, const char *command, int status,
          const char *out)
{
    struct wsand_run r = *run;
    struct wsand_output o = {.size = sizeof o};
    struct wsand_error err;

    r.command = command;
    r.command_len = strlen(command);
    r.timeout_ms = 100000;
    if (wsand_run(sb, &r, &o, &err) < 0) {
        test_failed(file, line, err.message);
        return;
    }
    char *text = strndup(o.out ? o.out : "", o.out_len);
    lib_check_str(file, line, text, out);
    if (o.exit_code != status)
        test_failed_eq(file, line, "exit_code", o.exit_code, status);
    if ((strcmp(text, out) != 0 || o.exit_code != status) && o.err_len)
        printf("    stderr: %.*s\n", (int)o.err_len, o.err);
    free(text);
    wsand_output_free(&o);
}
