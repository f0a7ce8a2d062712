/* The users that commands can run as: "user" (the default) and "root". */
#ifndef LIB_USER_H
#define LIB_USER_H

#include "lib/sandbox.h"

/* A row of the table in user.c; never freed. */
struct user {
    const char *name, *home;
    const char *path; /* "PATH=", with its folder of programs */
    uint32_t id;
};

/* NULL means the default user. -EINVAL with a message: no such user. */
int user_find(const char *name, const struct user **ret,
              struct wsand_error *err);
/* Returns the user that commands of the sandbox run as. */
const struct user *user_of(const struct wsand_sandbox *sb);
/* Returns variable `i` of a user's environment, such as "HOME=/root", or NULL.
 */
const char *user_variable(const struct user *u, size_t i);

#endif
