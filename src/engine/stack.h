/* The host memory that native stacks of machines take. */
#ifndef ENGINE_STACK_H
#define ENGINE_STACK_H

#include <stdbool.h>
#include <stdint.h>

/* True if the host reports the pages that are in memory. */
bool stacks_can_tell(void);

struct machine;

/* As machine_ops.stack_bytes. */
uint64_t machine_stack_bytes(struct machine *base);

#endif
