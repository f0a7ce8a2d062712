/* The last system calls of one command. */
#ifndef LIB_TRACE_H
#define LIB_TRACE_H

#include "base/own.h"

#include <stddef.h>

struct kernel;
struct trace;

/* Records the system calls of the current run's processes until it is freed. At
 * most one trace may exist for a kernel at a time. -ENOMEM. */
int trace_new(struct kernel *k, OWN struct trace **ret);
void trace_free(OWN struct trace *t); /* accepts NULL */
DEFINE_CLEANUP(struct trace *, trace_free)
/* Returns the newest lines, freed with free(), or NULL and 0. */
OWN char *trace_take(struct trace *t, size_t *ret_len);

#endif
