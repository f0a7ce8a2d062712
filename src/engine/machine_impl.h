/* Machines, and the instances of programs that they run in.
 *
 * A machine has a native stack of its own: a fiber of wasmtime, inside a
 * future. A process has one instance, with its store and its memory, and one
 * machine in it for each of its threads. wasmtime keeps all state of a fiber
 * apart, so that several calls of one store can be suspended at a time, while
 * one runs. Of the state that a thread needs for itself, the instance has two
 * globals only once: the stack pointer of C, and the address of the
 * thread-local variables. They are exchanged when another machine of the
 * instance runs (machine_switch). */
#ifndef ENGINE_MACHINE_IMPL_H
#define ENGINE_MACHINE_IMPL_H

#include "base/own.h"
#include "engine/instance.h"
#include "kernel/machine.h"

#include <stdbool.h>
#include <stdint.h>
#include <wasmtime.h>

struct engine;

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
    uintptr_t stack_top;  /* end of its native stack */
    size_t stack_max;     /* bytes of that stack; 0: not known yet */
    uint64_t stack_bytes; /* last measured use of it */
    struct engine *engine;
    struct engine_program *program;     /* of the instance */
    OWN struct instance *in;            /* counted */
    OWN wasmtime_call_future_t *future; /* NULL: between two entries */
    OWN wasm_trap_t *trap;              /* results of the future */
    OWN wasmtime_error_t *error;
    wasmtime_func_t entry;

    uint32_t checks;  /* of its slice, if that is counted */
    bool is_thread;   /* its entry is wasmsand_thread, with two arguments */
    bool is_fault;    /* its entry is wasmsand_fault */
    bool is_waiting;  /* suspended in a blocking call */
    bool is_ticked;   /* suspended at the end of its slice */
    bool is_next;     /* in sys.next, or a frozen program that starts there */
    bool is_resumed;  /* its entry is wasmsand_resume */
    uint32_t next_sp; /* stack pointer at the first sys.next; 0: not yet */
    /* Values of its globals, while another machine runs in the instance. */
    uint32_t own[INSTANCE_OWN];
    uint32_t args[2]; /* of wasmsand_thread */
    enum fork_state fork;
    int32_t fork_result;
    struct wasi_call wasi;
};

/* As the members of struct machine_ops. */
int machine_create(struct engine *e, struct program *p, struct thread *th,
                   OWN struct machine **ret);
enum machine_event machine_resume(struct machine *base,
                                  struct machine_trap *trap);
void machine_refresh(struct machine *base);
int machine_spawn(struct machine *base, struct thread *th,
                  const struct machine_entry *entry, OWN struct machine **ret);
int machine_fault(struct machine *base, uint32_t stack);
void machine_free(OWN struct machine *base);
/* Creates store and instance at once. -ENOMEM */
int machine_instantiate(struct engine_machine *m);
/* Finds the memory of a machine whose module is being instantiated: its start
 * function may make calls already. */
void machine_find_memory(struct engine_machine *m, wasmtime_caller_t *caller);

/* For imports. While the module starts, the memory is not known yet. */
static inline struct engine_machine *
machine_of(wasmtime_caller_t *caller)
{
    const struct instance *in =
        wasmtime_context_get_data(wasmtime_caller_context(caller));
    struct engine_machine *m = in->current;

    if (__builtin_expect(!m->base.base, 0))
        machine_find_memory(m, caller);
    return m;
}

/* As the members of struct machine_ops. */
int machine_grow(struct machine *base, uint64_t size);
int machine_map(struct machine *base, int hfd, uint64_t at, uint64_t len);
int machine_share(struct machine *base, const struct machine_share *s,
                  int more);
int machine_prepare(struct machine *base);
/* Records which part of its memory is not in use at sys.next. */
void machine_note_unused(struct engine_machine *m);
/* Makes wasmsand_resume its entry. */
void machine_enter_resume(struct engine_machine *m);
/* Makes wasmsand_thread its entry: -ENOSYS if the program has none. */
int machine_enter_thread(struct engine_machine *m, uint32_t func, uint32_t arg);
/* The trap that an import returns to end the machine's current entry. */
OWN wasm_trap_t *machine_leave(void);

#endif
