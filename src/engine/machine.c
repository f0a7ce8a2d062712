/* The life of a machine: created, instantiated by its first resume, entered,
 * suspended and resumed, freed at any point.
 *
 * The native stack of a machine is a fiber inside its future (wasmtime's async
 * support). Suspending means returning from the poll of that future, and
 * resuming means polling it again. Deleting the future ends the fiber wherever
 * it is, without running any more of the guest; therefore a kill needs no
 * cooperation. */
#include "engine/machine_impl.h"

#include "engine/config.h"
#include "engine/engine_impl.h"
#include "engine/fork.h"
#include "engine/pagemap.h"
#include "engine/program.h"
#include "engine/reaper.h"
#include "engine/shim.h"
#include "engine/ticker.h"
#include "engine/traps.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define LARGE_BYTES (64u << 20)  /* freed by the reaper */
#define KEPT_BYTES  (256u << 10) /* cleared rather than given back */

static OWN struct machine *
machine_new(struct engine *e, struct program *p, struct thread *th)
{
    struct engine_machine *m = calloc(1, sizeof *m);

    if (!m)
        return NULL;
    m->base.ops = engine_ops();
    m->base.thread = th;
    m->engine = e;
    m->program = (struct engine_program *)program_get(p);
    return (struct machine *)m;
}

/* The count is increased before it is checked, so that two threads cannot both
 * get the last slot. */
int
machine_create(struct engine *e, struct program *p, struct thread *th,
               OWN struct machine **ret)
{
    struct machine *m = NULL;
    int r = -EAGAIN;

    if (e->machines++ < e->max_machines) {
        m = machine_new(e, p, th);
        r = m ? 0 : -ENOMEM;
    }
    if (r < 0) {
        e->machines--;
        return r;
    }
    *ret = m;
    return 0;
}

/* MAP_NORESERVE: as the engine's own, so that the mappings become one again. */
static int
machine_map_over(struct engine_machine *m, uint64_t from, uint64_t to, int hfd)
{
    int flags = MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE;
    void *p = mmap(m->base.base + from, to - from, PROT_READ | PROT_WRITE,
                   flags | (hfd < 0 ? MAP_ANONYMOUS : 0), hfd, 0);

    return p == MAP_FAILED ? -errno : 0;
}

int
machine_map(struct machine *base, int hfd, uint64_t at, uint64_t len)
{
    struct engine_machine *m = (struct engine_machine *)base;

    if (m->mapped_to || at < m->first_bytes || at > m->base.size ||
        len > m->base.size - at)
        return -EINVAL;
    int r = machine_map_over(m, at, at + len, hfd);
    if (r < 0)
        return r;
    m->mapped_from = at;
    m->mapped_to = at + len;
    return 0;
}

/* Returns true if at least KEPT_BYTES of its memory, from `from` to `to`, were
 * written to, by it or by machines that had this memory before. */
static bool
machine_is_dense(const struct engine_machine *m, uint64_t from, uint64_t to)
{
    const uint8_t *at = m->base.base + from, *end = m->base.base + to;
    struct page_range v[PAGE_RANGES];
    uint64_t bytes = 0;

    while (at < end && bytes < KEPT_BYTES) {
        int n = pagemap_written(&m->engine->pagemap, &at, end, v);
        if (n < 0)
            return true;
        for (int i = 0; i < n; i++)
            bytes += v[i].end - v[i].start;
    }
    return bytes >= KEPT_BYTES;
}

/* Replaces the mapped file by zero pages, because the next machine in this
 * memory expects zeros. The engine itself clears all pages beside those of the
 * file; if many were written to, replacing them here is cheaper. */
static int
machine_unmap(struct engine_machine *m)
{
    bool all = machine_is_dense(m, m->first_bytes, m->mapped_from);

    return machine_map_over(m, all ? m->first_bytes : m->mapped_from,
                            m->base.size, -1);
}

/* The future ends first: it uses the trap and the error as the places of its
 * results. */
static void
machine_future_drop(struct engine_machine *m)
{
    if (m->future)
        wasmtime_call_future_delete(m->future);
    if (m->trap)
        wasm_trap_delete(m->trap);
    if (m->error)
        wasmtime_error_delete(m->error);
    m->future = NULL;
    m->trap = NULL;
    m->error = NULL;
}

/* If the file cannot be unmapped, the slot is given up for ever: another guest
 * must never see what is in it. */
void
machine_dispose(OWN struct engine_machine *m)
{
    struct engine *e = m->engine;

    if (m->mapped_to && machine_unmap(m) < 0)
        return;
    if (m->store)
        wasmtime_store_delete(m->store);
    program_put(&m->program->base);
    free(m);
    e->machines--;
}

void
machine_free(OWN struct machine *base)
{
    struct engine_machine *m = (struct engine_machine *)base;

    if (!m)
        return;
    machine_future_drop(m);
    machine_refresh(base);
    if (m->base.size > LARGE_BYTES)
        reaper_add(&m->engine->reaper, m);
    else
        machine_dispose(m);
}

