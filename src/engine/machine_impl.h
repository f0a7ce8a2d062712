/* A machine: one instance of a program, with its store and its native stack. */
#ifndef ENGINE_MACHINE_IMPL_H
#define ENGINE_MACHINE_IMPL_H

#include "base/own.h"
#include "engine/limiter.h"
#include "engine/program.h"
#include "kernel/machine.h"

#include <stdbool.h>
#include <stdint.h>
#include <wasmtime.h>

struct engine;

#define WASM_PAGE_SHIFT 16

/* The progress of a fork: see fork.c. */
enum fork_state {
    FORK_NO,
    FORK_UNWINDS, /* left sys.fork; the frames are copied to guest memory */
    FORK_DONE,    /* unwound; the next resume rewinds */
    FORK_REWINDS, /* on the way back to sys.fork */
};

/* A suspended function of WASI. */
struct wasi_call {
    unsigned row;
    uint64_t args[9];
    wasmtime_val_t *result; /* both stay valid until the call continues */
    wasm_trap_t **trap;
};

/* A machine. The members follow its life: the store is created by the first
 * resume, and the future exists from an entry into the program to its end. */
struct engine_machine {
    struct machine base;
    uintptr_t stack_at;   /* an address on its native stack, or 0 */
    uint64_t stack_bytes; /* last measured use of that stack */
    struct engine *engine;
    OWN struct engine_program *program;
    OWN wasmtime_store_t *store; /* NULL: never run */
    wasmtime_context_t *context;
    OWN wasmtime_call_future_t *future; /* NULL: between two entries */
    OWN wasm_trap_t *trap;              /* results of the future */
    OWN wasmtime_error_t *error;
    wasmtime_instance_t instance;
    wasmtime_memory_t memory;
    wasmtime_func_t entry;
    struct wsand_engine_limiter limiter;

    bool is_instantiated;
    bool is_waiting;  /* suspended in a blocking call */
    bool is_next;     /* in sys.next, or a frozen program that starts there */
    bool is_resumed;  /* its entry is wasmsand_resume */
    uint32_t next_sp; /* stack pointer at the first sys.next; 0: not yet */
    uint64_t first_bytes;            /* of memory, when it was instantiated */
    uint64_t mapped_from, mapped_to; /* from a file; 0: none */
    enum fork_state fork;
    int32_t fork_result;
    struct wasi_call wasi;
    struct engine_machine *next_dead;
};

/* As the members of struct machine_ops. */
int machine_create(struct engine *e, struct program *p, struct thread *th,
                   OWN struct machine **ret);
enum machine_event machine_resume(struct machine *base,
                                  struct machine_trap *trap);
void machine_refresh(struct machine *base);
void machine_free(OWN struct machine *base);
/* Frees the store of a machine whose future was deleted, and the rest. */
void machine_dispose(OWN struct engine_machine *m);
/* Creates store and instance at once. -ENOMEM */
int machine_instantiate(struct engine_machine *m);
/* Finds the memory of a machine whose module is being instantiated: its start
 * function may make calls already. */
void machine_find_memory(struct engine_machine *m, wasmtime_caller_t *caller);

/* For imports. While the module starts, the memory is not known yet. */
static inline struct engine_machine *
machine_of(wasmtime_caller_t *caller)
{
    struct engine_machine *m =
        wasmtime_context_get_data(wasmtime_caller_context(caller));

    m->stack_at = (uintptr_t)__builtin_frame_address(0);
    if (__builtin_expect(!m->base.base, 0))
        machine_find_memory(m, caller);
    return m;
}

/* Returns the value of a global, or `otherwise` if it does not exist. */
uint32_t machine_get_u32(struct engine_machine *m, const char *name,
                         uint32_t otherwise);
void machine_set_u32(struct engine_machine *m, const char *name,
                     uint32_t value);
/* As the members of struct machine_ops. */
int machine_grow(struct machine *base, uint64_t size);
int machine_map(struct machine *base, int hfd, uint64_t at, uint64_t len);
int machine_prepare(struct machine *base);
/* Records which part of its memory is not in use at sys.next. */
void machine_note_unused(struct engine_machine *m);
/* Makes wasmsand_resume its entry. */
void machine_enter_resume(struct engine_machine *m);
/* The trap that an import returns to end the machine's current entry. */
OWN wasm_trap_t *machine_leave(void);

#endif
