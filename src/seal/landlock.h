/* Landlock: a second barrier behind the mounts, if the kernel supports it. */
#ifndef SEAL_LANDLOCK_H
#define SEAL_LANDLOCK_H

/* Returns the version of Landlock in this kernel, or 0. */
int landlock_version(void);
/* From now on, files can be changed only under these paths (NULL-terminated),
 * and processes outside can be reached neither by signals nor through abstract
 * sockets (version 6). Applies to this thread and its children. Returns 0 or
 * -errno; needs no_new_privs. Does nothing if the kernel has no Landlock. */
int landlock_restrict(const char *const *writable);
/* Like landlock_restrict, for everything: no file can be opened, and nothing
 * connected to. */
int landlock_nothing(void);

#endif
