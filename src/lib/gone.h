/* The processes that a sandbox had when its state was taken: a copy of the
 * state does not have them. */
#ifndef LIB_GONE_H
#define LIB_GONE_H

#include "base/own.h"

#include <stddef.h>

struct wsand_sandbox;

/* For each process "PID ID COMMAND" and a NUL: ID is 0 for one that was not
 * started by wsand_process_start. All zero: none. */
struct gone {
    OWN char *p;
    size_t len;
};

enum { GONE_BYTES_MAX = 4096 }; /* the last ones are left out beyond */

/* The processes that run now, but the shell. -ENOMEM. */
int gone_note(struct wsand_sandbox *sb, struct gone *ret);
/* From bytes that need not be trusted. -EINVAL, -ENOMEM. */
int gone_load(struct gone *l, const void *p, size_t len);
/* Makes *to, which is freed before, a copy; where there is no memory, none. */
void gone_copy(struct gone *to, const struct gone *from);
void gone_fini(struct gone *l);

#endif
