/* SPDX-License-Identifier: MIT */
/* The call returns only in a vfork child, to the parent's code. */
#include <stdlib.h>
#include "syscall.h"
#include "wsys.h"

_Noreturn void
_Exit(int status)
{
    __syscall(SYS_exit_group, status);
    if (__wvfork_end)
        __wvfork_end();
    __builtin_trap();
}
