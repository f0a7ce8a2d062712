/* The compiler of functions that the core generates: WebAssembly to x86-64.
 *
 * It has the memory for one core's code, of at most JIT_ARENA_BYTES. When that
 * is full, all code is dropped, and compiled again when it is needed (the core
 * does the same when it has no index left). A module that is not of the core's
 * dialect is refused; the core then interprets. */
#ifndef V86_JIT_H
#define V86_JIT_H

#include "v86/core.h"

struct jit;

struct jit_figures {
    uint64_t functions, wasm_bytes, code_bytes, evictions;
    double compile_ms;
};

/* Makes a compiler for the core, and turns it on; it must be freed after the
 * core. Returns 0, -ENOTSUP if the processor is not x86-64, or -ENOMEM. */
int jit_new(struct core *core, OWN struct jit **ret);
/* As jit_new, with another maximum for the code, in bytes. */
int jit_new_sized(struct core *core, size_t code_bytes, OWN struct jit **ret);
void jit_free(struct jit *jit);

/* Returns the reason why a module was refused, or NULL. */
const char *jit_refusal(const struct jit *jit);
struct jit_figures jit_figures(const struct jit *jit);

#endif
