/* Variables of the resident shell, from outside: env.c for the environment,
 * borrow.c for what is lent to one command. */
#ifndef LIB_ENV_H
#define LIB_ENV_H

#include "lib/shell.h"

struct buf;

/* The shell, made and with the environment of the options where it is new. */
int shell_begin(struct wsand_sandbox *sb, struct shell **ret);
/* -EINVAL and a message where one is not NAME=VALUE. NULL is fine. */
int env_check(const char *const *env, struct wsand_error *err);
/* Adds `export NAME='VALUE'`. */
void env_put_export(struct buf *b, const char *assignment);

/* What a command has instead of the shell's own folder and variables. */
struct borrowed {
    OWN char *script; /* gives them back */
    size_t len;
};
/* Lends them; the next command must continue this one. */
int borrow(struct shell *sh, const char *cwd, const char *const *env,
           struct borrowed *ret, struct wsand_error *err);
/* Brings the shell's own back; `failed`: by rolling back. */
void give_back(struct shell *sh, struct borrowed *own, bool failed);

#endif
