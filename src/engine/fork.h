/* Fork of a running machine: the guest unwinds its frames into its own memory,
 * the memory is copied, and both machines wind up again. */
#ifndef ENGINE_FORK_H
#define ENGINE_FORK_H

#include "engine/machine_impl.h"

/* As machine_ops.fork and fork_return. */
int machine_fork(struct machine *parent, struct machine *child);
void machine_fork_return(struct machine *base, int32_t result);
/* sys.fork is called for the first time. 0: continue by unwinding. */
int fork_unwind(struct engine_machine *m);
/* The unwinding is complete, or is about to be reversed. */
void fork_unwound(struct engine_machine *m);
void fork_rewind(struct engine_machine *m);
/* sys.fork is reached again after rewinding. */
int32_t fork_rewound(struct engine_machine *m);

#endif
