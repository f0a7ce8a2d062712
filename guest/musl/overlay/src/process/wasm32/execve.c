/* SPDX-License-Identifier: MIT */
/* Returns 0 only in a vfork child: the new image runs elsewhere, and this
 * instance is the parent's again. */
#include <unistd.h>
#include "syscall.h"
#include "wsys.h"

int
execve(const char *path, char *const argv[], char *const envp[])
{
    long r = __syscall(SYS_execve, path, argv, envp);

    if (!r && __wvfork_end)
        __wvfork_end();
    return __syscall_ret(r);
}
