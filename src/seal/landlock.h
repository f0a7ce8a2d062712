/* Landlock: a second wall behind the mounts, where the kernel has it. */
#ifndef SEAL_LANDLOCK_H
#define SEAL_LANDLOCK_H

/* The kernel's version of it; 0: none. */
int landlock_version(void);
/* From now on, files are changed only under these paths (ends with NULL), and
 * processes outside get neither signals nor connections on abstract sockets.
 * 0 or -errno; needs no_new_privs. Does nothing where there is none. */
int landlock_restrict(const char *const *writable);
/* The same for everything: no file is opened, nothing connected to. */
int landlock_nothing(void);

#endif
