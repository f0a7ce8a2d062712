/* SPDX-License-Identifier: MIT */
/* The runtime half of clang's lowering of setjmp (-wasm-enable-sjlj), under the
 * names of LLVM 19. The compiler turns setjmp into __wasm_setjmp, and puts a
 * landing pad into each function that calls it. longjmp throws; a landing pad
 * asks __wasm_setjmp_test whether the jump is for its own invocation. */
#include <setjmp.h>
#include <stdint.h>

struct env {
    void *invocation;
    uint32_t label;
    struct {
        void *env;
        int value;
    } thrown;
};

void
__wasm_setjmp(void *buf, uint32_t label, void *invocation)
{
    struct env *env = buf;

    env->invocation = invocation;
    env->label = label;
}

uint32_t
__wasm_setjmp_test(void *buf, void *invocation)
{
    struct env *env = buf;

    return env->invocation == invocation ? env->label : 0;
}

_Noreturn void
__wasm_longjmp(void *buf, int value)
{
    struct env *env = buf;

    env->thrown.env = buf;
    env->thrown.value = value ? value : 1;
    __builtin_wasm_throw(1, &env->thrown); /* 1: the tag __c_longjmp */
    __builtin_unreachable();
}
