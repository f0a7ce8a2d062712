/* Fork of a running machine: the guest unwinds its frames into its own memory,
 * the memory is copied, and both machines wind up again. */
#ifndef ENGINE_FORK_H
#define ENGINE_FORK_H

#include "engine/machine_impl.h"

/* As machine_ops.fork and fork_return. */
int machine_fork(struct machine *parent, struct machine *child);
void machine_fork_return(struct machine *base, int32_t result);
/* Called when sys.fork is reached for the first time. Returns 0 to continue by
 * unwinding, or -errno as the result of the call. */
int fork_unwind(struct engine_machine *m);
/* Called when the unwinding is complete, and before it is reversed. */
void fork_unwound(struct engine_machine *m);
void fork_rewind(struct engine_machine *m);
/* Called when sys.fork is reached again after rewinding. Returns the result of
 * the call. */
int32_t fork_rewound(struct engine_machine *m);

#endif
