/* The seal: what a worker does to itself once its runtime is up, before it
 * reads anything from outside. From then on the process can compute, use the
 * memory that it may have, and talk on the descriptors that it has.
 *
 * Afterwards: an empty read-only root, no capabilities, no_new_privs, a user of
 * its own where it was started with one, Landlock where the kernel has it, and
 * only the system calls of calls.def: nothing opens, connects, starts, signals
 * or makes memory executable. */
#ifndef SEAL_SEAL_H
#define SEAL_SEAL_H

#include <stdbool.h>

/* 0, or -errno with the step that failed in *ret_where; the caller must end
 * then: some steps were done. -EBUSY: the process has threads already, which
 * would not be sealed; those started later are.
 *
 * Of the descriptors above 3 (0 and 1: requests, 2: last words, 3: records),
 * all that is open stays open: the caller knows what it needs. */
int seal(const char **ret_where);

/* The same for a worker that keeps a compiler: it may also map files that it
 * was given as code, and receive such. */
int seal_with_compiler(const char **ret_where);

/* The same for that compiler, which has the worker's namespaces but for its
 * mounts: it can also make processes like itself and files in memory. */
int seal_compiler(const char **ret_where);

#endif
