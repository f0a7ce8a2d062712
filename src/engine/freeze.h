/* Frozen programs: modules that begin in the state that another program has
 * reached. */
#ifndef ENGINE_FREEZE_H
#define ENGINE_FREEZE_H

#include "base/own.h"
#include "kernel/machine.h"

#include <stddef.h>
#include <stdint.h>

#define FREEZE_SECTION "wasmsand.frozen"
/* As machine_ops.freeze. `src` is the source of the program that the machine
 * runs; the caller frees the result. */
int machine_freeze(struct machine *base, const struct program_source *src,
                   const void *section, size_t section_len, OWN uint8_t **ret,
                   size_t *ret_len);

#endif
