/* SPDX-License-Identifier: MIT */
/* The common part of sudo and su: another user, its environment, its shell. */
#ifndef SWITCH_H
#define SWITCH_H

#include <pwd.h>
#include <stdbool.h>
#include <sys/types.h>

#define ADMIN_PATH \
    "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
#define USER_PATH "/usr/local/bin:/usr/bin:/bin"

enum { CANNOT = 1, NOT_EXECUTABLE = 126, NOT_FOUND = 127 };

int su_main(int argc, char **argv);

/* Like setenv, but ends the program where there is no memory. */
void set_variable(const char *name, const char *value);
/* The environment loses all but the variables whose names are in the list, or
 * begin with one of its words that end in '*'. NULL ends it. */
void keep_variables(const char *const *names);
/* The words with a backslash before what a shell would take for its own, with
 * spaces between them. NULL: there are none. */
char *quote_words(char **words);
/* Makes the process one of that user, with its groups and `gid`, for good. */
void become(const struct passwd *pw, gid_t gid);
/* Runs a shell; `command` may be NULL, `more` are further arguments, and may be
 * NULL too. Does not return. */
void run_shell(const char *shell, bool is_login, const char *command,
               char **more) __attribute__((noreturn));

#endif
