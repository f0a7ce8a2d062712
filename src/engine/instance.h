/* Instances: what the machines of one process share.
 *
 * An instance is a program with its store and its memory. It is counted by its
 * machines, and freed with the last of them. */
#ifndef ENGINE_INSTANCE_H
#define ENGINE_INSTANCE_H

#include "base/own.h"
#include "engine/limiter.h"
#include "engine/program.h"

#include <stdbool.h>
#include <stdint.h>
#include <wasmtime.h>

struct engine;
struct engine_machine;
struct machine_share;

#define WASM_PAGE_SHIFT 16

/* The globals of which each thread has a value: the stack pointer of C, and the
 * address of the thread-local variables. */
enum { INSTANCE_SP, INSTANCE_TLS, INSTANCE_OWN };

struct instance {
    struct engine *engine;
    OWN struct engine_program *program;
    size_t machines; /* that run in it */
    /* The machine that runs or ran last, whose values are in the globals.
     * NULL after it was freed. */
    struct engine_machine *current;
    struct engine_machine *forks; /* is unwinding or rewinding, or NULL */
    OWN wasmtime_store_t *store;  /* NULL: never run */
    wasmtime_context_t *context;
    wasmtime_instance_t wasm;
    wasmtime_memory_t memory;
    /* If the program has threads: each of them has values of its own. */
    wasmtime_global_t own[INSTANCE_OWN];
    size_t n_own;
    struct wsand_engine_limiter limiter;
    bool is_ready, has_memory;       /* instantiated; memory is known */
    uint64_t first_bytes;            /* of memory, when it was instantiated */
    uint64_t mapped_from, mapped_to; /* from a file; 0: none */
    uint64_t foreign_from; /* memory before it is the engine's; 0: all is */
    int shares;            /* ranges of shared memory, as the kernel counts */
    bool is_lost;          /* foreign memory cannot be unmapped */
    uint32_t epoch;        /* when the slice began */
    struct instance *next_dead;
};

OWN struct instance *instance_new(struct engine *e, struct program *p);
/* A machine less: with the last one, the instance is freed, on the reaper's
 * thread if it has much memory. */
void instance_put(OWN struct instance *in);
/* Frees an instance without machines. */
void instance_dispose(OWN struct instance *in);

/* Creates the store. */
void instance_open(struct instance *in);
/* The module has started: finds its memory. */
void instance_ready(struct instance *in);

uint8_t *instance_base(const struct instance *in);
uint64_t instance_size(const struct instance *in);
/* Enlarges the memory. -ENOMEM */
int instance_grow(struct instance *in, uint64_t size);
/* Maps `len` bytes of the file at `at`, copy-on-write: see machine_ops. */
int instance_map(struct instance *in, int hfd, uint64_t at, uint64_t len);

/* Maps shared memory, or zeros: see machine_ops. */
int instance_share(struct instance *in, const struct machine_share *s,
                   int more);

/* Returns an export. program_check has verified that it exists, and its
 * kind. */
wasmtime_extern_t instance_export(struct instance *in, const char *name);
/* Returns the value of a global, or `otherwise` if it does not exist. */
uint32_t instance_get_u32(struct instance *in, const char *name,
                          uint32_t otherwise);
/* The checks of the program guarantee that it can be set. */
void instance_set_u32(struct instance *in, const char *name, uint32_t value);
/* Exchanges the values of the globals that each thread has for itself. `old`
 * may be NULL. */
void instance_swap(struct instance *in, uint32_t *old, const uint32_t *now);
/* Finds a global, borrowed from the store. Returns false if there is no such
 * global of type i32. */
bool instance_global(struct instance *in, const char *name,
                     wasmtime_global_t *ret);

#endif
