/* The system calls of a sealed worker: one row of calls.def each. */
#ifndef SEAL_CALLS_H
#define SEAL_CALLS_H

#include "seal/seccomp.h"

extern const struct seccomp_policy sealed_calls;

#endif
