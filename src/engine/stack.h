/* The host memory that native stacks of machines take. */
#ifndef ENGINE_STACK_H
#define ENGINE_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <wasmtime.h>

struct stacks {
    size_t stack_bytes; /* as given to stacks_init */
    size_t slot_bytes;  /* from one stack to the next; 0: not known */
    size_t page;
    uintptr_t top; /* the top of any of them */
};

/* True if the host reports the pages that are in memory. */
bool stacks_can_tell(void);
/* Measures the pool of an engine, which has n stacks of stack_bytes each. */
void stacks_init(struct stacks *s, wasm_engine_t *wasm, uint32_t n,
                 size_t stack_bytes);

struct machine;

/* As machine_ops.stack_bytes. */
uint64_t machine_stack_bytes(struct machine *base);

#endif
