/* Handlers of traps: SIGSEGV, SIGILL, SIGFPE and SIGBUS that a program causes
 * by itself. */
#ifndef KERNEL_FAULT_H
#define KERNEL_FAULT_H

#include "kernel/machine.h"

#include <stdbool.h>

/* After a trap of th: if its process has a handler, queues th to run it, on the
 * alternate stack if the handler has SA_ONSTACK. Returns false if the trap ends
 * the process. */
bool fault_handle(struct thread *th, const struct machine_trap *trap);

#endif
