/* The mounts that the options of a sandbox ask for. */
#ifndef LIB_MOUNTS_H
#define LIB_MOUNTS_H

#include "wasmsand.h"

struct snapshot;

/* Mounts everything that the options of sb ask for; its kernel has only its
 * root so far. `v` has the files of the mounts. If it is NULL, the files come
 * from the snapshot `from`. */
int mounts_make(struct wsand_sandbox *sb, const struct wsand_mount *v,
                const struct snapshot *from, struct wsand_error *err);

#endif
