/* The processes that a sandbox had when its state was saved. Copies of the
 * state do not have them. */
#ifndef LIB_GONE_H
#define LIB_GONE_H

#include "base/own.h"

#include <stddef.h>

struct wsand_sandbox;

/* For each process "PID ID COMMAND" and a NUL; ID is 0 for a process that
 * wsand_process_start did not start. All zero: none. */
struct gone {
    OWN char *p;
    size_t len;
};

enum { GONE_BYTES_MAX = 4096 }; /* further ones are omitted */

/* Saves the processes that run now, except the shell. -ENOMEM. */
int gone_list(struct wsand_sandbox *sb, struct gone *ret);
/* Loads untrusted bytes. -EINVAL, -ENOMEM. */
int gone_load(struct gone *l, const void *p, size_t len);
/* Replaces *to by a copy of `from`, or by nothing if there is no memory. */
void gone_copy(struct gone *to, const struct gone *from);
void gone_fini(struct gone *l);

#endif
