/* The system calls of programs of the host in a jail: one row each of
 * native_calls.def. */
#ifndef SUPERVISOR_NATIVE_CALLS_H
#define SUPERVISOR_NATIVE_CALLS_H

#include "seal/seccomp.h"

extern const struct seccomp_policy native_calls;
/* Where nothing else counts memory without a process: none of it. */
extern const struct seccomp_policy native_no_hidden_memory;

#endif
