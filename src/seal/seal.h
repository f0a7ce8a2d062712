/* The seal: a worker seals itself when its runtime is ready, before it reads
 * any input. From then on the process can compute, use its memory, and
 * communicate on its open descriptors.
 *
 * A sealed process has an empty read-only root, no capabilities, no_new_privs,
 * and a user of its own (if it was started with one). Landlock restricts it if
 * the kernel supports that. It has only the system calls of calls.def: nothing
 * opens, connects, starts a process, signals or makes memory executable. */
#ifndef SEAL_SEAL_H
#define SEAL_SEAL_H

#include <stdbool.h>

/* Seals the process. Returns 0, or -errno with the failed step in *ret_where;
 * then some steps have been done, and the caller must exit. -EBUSY: the process
 * already has other threads, which would not be sealed. Threads started later
 * are sealed.
 *
 * All descriptors stay open (0 and 1: requests, 2: last message, 3: records);
 * the caller closes those that it does not need. */
int seal(const char **ret_where);

/* Like seal, for a worker with a compiler: it may also receive files, and map
 * them as code. */
int seal_with_compiler(const char **ret_where);

/* Like seal, for that compiler, which shares the worker's namespaces except the
 * mounts. It may also fork, and create files in memory. */
int seal_compiler(const char **ret_where);

struct seccomp_policy;

/* Like seal, for a worker that runs an x86 computer, with a filter of its own.
 * It may make memory executable that is not writable. */
int seal_machine(const struct seccomp_policy *calls, const char **ret_where);

#endif