/* The kernel decides, since memory counts against the limits of the sandbox. */
static bool
machine_may_grow(void *env, uint64_t old_bytes, uint64_t new_bytes)
{
    const struct engine_machine *m = env;

    return thread_may_grow(m->base.thread, old_bytes, new_bytes);
}

/* Called when the epoch has passed the deadline of the machine: its slice is
 * over, and it yields. */
static wasmtime_error_t *
machine_on_tick(wasmtime_context_t *context, void *env, uint64_t *ret_ticks,
                wasmtime_update_deadline_kind_t *ret_kind)
{
    struct engine_machine *m = env;

    (void)context;
    m->stack_at = (uintptr_t)__builtin_frame_address(0);
    *ret_ticks = 1;
    *ret_kind = WASMTIME_UPDATE_DEADLINE_YIELD;
    return NULL;
}

/* Creates the store and begins to instantiate. The epoch is compared at
 * function entries and loops; the deadline is one tick away. */
static void
machine_open(struct engine_machine *m)
{
    m->store = wasmtime_store_new(m->engine->wasm, m, NULL);
    m->context = wasmtime_store_context(m->store);
    m->limiter =
        (struct wsand_engine_limiter){machine_may_grow, m, TABLE_ELEMENTS};
    wsand_engine_store_limiter(m->store, &m->limiter);
    if (!m->engine->is_unpreemptive) {
        wasmtime_context_set_epoch_deadline(m->context, 1);
        wasmtime_store_epoch_deadline_callback(m->store, machine_on_tick, m,
                                               NULL);
    }
    m->future = wasmtime_instance_pre_instantiate_async(
        m->program->pre, m->context, &m->instance, &m->trap, &m->error);
}

/* Returns an export. program_check has verified that it exists, and its
 * kind. */
static wasmtime_extern_t
machine_export(struct engine_machine *m, const char *name)
{
    wasmtime_extern_t x;

    if (!wasmtime_instance_export_get(m->context, &m->instance, name,
                                      strlen(name), &x))
        abort();
    return x;
}

/* Finds a global, borrowed from the store. Returns false if there is no such
 * global of type i32. */
static bool
machine_global(struct engine_machine *m, const char *name,
               wasmtime_global_t *ret)
{
    wasmtime_extern_t x;
    wasmtime_val_t v;

    if (!wasmtime_instance_export_get(m->context, &m->instance, name,
                                      strlen(name), &x))
        return false;
    if (x.kind != WASMTIME_EXTERN_GLOBAL) {
        wasmtime_extern_delete(&x);
        return false;
    }
    *ret = x.of.global;
    wasmtime_global_get(m->context, ret, &v);
    return v.kind == WASMTIME_I32;
}

uint32_t
machine_get_u32(struct engine_machine *m, const char *name, uint32_t otherwise)
{
    wasmtime_global_t g;
    wasmtime_val_t v;

    if (!machine_global(m, name, &g))
        return otherwise;
    wasmtime_global_get(m->context, &g, &v);
    return (uint32_t)v.of.i32;
}

/* The checks of the program guarantee that it can be set. */
void
machine_set_u32(struct engine_machine *m, const char *name, uint32_t value)
{
    wasmtime_val_t v = {.kind = WASMTIME_I32, .of.i32 = (int32_t)value};
    wasmtime_global_t g;

    if (!machine_global(m, name, &g))
        return;
    wasmtime_error_t *error = wasmtime_global_set(m->context, &g, &v);
    if (error)
        wasmtime_error_delete(error);
}

int
machine_grow(struct machine *base, uint64_t size)
{
    struct engine_machine *m = (struct engine_machine *)base;
    uint64_t old;

    if (m->base.size >= size)
        return 0;
    wasmtime_error_t *error = wasmtime_memory_grow(
        m->context, &m->memory, (size - m->base.size) >> WASM_PAGE_SHIFT, &old);
    if (error) {
        wasmtime_error_delete(error);
        return -ENOMEM;
    }
    machine_refresh(&m->base);
    return 0;
}

static void
machine_set_memory(struct engine_machine *m, wasmtime_context_t *context,
                   const wasmtime_memory_t *memory)
{
    m->memory = *memory;
    m->base.base = wasmtime_memory_data(context, memory);
    m->base.size = wasmtime_memory_data_size(context, memory);
}

void
machine_find_memory(struct engine_machine *m, wasmtime_caller_t *caller)
{
    wasmtime_extern_t x;

    if (wasmtime_caller_export_get(caller, "memory", 6, &x))
        machine_set_memory(m, wasmtime_caller_context(caller), &x.of.memory);
}

/* The kernel need not save memory that is not in use: the free part of the
 * stack, and the buffer for fork. */
void
machine_note_unused(struct engine_machine *m)
{
    m->base.live_from = m->next_sp;
    m->base.dead_from = machine_get_u32(m, "__asyncify_buffer", 0);
    m->base.dead_to = machine_get_u32(m, "__asyncify_buffer_end", 0);
}

void
machine_enter_resume(struct engine_machine *m)
{
    m->entry = machine_export(m, "wasmsand_resume").of.func;
    m->is_resumed = true;
}

