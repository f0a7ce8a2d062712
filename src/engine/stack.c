/* The host memory that native stacks use.
 *
 * wasmtime's pool has the stacks in slots of one size, side by side, so the
 * position of one determines those of all. A stack is touched from its top
 * without gaps, because compiled code probes each page of a large frame.
 * Touched pages stay until the machine ends, however far the stack has shrunk
 * since. */
#include "engine/stack.h"

#include "engine/engine_impl.h"
#include "engine/machine_impl.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#define STEP_BYTES 65536u /* the first is part of the fee of a process */

static bool
is_resident(uintptr_t page)
{
    unsigned char state = 0;
    void *p = (void *)page;

    return mincore(p, 1, &state) == 0 && (state & 1);
}

/* Some hosts say that all pages are. */
bool
stacks_can_tell(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return false;
    p[page] = 1;
    bool can_tell = page <= STEP_BYTES && !is_resident((uintptr_t)p) &&
                    is_resident((uintptr_t)p + page);
    (void)munmap(p, 2 * page);
    return can_tell;
}

static wasm_trap_t *
note_frame(void *env, wasmtime_caller_t *caller, wasmtime_val_raw_t *v,
           size_t n)
{
    (void)caller, (void)v, (void)n;
    *(uintptr_t *)env = (uintptr_t)__builtin_frame_address(0);
    return NULL;
}

/* The address of the first frame on some native stack, or 0. */
static uintptr_t
first_frame(wasm_engine_t *wasm)
{
    wasm_valtype_vec_t none[2] = {WASM_EMPTY_VEC, WASM_EMPTY_VEC};
    wasmtime_store_t *store = wasmtime_store_new(wasm, NULL, NULL);
    wasmtime_context_t *context = wasmtime_store_context(store);
    wasm_functype_t *type = wasm_functype_new(&none[0], &none[1]);
    wasmtime_error_t *error = NULL;
    wasm_trap_t *trap = NULL;
    wasmtime_func_t func;
    uintptr_t at = 0;

    wasmtime_func_new_unchecked(context, type, note_frame, &at, NULL, &func);
    wasmtime_call_future_t *future = wasmtime_func_call_async(
        context, &func, NULL, 0, NULL, 0, &trap, &error);
    (void)wasmtime_call_future_poll(future);
    wasmtime_call_future_delete(future);
    if (error)
        wasmtime_error_delete(error);
    wasm_functype_delete(type);
    wasmtime_store_delete(store);
    return at;
}

void
stacks_init(struct stacks *s, wasm_engine_t *wasm, size_t stack_bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t at = first_frame(wasm);

    if (!at)
        return;
    s->top = (at + page - 1) / page * page;
    s->page = page;
    s->slot_bytes = (stack_bytes + page - 1) / page * page + page;
}

/* The top of the stack with the address `at`. All of our frames are below it,
 * but for a few bytes: so what is a step above it belongs to it too. */
static uintptr_t
top_of(const struct stacks *s, uintptr_t at)
{
    int64_t slot = (int64_t)s->slot_bytes;
    int64_t up = (int64_t)(s->top + STEP_BYTES - at) % slot;

    return at + (uintptr_t)(up < 0 ? up + slot : up) - STEP_BYTES;
}

/* Between two entries nothing on the stack is needed. */
static void
stack_trim(struct engine_machine *m, uintptr_t top)
{
    void *p = (void *)(top - m->stack_bytes);

    if (madvise(p, m->stack_bytes - STEP_BYTES, MADV_DONTNEED) == 0)
        m->stack_bytes = STEP_BYTES;
}

uint64_t
machine_stack_bytes(struct machine *base)
{
    struct engine_machine *m = (struct engine_machine *)base;
    const struct stacks *s = &m->engine->stacks;

    if (!s->slot_bytes || !m->stack_at)
        return 0;
    uintptr_t top = top_of(s, m->stack_at);
    if (!m->stack_bytes)
        m->stack_bytes = STEP_BYTES;
    while (m->stack_bytes + STEP_BYTES < s->slot_bytes &&
           is_resident(top - m->stack_bytes - s->page))
        m->stack_bytes += STEP_BYTES;
    if (m->is_next && !m->future && m->stack_bytes > STEP_BYTES)
        stack_trim(m, top);
    return m->stack_bytes - STEP_BYTES;
}
