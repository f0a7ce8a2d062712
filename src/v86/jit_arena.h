/* Memory for generated code: a fixed range of addresses with pieces in it.
 *
 * No page is writable and executable at once (W^X). Pages are executable, and
 * writable only inside jit_arena_add, which then takes that right away again.
 * The pages are private and not a file that is mapped twice: after fork, parent
 * and child change their own copies. No code of the arena may run on another
 * thread meanwhile. */
#ifndef V86_JIT_ARENA_H
#define V86_JIT_ARENA_H

#include "base/own.h"

#include <stddef.h>
#include <stdint.h>

enum {
    JIT_ARENA_BYTES = 48 << 20,
    JIT_PIECES_MAX = 1024,
};

struct jit_arena;

/* Returns 0 or a negative errno. */
int jit_arena_new(size_t bytes, OWN struct jit_arena **ret);
void jit_arena_free(struct jit_arena *a);

/* Copies code into the arena. Returns its address, which is a multiple of 64,
 * or NULL if there is no space, or Linux refuses the change of protection. */
void *jit_arena_add(struct jit_arena *a, const uint8_t *code, size_t bytes);
/* Gives the space of a piece back. Its bytes stay until they are overwritten by
 * jit_arena_add. */
void jit_arena_remove(struct jit_arena *a, const void *code);
/* Returns the bytes that pieces use. */
size_t jit_arena_used(const struct jit_arena *a);

#endif
