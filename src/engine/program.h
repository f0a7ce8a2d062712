/* Loaded programs, and the engine's table of them. */
#ifndef ENGINE_PROGRAM_H
#define ENGINE_PROGRAM_H

#include "base/blake2b.h"
#include "base/list.h"
#include "base/own.h"
#include "engine/code.h"
#include "kernel/machine.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wasmtime.h>

struct engine;
struct compilation;

/* Facts of a program beside its code. */
struct program_facts {
    uint8_t hash[BLAKE2B_BYTES]; /* of the source */
    size_t bytes;                /* of the source, or of its mapped code */
    bool has_start;
    OWN uint8_t *section; /* of a frozen program, else NULL */
    size_t section_len;
};

void program_facts_fini(struct program_facts *f);

struct engine_program {
    struct program base;
    struct engine *engine;
    OWN wasmtime_module_t *module;
    OWN wasmtime_instance_pre_t *pre;
    OWN struct code code; /* contains the module, or is empty */
    struct program_facts facts;
    OWN char *refusal;  /* why the source is not a program, or NULL */
    struct list bucket; /* in engine->programs */
    struct list kept;   /* in engine->kept */
    bool is_trusted, is_kept;
    bool can_fork;    /* asyncified, with the exports that fork needs */
    bool has_resume;  /* exports wasmsand_resume */
    bool has_fault;   /* exports wasmsand_fault and its stack pointer */
    bool has_table;   /* exports the functions that pointers can name */
    bool has_threads; /* exports wasmsand_thread and its stack pointer */
    bool has_tls;     /* has threads and thread-local variables */
};

/* Creates a program and consumes the facts, also on failure. It is not in the
 * table yet. NULL: no memory. */
OWN struct engine_program *engine_program_new(struct program_facts *facts,
                                              bool is_trusted);
void engine_program_put(OWN struct engine_program *p); /* accepts NULL */
DEFINE_CLEANUP(struct engine_program *, engine_program_put)

/* Returns NULL if there is none. Code that was compiled for a guest is never
 * used for a trusted program with the same source. */
OWN struct engine_program *programs_find(struct engine *e, const uint8_t *hash,
                                         bool is_trusted);
/* Enters p, or drops it in favour of one that another thread has entered in the
 * meantime. */
OWN struct engine_program *programs_add(struct engine *e,
                                        OWN struct engine_program *p);
/* Releases the programs that the engine keeps for later. */
void programs_drop_kept(struct engine *e);
/* Like programs_add, for compilations: returns the one that was entered first.
 */
OWN struct compilation *compilations_find(struct engine *e, const uint8_t *hash,
                                          bool is_trusted);
OWN struct compilation *compilations_add(struct engine *e,
                                         OWN struct compilation *c);
void compilations_remove(struct compilation *c);

/* --- program_load.c */

/* As machine_ops.load and machine_ops.note. */
int program_load(struct engine *e, const struct program_source *src,
                 OWN struct program **ret, char *why, size_t why_size);
const void *program_section(struct program *base, size_t *ret_len);

/* --- program_check.c: the imports that a module may have, and the exports that
 * it must have. -ENOEXEC. */

int program_check(struct engine_program *p, char *why, size_t why_size);

#endif
