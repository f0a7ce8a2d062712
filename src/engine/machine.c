/* The life of a machine: created, instantiated by its first resume, entered,
 * suspended and resumed, freed at any point.
 *
 * The native stack of a machine is a fiber inside its future (wasmtime's async
 * support). Suspending means returning from the poll of that future, and
 * resuming means polling it again. Deleting the future ends the fiber wherever
 * it is, without running any more of the guest; therefore a kill needs no
 * cooperation. */
#include "engine/machine_impl.h"

#include "engine/engine_impl.h"
#include "engine/fork.h"
#include "engine/program.h"
#include "engine/ticker.h"
#include "engine/traps.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static OWN struct engine_machine *
machine_new(struct engine *e, struct thread *th)
{
    struct engine_machine *m = calloc(1, sizeof *m);

    if (!m)
        return NULL;
    m->base.ops = engine_ops();
    m->base.thread = th;
    m->engine = e;
    return m;
}

/* Charges a machine, of which an engine has a limited number. */
static int
machine_charge(struct engine *e)
{
    if (e->machines++ < e->max_machines)
        return 0;
    e->machines--;
    return -EAGAIN;
}

int
machine_create(struct engine *e, struct program *p, struct thread *th,
               OWN struct machine **ret)
{
    int r = machine_charge(e);
    if (r < 0)
        return r;
    struct engine_machine *m = machine_new(e, th);
    if (m)
        m->in = instance_new(e, p);
    if (!m || !m->in) {
        free(m);
        e->machines--;
        return -ENOMEM;
    }
    m->program = m->in->program;
    m->in->current = m;
    *ret = &m->base;
    return 0;
}

int
machine_enter_thread(struct engine_machine *m, uint32_t func, uint32_t arg)
{
    if (!m->program->has_threads)
        return -ENOSYS;
    m->entry = instance_export(m->in, "wasmsand_thread").of.func;
    m->is_thread = true;
    m->args[0] = func;
    m->args[1] = arg;
    return 0;
}

