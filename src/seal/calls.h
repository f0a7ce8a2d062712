/* The system calls of sealed processes: one row for each in calls.def or
 * compiler_calls.def. */
#ifndef SEAL_CALLS_H
#define SEAL_CALLS_H

#include "seal/seccomp.h"

extern const struct seccomp_policy worker_calls, compiling_worker_calls,
    compiler_calls;

#endif
