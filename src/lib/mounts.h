/* The mounts that the options of a sandbox ask for. */
#ifndef LIB_MOUNTS_H
#define LIB_MOUNTS_H

#include "wasmsand.h"

struct snapshot;

/* Makes all that the options of sb, whose kernel has only its root, ask
 * for: `v` with their files, or (NULL) the files that `from` has. */
int mounts_make(struct wsand_sandbox *sb, const struct wsand_mount *v,
                const struct snapshot *from, struct wsand_error *err);

#endif
