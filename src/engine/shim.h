/* Settings of wasmtime that its C API lacks; src/engine/wasmtime/src/lib.rs
 * implements them. They must be set before the configuration is passed to
 * wasm_engine_new_with_config or wasmtime_pooling_allocation_strategy_set. */
#ifndef ENGINE_SHIM_H
#define ENGINE_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wasmtime.h>

/* Selects the collector that returns the memory of thrown exceptions. */
void wsand_engine_collector_copying(wasm_config_t *config);

/* Sets the size of the heap for exceptions, which a store creates at its first
 * throw. */
void wsand_engine_gc_heap_initial_size(wasm_config_t *config, uint64_t bytes);

/* Clears a fiber's stack when it returns to the pool. Pages that a deep
 * recursion touched are then returned to the host, down to the pool's
 * keep_resident. */
void wsand_engine_async_stack_zeroing(wasm_config_t *config, bool on);

/* Sets the number of frames recorded in a trap. 0 records none, so that the
 * cost of ending a suspended fiber does not depend on its depth. */
void wsand_engine_wasm_backtrace_max_frames(wasm_config_t *config, size_t n);

/* Fills function tables at first use instead of at instantiation. */
void wsand_engine_table_lazy_init(wasm_config_t *config, bool on);

/* Lets the compiler inline guest functions into one another. */
void wsand_engine_inlining(wasm_config_t *config, bool on);

enum wsand_engine_pagemap_scan {
    WSAND_PAGEMAP_SCAN_OFF,
    WSAND_PAGEMAP_SCAN_AUTO,     /* if the host's kernel supports it */
    WSAND_PAGEMAP_SCAN_REQUIRED, /* otherwise creating the engine fails */
};

/* Asks the host's kernel which pages of a memory slot were written, and clears
 * only those when the slot is reused. */
void wsand_engine_pagemap_scan(wasmtime_pooling_allocation_config_t *pool,
                               uint8_t how);

/* Returns the size of the native stack on which the store has run last, and
 * sets *ret_top to its end. 0: the store has not run. */
size_t wsand_engine_last_stack(wasmtime_context_t *context, uintptr_t *ret_top);

/* Compiles a binary to the input of wasmtime_module_deserialize, without
 * loading it: no page becomes executable. */
wasmtime_error_t *wsand_engine_precompile(wasm_engine_t *engine,
                                          const uint8_t *wasm, size_t len,
                                          wasm_byte_vec_t *ret);

/* Makes loaded code executable, or returns false; both addresses are aligned to
 * pages. */
struct wsand_engine_publisher {
    bool (*publish)(void *env, const void *code, size_t len);
    void *env; /* outlives the engine */
    size_t page;
};

/* Lets the publisher make all code of the engine executable. */
void wsand_engine_code_publisher(wasm_config_t *config,
                                 const struct wsand_engine_publisher *p);

/* Like wasmtime_module_deserialize, without a copy: `code`, aligned to a page,
 * is not changed and must outlive the module. Needs a publisher. */
wasmtime_error_t *wsand_engine_module_in_place(wasm_engine_t *engine,
                                               const uint8_t *code, size_t len,
                                               wasmtime_module_t **ret);

#endif
