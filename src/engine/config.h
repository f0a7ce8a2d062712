/* The configuration of wasmtime that an engine uses. */
#ifndef ENGINE_CONFIG_H
#define ENGINE_CONFIG_H

#include "base/own.h"
#include "engine/engine.h"

#include <stdbool.h>
#include <stddef.h>
#include <wasmtime.h>

/* Elements of a function table. Go programs put all of their functions there.
 */
#define TABLE_ELEMENTS 100000

/* Sets e->wasm, e->settings, e->stack_page and e->max_machines. */
int config_apply(struct engine *e, const struct engine_options *o, char *why,
                 size_t why_size);
/* Returns an engine that only compiles, without a pool. Engines with the
 * default options can load its code. NULL: no such target. */
OWN wasm_engine_t *config_compiler(bool has_threads);

#endif
