/* The `sys` ABI. Only `wait` suspends the fiber. All others are plain calls,
 * whose arguments and result share one array: a suspending import would cost a
 * switch of stacks for each call. */
#include "engine/imports.h"

#include "engine/fork.h"
#include "engine/functype.h"
#include "engine/machine_impl.h"

#include <errno.h>

/* A call that ends the process, or replaces its program, cannot return to the
 * guest: the trap ends the entry, and the kernel finds out why. */
static wasm_trap_t *
sys_call(void *env, wasmtime_caller_t *caller, wasmtime_val_raw_t *v, size_t n)
{
    struct thread *th = machine_of(caller)->base.thread;
    const uint32_t a[6] = {(uint32_t)v[1].i32, (uint32_t)v[2].i32,
                           (uint32_t)v[3].i32, (uint32_t)v[4].i32,
                           (uint32_t)v[5].i32, (uint32_t)v[6].i32};

    (void)env, (void)n;
    v[0].i32 = thread_syscall(th, (uint32_t)v[0].i32, a);
    return thread_is_leaving(th) ? machine_leave() : NULL;
}

static wasm_trap_t *
sys_args_size(void *env, wasmtime_caller_t *caller, wasmtime_val_raw_t *v,
              size_t n)
{
    (void)env, (void)n;
    v[0].i32 = (int32_t)thread_args_size(machine_of(caller)->base.thread);
    return NULL;
}

static wasm_trap_t *
sys_args_get(void *env, wasmtime_caller_t *caller, wasmtime_val_raw_t *v,
             size_t n)
{
    (void)env, (void)n;
    thread_args_get(machine_of(caller)->base.thread, (gaddr)v[0].i32,
                    (uint32_t)v[1].i32);
    return NULL;
}

static wasm_trap_t *
sys_sigword(void *env, wasmtime_caller_t *caller, wasmtime_val_raw_t *v,
            size_t n)
{
    (void)env, (void)n;
    thread_sigword(machine_of(caller)->base.thread, (gaddr)v[0].i32);
    return NULL;
}

static wasm_trap_t *
sys_signext(void *env, wasmtime_caller_t *caller, wasmtime_val_raw_t *v,
            size_t n)
{
    struct thread *th = machine_of(caller)->base.thread;

    (void)env, (void)n;
    v[0].i32 = thread_signext(th, (gaddr)v[0].i32);
    return thread_is_leaving(th) ? machine_leave() : NULL;
}

static wasm_trap_t *
sys_functype(void *env, wasmtime_caller_t *caller, wasmtime_val_raw_t *v,
             size_t n)
{
    (void)env, (void)n;
    v[0].i32 = machine_of(caller)->program->has_table
                   ? functype_of(caller, (uint32_t)v[0].i32)
                   : -1;
    return NULL;
}

/* Called twice: first it starts to unwind and returns, with the frames still
 * there; then the rewound program reaches it again, for the result. See
 * fork.c. */
static wasm_trap_t *
sys_fork(void *env, wasmtime_caller_t *caller, wasmtime_val_raw_t *v, size_t n)
{
    struct engine_machine *m = machine_of(caller);

    (void)env, (void)n;
    if (m->fork == FORK_REWINDS)
        v[0].i32 = fork_rewound(m);
    else if (m->fork == FORK_NO && m->program->can_fork)
        v[0].i32 = fork_unwind(m);
    else
        v[0].i32 = -ENOSYS;
    return NULL;
}

/* The guest is done with a request, and has no more use for its frames: the
 * next entry is wasmsand_resume. The stack pointer of the first call is used
 * for all later ones, so that the stack does not grow from request to
 * request. */
static wasm_trap_t *
sys_next(void *env, wasmtime_caller_t *caller, wasmtime_val_raw_t *v, size_t n)
{
    struct engine_machine *m = machine_of(caller);

    (void)env, (void)n;
    if (!m->program->has_resume || !m->in->is_ready || m->is_thread) {
        v[0].i32 = -ENOSYS;
        return NULL;
    }
    m->base.status = v[0].i32;
    if (!m->next_sp)
        m->next_sp = instance_get_u32(m->in, "__stack_pointer", 0);
    machine_note_unused(m);
    m->is_next = true;
    return machine_leave();
}

/* Polled by the engine at once, and at each resume. True lets the fiber
 * continue. */
static bool
imports_sys_wait_is_over(void *env)
{
    struct engine_machine *m = env;

    m->is_waiting = thread_must_wait(m->base.thread);
    return !m->is_waiting;
}

static void
sys_wait(void *env, wasmtime_caller_t *caller, const wasmtime_val_t *args,
         size_t n_args, wasmtime_val_t *results, size_t n_results,
         wasm_trap_t **trap, wasmtime_async_continuation_t *ret)
{
    (void)env, (void)args, (void)n_args;
    (void)results, (void)n_results, (void)trap;
    *ret = (wasmtime_async_continuation_t){imports_sys_wait_is_over,
                                           machine_of(caller), NULL};
}

static const struct import imports[] = {
    {"sys", "call", "iiiiiii", 'i', .call = sys_call},
    {"sys", "wait", "", 0, .suspend = sys_wait},
    {"sys", "fork", "", 'i', .call = sys_fork},
    {"sys", "args_size", "", 'i', .call = sys_args_size},
    {"sys", "args_get", "ii", 0, .call = sys_args_get},
    {"sys", "sigword", "i", 0, .call = sys_sigword},
    {"sys", "signext", "i", 'i', .call = sys_signext},
    {"sys", "functype", "i", 'i', .call = sys_functype},
    {"sys", "next", "i", 'i', .call = sys_next},
};

const struct import *
imports_add_sys(size_t *ret_count)
{
    *ret_count = sizeof imports / sizeof *imports;
    return imports;
}
