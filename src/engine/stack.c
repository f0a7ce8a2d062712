/* The host memory that native stacks use.
 *
 * Problem: wasmtime has no function that returns the bounds of a stack, neither
 * in C nor in Rust. A call on the stack of each machine could find its top, but
 * costs half a microsecond.
 *
 * Idea: the engine measures its pool once. It calls a function on three stacks,
 * whose frame is the first there. If the stacks lie at equal distances, without
 * another stack between them, one of them and the distance determine the top of
 * any other. Otherwise, the use of stacks is unknown.
 *
 * A stack is touched from its top without gaps, because compiled code probes
 * each page of a large frame. Touched pages stay until the machine ends,
 * however far the stack has shrunk since. */
#include "engine/stack.h"

#include "engine/engine_impl.h"
#include "engine/machine_impl.h"

#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PROBES = 3 };
#define STEP_BYTES 65536u /* the first is part of the fee of a process */

static bool
stack_is_resident(uintptr_t page)
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
    bool can_tell = page <= STEP_BYTES && !stack_is_resident((uintptr_t)p) &&
                    stack_is_resident((uintptr_t)p + page);
    (void)munmap(p, 2 * page);
    return can_tell;
}

static wasm_trap_t *
stack_note_frame(void *env, wasmtime_caller_t *caller, wasmtime_val_raw_t *v,
                 size_t n)
{
    (void)caller, (void)v, (void)n;
    *(uintptr_t *)env = (uintptr_t)__builtin_frame_address(0);
    return NULL;
}

/* Returns the address of the first frame on the stack of a store, or 0. */
static uintptr_t
stacks_first_frame(wasmtime_store_t *store)
{
    wasm_valtype_vec_t none[2] = {WASM_EMPTY_VEC, WASM_EMPTY_VEC};
    wasmtime_context_t *context = wasmtime_store_context(store);
    wasm_functype_t *type = wasm_functype_new(&none[0], &none[1]);
    wasmtime_error_t *error = NULL;
    wasm_trap_t *trap = NULL;
    wasmtime_func_t func;
    uintptr_t at = 0;

    wasmtime_func_new_unchecked(context, type, stack_note_frame, &at, NULL,
                                &func);
    wasmtime_call_future_t *future = wasmtime_func_call_async(
        context, &func, NULL, 0, NULL, 0, &trap, &error);
    (void)wasmtime_call_future_poll(future);
    wasmtime_call_future_delete(future);
    if (error)
        wasmtime_error_delete(error);
    wasm_functype_delete(type);
    return at;
}

/* Finds n different stacks: stores keep theirs until they are deleted. */
static void
stacks_probe(wasm_engine_t *wasm, uintptr_t *ret_at, uint32_t n)
{
    wasmtime_store_t *stores[PROBES];

    for (uint32_t i = 0; i < n; i++) {
        stores[i] = wasmtime_store_new(wasm, NULL, NULL);
        ret_at[i] = stacks_first_frame(stores[i]);
    }
    for (uint32_t i = 0; i < n; i++)
        wasmtime_store_delete(stores[i]);
}

/* Returns the distance of neighbours, or 0 if it is not the same for all. A
 * single stack has no neighbour. */
static size_t
stacks_distance(const uintptr_t *at, uint32_t n, size_t stack_bytes)
{
    int64_t slot = n < 2 ? (int64_t)stack_bytes : (int64_t)(at[1] - at[0]);

    if (!at[0] || (n == PROBES && (int64_t)(at[2] - at[1]) != slot))
        return 0;
    size_t bytes = (size_t)(slot < 0 ? -slot : slot);
    return bytes >= stack_bytes && bytes < 2 * stack_bytes ? bytes : 0;
}

void
stacks_init(struct stacks *s, wasm_engine_t *wasm, uint32_t n,
            size_t stack_bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t at[PROBES] = {0};

    n = n < PROBES ? n : PROBES;
    stacks_probe(wasm, at, n);
    s->top = (at[0] + page - 1) / page * page;
    s->page = page;
    s->stack_bytes = stack_bytes;
    s->slot_bytes = stacks_distance(at, n, stack_bytes);
}

/* The top of the stack with the address `at`. All of our frames are below it,
 * but for a few bytes: so what is a step above it belongs to it too. */
static uintptr_t
stack_top_of(const struct stacks *s, uintptr_t at)
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
    uintptr_t top = stack_top_of(s, m->stack_at);
    if (!m->stack_bytes)
        m->stack_bytes = STEP_BYTES;
    while (m->stack_bytes + STEP_BYTES <= s->stack_bytes &&
           stack_is_resident(top - m->stack_bytes - s->page))
        m->stack_bytes += STEP_BYTES;
    if (m->is_next && !m->future && m->stack_bytes > STEP_BYTES)
        stack_trim(m, top);
    return m->stack_bytes - STEP_BYTES;
}
