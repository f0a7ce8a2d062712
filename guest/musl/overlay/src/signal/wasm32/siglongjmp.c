/* SPDX-License-Identifier: MIT */
/* <setjmp.h> makes sigsetjmp(env, save) of __sigsetjmp_save and setjmp, because
 * the compiler knows no other name for a function that returns twice. */
#include <setjmp.h>
#include <signal.h>
#include "syscall.h"

_Noreturn void __wasm_longjmp(void *, int);

void
__sigsetjmp_save(sigjmp_buf env, int save)
{
    env->__fl = (unsigned)save;
    if (save)
        __syscall(SYS_rt_sigprocmask, SIG_SETMASK, 0, env->__ss, _NSIG / 8);
}

_Noreturn void
siglongjmp(sigjmp_buf env, int value)
{
    if (env->__fl)
        __syscall(SYS_rt_sigprocmask, SIG_SETMASK, env->__ss, 0, _NSIG / 8);
    __wasm_longjmp(env, value);
}
