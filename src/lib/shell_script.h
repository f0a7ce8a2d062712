/* The state of a shell as a script that recreates it in a new shell. It
 * contains the parts that do not depend on the version of the shell. */
#ifndef LIB_SHELL_SCRIPT_H
#define LIB_SHELL_SCRIPT_H

#include "base/buf.h"
#include "lib/sandbox.h"

/* The script in parts. Bytes are those of bash; they may contain anything
 * except NUL, which separates variables in `env`. */
struct shell_script {
    int status;       /* $? */
    struct buf env;   /* NAME=VALUE and NUL, for readers */
    struct buf first; /* options of bash, variables, folder, functions, ... */
    struct buf last;  /* parts that would change how the first is executed */
};

/* Create an empty script, and free it. */
void shell_script_init(struct shell_script *s);
void shell_script_fini(struct shell_script *s);
/* Asks the shell of sb for its script. */
int shell_script_take(struct wsand_sandbox *sb, struct shell_script *s,
                      struct wsand_error *err);
/* Runs a script in a shell that has run nothing yet. -ETIMEDOUT. */
int shell_script_run(struct wsand_sandbox *sb, const struct shell_script *s,
                     struct wsand_error *err);

#endif
