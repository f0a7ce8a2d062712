/* The root file system of a jail. */
#ifndef SUPERVISOR_ROOT_H
#define SUPERVISOR_ROOT_H

#include <stdint.h>

/* The only writable paths in it; the first one is the home. */
extern const char *const root_writable[];

/* Replaces the root of this process's own mount namespace: the host's programs
 * read-only, harmless devices, a /proc of its own, and `disk_mb` of files in
 * memory. `read` contains more host paths, NULL-terminated. Returns 0 or
 * -errno, with the path in *ret_where. */
int root_build(uint32_t disk_mb, const char *const *read,
               const char **ret_where);

#endif
