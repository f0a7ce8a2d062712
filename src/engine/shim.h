/* Settings of wasmtime that its C API lacks; src/engine/wasmtime/src/lib.rs
 * implements them. They are set before the configuration is given to
 * wasm_engine_new_with_config or wasmtime_pooling_allocation_strategy_set. */
#ifndef ENGINE_SHIM_H
#define ENGINE_SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wasmtime.h>

/* Use the collector that gives the memory of thrown exceptions back. */
void wsand_engine_collector_copying(wasm_config_t *config);

/* Size of the heap for exceptions that a store makes at its first throw. */
void wsand_engine_gc_heap_initial_size(wasm_config_t *config, uint64_t bytes);

/* Clear a fiber's stack when it goes back to the pool: what a deep recursion
 * touched is then returned to the host, down to the pool's keep_resident. */
void wsand_engine_async_stack_zeroing(wasm_config_t *config, bool on);

/* Frames recorded in a trap; 0 records none, which makes ending a suspended
 * fiber independent of its depth. */
void wsand_engine_wasm_backtrace_max_frames(wasm_config_t *config, size_t n);

/* Fill function tables at first use instead of at instantiation. */
void wsand_engine_table_lazy_init(wasm_config_t *config, bool on);

/* Let the compiler inline guest functions into one another. */
void wsand_engine_inlining(wasm_config_t *config, bool on);

enum wsand_engine_pagemap_scan {
    WSAND_PAGEMAP_SCAN_OFF,
    WSAND_PAGEMAP_SCAN_AUTO,     /* where the host's kernel has it */
    WSAND_PAGEMAP_SCAN_REQUIRED, /* else creating the engine fails */
};

/* Ask the host's kernel which pages of a memory slot were written, and clear
 * only those when the slot is reused. */
void wsand_engine_pagemap_scan(wasmtime_pooling_allocation_config_t *pool,
                               uint8_t how);

/* Compiles a binary to what wasmtime_module_deserialize takes, without loading
 * it: no page becomes executable. */
wasmtime_error_t *wsand_engine_precompile(wasm_engine_t *engine,
                                          const uint8_t *wasm, size_t len,
                                          wasm_byte_vec_t *ret);

/* Makes code that is being loaded executable, or returns false; both addresses
 * are those of pages. */
struct wsand_engine_publisher {
    bool (*publish)(void *env, const void *code, size_t len);
    void *env; /* outlives the engine */
    size_t page;
};

/* All code of the engine is made executable by the publisher. */
void wsand_engine_code_publisher(wasm_config_t *config,
                                 const struct wsand_engine_publisher *p);

/* As wasmtime_module_deserialize, without a copy: `code`, the beginning of a
 * page, is not changed and must outlive the module. Needs a publisher. */
wasmtime_error_t *wsand_engine_module_in_place(wasm_engine_t *engine,
                                               const uint8_t *code, size_t len,
                                               wasmtime_module_t **ret);

#endif
