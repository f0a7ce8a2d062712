/* The last system calls of one command. */
#ifndef LIB_TRACE_H
#define LIB_TRACE_H

#include "base/own.h"

#include <stddef.h>

struct kernel;
struct trace;

/* Notes what the processes of the current run do, until it is freed. */
int trace_new(struct kernel *k, OWN struct trace **ret);
void trace_free(OWN struct trace *t); /* NULL is fine */
DEFINE_CLEANUP(struct trace *, trace_free)
/* The newest lines, freed with free(); NULL and 0 when there are none. */
OWN char *trace_take(struct trace *t, size_t *ret_len);

#endif