/* Calls the entry: `_start` or `wasmsand_resume`, or one of these again to
 * rewind into sys.fork. The stack contents at the first sys.next stay. */
static void
machine_enter(struct engine_machine *m)
{
    if (m->is_next) {
        machine_enter_resume(m);
        machine_set_u32(m, "__stack_pointer", m->next_sp);
    }
    if (m->fork == FORK_DONE)
        fork_rewind(m);
    m->is_next = false;
    m->future = wasmtime_func_call_async(m->context, &m->entry, NULL, 0, NULL,
                                         0, &m->trap, &m->error);
}

/* A frozen program begins as if it had just called sys.next. */
static void
machine_instantiated(struct engine_machine *m)
{
    machine_future_drop(m);
    wasmtime_extern_t memory = machine_export(m, "memory");
    machine_set_memory(m, m->context, &memory.of.memory);
    m->entry = machine_export(m, "_start").of.func;
    m->is_instantiated = true;
    m->first_bytes = m->base.size;
    if (m->program->facts.section) {
        m->is_next = true;
        m->next_sp = machine_get_u32(m, "__stack_pointer", 0);
        machine_note_unused(m);
    }
}

int
machine_prepare(struct machine *base)
{
    struct engine_machine *m = (struct engine_machine *)base;

    return m->store ? 0 : machine_instantiate(m);
}

int
machine_instantiate(struct engine_machine *m)
{
    machine_open(m);
    /* A module has no start function, so there is nothing to wait for. The
     * future is unfinished only if a time slice ends while the initial memory
     * is copied. */
    while (!wasmtime_call_future_poll(m->future))
        ;
    if (m->trap || m->error) {
        machine_future_drop(m);
        return -ENOMEM;
    }
    machine_instantiated(m);
    return 0;
}

/* A memory never moves, as its whole address space is reserved. Only its size
 * can change. */
void
machine_refresh(struct machine *base)
{
    struct engine_machine *m = (struct engine_machine *)base;

    if (m->base.base)
        m->base.size = wasmtime_memory_data_size(m->context, &m->memory);
}

/* Any trap would do: machine_ended checks why the machine was left. */
OWN wasm_trap_t *
machine_leave(void)
{
    return wasmtime_trap_new_code(WASMTIME_TRAP_CODE_INTERRUPT);
}

/* Asyncify executes `unreachable` when its buffer is full. To the user this is
 * a stack overflow. */
static enum machine_event
machine_trapped(struct engine_machine *m, struct machine_trap *trap)
{
    trap_describe(m->trap, m->error, trap);
    if (m->fork == FORK_UNWINDS && trap->signal == SIGILL) {
        trap->signal = SIGSEGV;
        (void)snprintf(trap->reason, sizeof trap->reason,
                       "stack too deep for fork");
    }
    return MACHINE_TRAPPED;
}

/* Finds out why the entry has ended. The order matters: a machine that leaves
 * or is in sys.next ends with a trap too, which is not a fault of the
 * program. */
static enum machine_event
machine_ended(struct engine_machine *m, struct machine_trap *trap)
{
    enum machine_event event = MACHINE_ENDED;

    if (thread_is_leaving(m->base.thread)) {
        event = MACHINE_LEFT;
    } else if (m->is_next) {
        event = MACHINE_NEXT;
    } else if (m->trap || m->error) {
        event = machine_trapped(m, trap);
    } else if (m->fork == FORK_UNWINDS) {
        fork_unwound(m);
        event = MACHINE_FORKS;
    }
    machine_future_drop(m);
    return event;
}

/* Polls the future for one slice. Returns true if the entry has ended. */
static bool
machine_run(struct engine_machine *m)
{
    struct engine *e = m->engine;

    /* A slice begins now; the deadline is still that of the last one. */
    if (!e->is_unpreemptive)
        wasmtime_context_set_epoch_deadline(m->context, 1);
    ticker_enter(&e->ticker);
    bool is_done = wasmtime_call_future_poll(m->future);
    ticker_leave(&e->ticker);
    return is_done;
}

/* Refuses to run: without the ticker, nothing could interrupt the machine. */
static enum machine_event
machine_refused(struct machine_trap *trap)
{
    trap->signal = SIGKILL;
    (void)snprintf(trap->reason, sizeof trap->reason,
                   "the host refuses the thread for time slices");
    return MACHINE_TRAPPED;
}

/* A module with a start function may yield and wait while it is instantiated,
 * hence the same two results there. */
enum machine_event
machine_resume(struct machine *base, struct machine_trap *trap)
{
    struct engine_machine *m = (struct engine_machine *)base;

    if (!ticker_is_there(&m->engine->ticker))
        return machine_refused(trap);
    if (!m->store)
        machine_open(m);
    if (!m->is_instantiated) {
        if (!machine_run(m))
            return m->is_waiting ? MACHINE_WAITS : MACHINE_YIELDED;
        if (m->trap || m->error)
            return machine_ended(m, trap);
        machine_instantiated(m);
    }
    if (!m->future)
        machine_enter(m);
    if (!machine_run(m))
        return m->is_waiting ? MACHINE_WAITS : MACHINE_YIELDED;
    return machine_ended(m, trap);
}
