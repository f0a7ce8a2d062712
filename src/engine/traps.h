/* Traps and errors of wasmtime as text and as signals. */
#ifndef ENGINE_TRAPS_H
#define ENGINE_TRAPS_H

#include "base/own.h"
#include "kernel/machine.h"

#include <stddef.h>
#include <wasmtime.h>

/* `trap` or `error` is not NULL. */
void trap_describe(const wasm_trap_t *trap, const wasmtime_error_t *error,
                   struct machine_trap *ret);
/* Writes the message of an error on one line, cut to size. Consumes the error.
 */
void traps_error_text(OWN wasmtime_error_t *error, char *buf, size_t size);

#endif
