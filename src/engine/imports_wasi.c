/* wasi_snapshot_preview1, generated from its table. A function that may wait
 * suspends inside the import, because WASI programs do not use our libc, which
 * would repeat the call. */
#include "engine/imports.h"
#include "engine/machine_impl.h"
#include "kernel/wasi/wasi.h"

#include "kernel/wait.h"

/* The array holds the arguments first and the result after the call, so the
 * arguments are copied before it. */
static wasm_trap_t *
wasi_call(void *env, wasmtime_caller_t *caller, wasmtime_val_raw_t *v, size_t n)
{
    const struct import *i = env;
    struct thread *th = machine_of(caller)->base.thread;
    uint64_t args[9];

    (void)n;
    for (size_t k = 0; i->params[k]; k++)
        args[k] = i->params[k] == 'I' ? (uint64_t)v[k].i64
                                      : (uint64_t)(uint32_t)v[k].i32;
    int32_t r = thread_wasi(th, i->row, args);
    if (thread_is_leaving(th))
        return machine_leave();
    if (i->result)
        v[0].i32 = r;
    return NULL;
}

/* Polled like wait_is_over. Tries the call once in each resume, unless the
 * thread is known to have to wait. */
static bool
imports_wasi_is_over(void *env)
{
    struct engine_machine *m = env;
    struct thread *th = m->base.thread;

    if (m->is_waiting && thread_must_wait(th))
        return false;
    m->is_waiting = false;
    int32_t r = thread_wasi(th, m->wasi.row, m->wasi.args);
    if (thread_is_leaving(th)) {
        *m->wasi.trap = machine_leave();
        return true;
    }
    if (r == -EWAIT) {
        m->is_waiting = thread_must_wait(th);
        return false;
    }
    m->wasi.result->kind = WASMTIME_I32;
    m->wasi.result->of.i32 = r;
    return true;
}

static void
wasi_suspend(void *env, wasmtime_caller_t *caller, const wasmtime_val_t *args,
             size_t n_args, wasmtime_val_t *results, size_t n_results,
             wasm_trap_t **trap, wasmtime_async_continuation_t *ret)
{
    const struct import *i = env;
    struct engine_machine *m = machine_of(caller);

    (void)n_results;
    m->wasi.row = i->row;
    m->wasi.result = results;
    m->wasi.trap = trap;
    for (size_t k = 0; k < n_args; k++)
        m->wasi.args[k] = i->params[k] == 'I'
                              ? (uint64_t)args[k].of.i64
                              : (uint64_t)(uint32_t)args[k].of.i32;
    *ret = (wasmtime_async_continuation_t){imports_wasi_is_over, m, NULL};
}

/* The numbers of the functions in the kernel's table, which is made from the
 * same rows. */
enum {
#define WASI(name, params, result, how) ROW_##name,
#include "kernel/wasi/wasi.def"
#undef WASI
};

#define SYNC     .call = wasi_call
#define SUSPENDS .suspend = wasi_suspend
#define WASI(name, params, result, how) \
    {"wasi_snapshot_preview1", #name, params, result, how, .row = ROW_##name},
static const struct import imports[] = {
#include "kernel/wasi/wasi.def"
};
#undef WASI

const struct import *
imports_add_wasi(size_t *ret_count)
{
    *ret_count = sizeof imports / sizeof *imports;
    return imports;
}
