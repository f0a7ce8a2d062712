/* The /proc of a jail. */
#ifndef SUPERVISOR_PROC_H
#define SUPERVISOR_PROC_H

/* Mounts the /proc of this process's pid namespace, with only the names that a
 * jail may see. The root must be writable and without other users. Returns 0 or
 * -errno. */
int proc_mount(void);

#endif
