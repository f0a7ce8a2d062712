/* Users: uid 1000, and root. Inside they are what /etc/passwd says, but a guest
 * may write there. The host's choice must not depend on the guest, so the users
 * are fixed here. */
#include "lib/user.h"

#include "kernel/vfs/cred.h"
#include "lib/error.h"
#include "lib/sandbox.h"

#include <errno.h>
#include <string.h>

#define SYSTEM_PATH ":/usr/local/bin:/usr/bin:/bin"

enum { VARIABLES = 3 };

static const struct {
    struct user user;
    const char *variables[VARIABLES];
} users[] = {
    {{"user", "/home/user", "PATH=/home/user/.local/bin" SYSTEM_PATH, USER_ID},
     {"HOME=/home/user", "USER=user", "LOGNAME=user"}},
    {{"root", "/root", "PATH=/root/.local/bin" SYSTEM_PATH, ROOT_ID},
     {"HOME=/root", "USER=root", "LOGNAME=root"}},
};

/* The first user is the default. */
int
user_find(const char *name, const struct user **ret, struct wsand_error *err)
{
    for (size_t i = 0; i < sizeof users / sizeof *users; i++)
        if (!name || !strcmp(name, users[i].user.name)) {
            *ret = &users[i].user;
            return 0;
        }
    return error_set(err, EINVAL, "user: '%s' is not \"user\" or \"root\"",
                     name);
}

const struct user *
user_of(const struct wsand_sandbox *sb)
{
    const struct user *u = NULL;

    (void)user_find(sb->options.user, &u, NULL);
    return u;
}

const char *
user_variable(const struct user *u, size_t i)
{
    for (size_t n = 0; n < sizeof users / sizeof *users; n++)
        if (&users[n].user == u && i < VARIABLES)
            return users[n].variables[i];
    return NULL;
}