int
machine_spawn(struct machine *base, struct thread *th,
              const struct machine_entry *entry, OWN struct machine **ret)
{
    struct engine_machine *by = (struct engine_machine *)base, *m;
    struct instance *in = by->in;

    if (!in->program->has_threads)
        return -ENOSYS;
    int r = machine_charge(in->engine);
    if (r < 0)
        return r;
    m = machine_new(in->engine, th);
    if (!m) {
        in->engine->machines--;
        return -ENOMEM;
    }
    in->machines++;
    m->in = in;
    m->program = in->program;
    m->base.base = by->base.base;
    m->base.size = by->base.size;
    m->base.share_from = by->base.share_from;
    m->own[INSTANCE_SP] = entry->stack & ~UINT32_C(15);
    (void)machine_enter_thread(m, entry->func, entry->arg);
    *ret = &m->base;
    return 0;
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

/* The machine ran last, so the stack pointer in the global is its own. */
int
machine_fault(struct machine *base, uint32_t stack)
{
    struct engine_machine *m = (struct engine_machine *)base;

    if (!m->program->has_fault || !m->in->is_ready || m->fork != FORK_NO)
        return -ENOSYS;
    machine_future_drop(m);
    m->entry = instance_export(m->in, "wasmsand_fault").of.func;
    m->is_fault = true;
    if (stack)
        instance_set_u32(m->in, "__stack_pointer", stack & ~UINT32_C(15));
    return 0;
}

void
machine_free(OWN struct machine *base)
{
    struct engine_machine *m = (struct engine_machine *)base;

    if (!m)
        return;
    struct instance *in = m->in;
    machine_future_drop(m);
    if (in->current == m)
        in->current = NULL;
    if (in->forks == m)
        in->forks = NULL;
    free(m);
    instance_put(in);
}

int
machine_grow(struct machine *base, uint64_t size)
{
    int r = instance_grow(((struct engine_machine *)base)->in, size);

    machine_refresh(base);
    return r;
}

int
machine_map(struct machine *base, int hfd, uint64_t at, uint64_t len)
{
    return instance_map(((struct engine_machine *)base)->in, hfd, at, len);
}

int
machine_share(struct machine *base, const struct machine_share *s, int more)
{
    return instance_share(((struct engine_machine *)base)->in, s, more);
}

void
machine_find_memory(struct engine_machine *m, wasmtime_caller_t *caller)
{
    wasmtime_extern_t x;

    if (!wasmtime_caller_export_get(caller, "memory", 6, &x))
        return;
    m->in->memory = x.of.memory;
    m->in->has_memory = true;
    m->base.base = instance_base(m->in);
    m->base.size = instance_size(m->in);
}

/* The kernel need not save memory that is not in use: the free part of the
 * stack, and the buffer for fork. */
void
machine_note_unused(struct engine_machine *m)
{
    m->base.live_from = m->next_sp;
    m->base.dead_from = instance_get_u32(m->in, "__asyncify_buffer", 0);
    m->base.dead_to = instance_get_u32(m->in, "__asyncify_buffer_end", 0);
}

void
machine_enter_resume(struct engine_machine *m)
{
    m->entry = instance_export(m->in, "wasmsand_resume").of.func;
    m->is_resumed = true;
}

/* Calls the entry: `_start`, `wasmsand_resume`, `wasmsand_thread` or
 * `wasmsand_fault`, or one of these again to rewind into sys.fork. The stack
 * contents at the first sys.next stay. */
static void
machine_enter(struct engine_machine *m)
{
    const wasmtime_val_t args[2] = {
        {.kind = WASMTIME_I32, .of.i32 = (int32_t)m->args[0]},
        {.kind = WASMTIME_I32, .of.i32 = (int32_t)m->args[1]}};

    if (m->is_next) {
        machine_enter_resume(m);
        instance_set_u32(m->in, "__stack_pointer", m->next_sp);
    }
    if (m->fork == FORK_DONE)
        fork_rewind(m);
    m->is_next = false;
    m->future = wasmtime_func_call_async(m->in->context, &m->entry, args,
                                         m->is_thread && !m->is_fault ? 2 : 0,
                                         NULL, 0, &m->trap, &m->error);
}

/* Begins to instantiate. */
static void
machine_open(struct engine_machine *m)
{
    struct instance *in = m->in;

    instance_open(in);
    m->future = wasmtime_instance_pre_instantiate_async(
        m->program->pre, in->context, &in->wasm, &m->trap, &m->error);
}

/* A frozen program begins as if it had just called sys.next. */
static void
machine_instantiated(struct engine_machine *m)
{
    machine_future_drop(m);
    instance_ready(m->in);
    m->base.base = instance_base(m->in);
    m->base.size = m->base.share_from = m->in->first_bytes;
    m->entry = instance_export(m->in, "_start").of.func;
    if (m->program->facts.section) {
        m->is_next = true;
        m->next_sp = instance_get_u32(m->in, "__stack_pointer", 0);
        machine_note_unused(m);
    }
}

int
machine_prepare(struct machine *base)
{
    struct engine_machine *m = (struct engine_machine *)base;

    return m->in->store ? 0 : machine_instantiate(m);
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
    if (base->base)
        base->size = instance_size(((struct engine_machine *)base)->in);
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

/* Gives m the instance: its values go into the globals. */
static void
machine_switch(struct engine_machine *m)
{
    struct instance *in = m->in;
    struct engine_machine *old = in->current;

    if (old == m)
        return;
    instance_swap(in, old ? old->own : NULL, m->own);
    in->current = m;
}

/* Polls the future for one slice. Returns true if the entry has ended.
 *
 * The collector of wasmtime yields in the middle of its work, so a poll can end
 * although the guest neither waits nor has used its slice. Another machine of
 * the instance must not run then, and the future is polled again. */
static bool
machine_run(struct engine_machine *m)
{
    struct engine *e = m->engine;
    bool is_done;

    machine_switch(m);
    if (!m->base.is_counted || m->base.slice_is_over)
        m->checks = 0;
    m->is_ticked = m->base.slice_is_over = false;
    m->in->epoch = e->ticker.epoch;
    /* A slice begins now; the deadline is still that of the last one. */
    if (!e->is_unpreemptive)
        wasmtime_context_set_epoch_deadline(m->in->context,
                                            m->base.is_counted ? 0 : 1);
    ticker_enter(&e->ticker);
    do
        is_done = wasmtime_call_future_poll(m->future);
    while (!is_done && m->in->machines > 1 && !m->is_waiting && !m->is_ticked);
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
 * hence the same two results there. While a fork unwinds or rewinds the stack
 * of one machine, the others of its instance cannot run: asyncify's state and
 * its buffer exist once. Their slices are over then, also where these are
 * counted, so that the scheduler comes to the machine that forks. */
enum machine_event
machine_resume(struct machine *base, struct machine_trap *trap)
{
    struct engine_machine *m = (struct engine_machine *)base;
    struct instance *in = m->in;

    if (!ticker_is_there(&m->engine->ticker))
        return machine_refused(trap);
    if (in->forks && in->forks != m) {
        base->slice_is_over = true;
        return MACHINE_YIELDED;
    }
    if (!in->store)
        machine_open(m);
    if (!in->is_ready) {
        if (!machine_run(m))
            return m->is_waiting ? MACHINE_WAITS : MACHINE_YIELDED;
        if (m->trap || m->error)
            return machine_ended(m, trap);
        machine_instantiated(m);
    }
    machine_switch(m);
    if (!m->future)
        machine_enter(m);
    if (!machine_run(m))
        return m->is_waiting ? MACHINE_WAITS : MACHINE_YIELDED;
    return machine_ended(m, trap);
}
