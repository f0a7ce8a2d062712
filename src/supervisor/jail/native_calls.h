/* The system calls of native programs in a jail: one row for each in
 * native_calls.def. */
#ifndef SUPERVISOR_NATIVE_CALLS_H
#define SUPERVISOR_NATIVE_CALLS_H

#include "seal/seccomp.h"

extern const struct seccomp_policy native_calls;
/* Forbids memory outside of processes, if nothing else counts it. */
extern const struct seccomp_policy native_no_hidden_memory;

#endif
