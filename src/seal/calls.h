/* The system calls of sealed processes, one row for each in calls.def or
 * compiler_calls.def. All other calls fail with EPERM. */
#ifndef SEAL_CALLS_H
#define SEAL_CALLS_H

#include "seal/seccomp.h"

/* For a worker, for a worker that receives compiled code, and for its
 * compiler. */
extern const struct seccomp_policy worker_calls, compiling_worker_calls,
    compiler_calls;

#endif
