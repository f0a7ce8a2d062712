/* Variables of the resident shell, from outside: env.c for the environment,
 * borrow.c for the folder and variables of a single command. */
#ifndef LIB_ENV_H
#define LIB_ENV_H

#include "lib/shell.h"

struct buf;

/* Returns the shell; a new one is created with the environment of the options.
 */
int shell_begin(struct wsand_sandbox *sb, struct shell **ret);
/* -EINVAL with a message if an entry is not NAME=VALUE. Accepts NULL. */
int env_check(const char *const *env, struct wsand_error *err);
/* Appends `export NAME='VALUE'`. */
void env_put_export(struct buf *b, const char *assignment);

/* The shell's own folder and variables while a command has others. */
struct borrowed {
    OWN char *script; /* restores them */
    size_t len;
};
/* Sets folder and variables for a command; the next command must continue this
 * one. */
int borrow(struct shell *sh, const char *cwd, const char *const *env,
           struct borrowed *ret, struct wsand_error *err);
/* Restores the shell's own; `failed`: by rolling back. */
void borrow_give_back(struct shell *sh, struct borrowed *b, bool failed);

#endif
