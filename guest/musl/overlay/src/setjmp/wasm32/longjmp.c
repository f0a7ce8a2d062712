/* SPDX-License-Identifier: MIT */
#include <setjmp.h>

_Noreturn void __wasm_longjmp(void *, int);

_Noreturn void
longjmp(jmp_buf env, int value)
{
    __wasm_longjmp(env, value);
}

_Noreturn void
_longjmp(jmp_buf env, int value)
{
    __wasm_longjmp(env, value);
}
