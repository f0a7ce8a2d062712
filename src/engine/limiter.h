/* Control over the growth of guests, which wasmtime's C API lacks.
 * src/engine/wasmtime/src/limiter.rs implements it. */
#ifndef ENGINE_LIMITER_H
#define ENGINE_LIMITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wasmtime.h>

struct wsand_engine_limiter {
    /* Called when a memory, or the heap for exceptions, wants to grow: from 0
     * at its creation, never beyond its own maximum. */
    bool (*may_grow)(void *env, uint64_t old_bytes, uint64_t new_bytes);
    void *env;
    size_t table_elements; /* maximum for each table */
};

/* The limiter is borrowed until the store is deleted. */
void wsand_engine_store_limiter(wasmtime_store_t *store,
                                struct wsand_engine_limiter *limiter);

#endif
