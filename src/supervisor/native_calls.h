/* System calls that programs of the host are refused in a jail. */
#ifndef SUPERVISOR_NATIVE_CALLS_H
#define SUPERVISOR_NATIVE_CALLS_H

#include "seal/seccomp.h"

/* Everything but what has no business in a jail. */
extern const struct seccomp_policy native_calls;
/* Where nothing else counts memory without a process: none of it. */
extern const struct seccomp_policy native_no_hidden_memory;

#endif
