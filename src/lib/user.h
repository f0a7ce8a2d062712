/* The users that the host can run things as. */
#ifndef LIB_USER_H
#define LIB_USER_H

#include "lib/sandbox.h"

struct user {
    const char *name, *home;
    const char *path; /* "PATH=", with its folder of programs */
    uint32_t id;
};

/* NULL: the usual one. -EINVAL with a message: there is no such user. */
int user_find(const char *name, const struct user **ret,
              struct wsand_error *err);
/* The user of a sandbox. */
const struct user *user_of(const struct wsand_sandbox *sb);
/* The variable `i` of a user's environment, "HOME=/root"; NULL: no more. */
const char *user_variable(const struct user *u, size_t i);

#endif
