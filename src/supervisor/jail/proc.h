/* The /proc of a jail. */
#ifndef SUPERVISOR_PROC_H
#define SUPERVISOR_PROC_H

/* Mounts /proc of this process' pid namespace, with what a jail may see of it.
 * The root must be writable and without other users. 0 or -errno. */
int proc_mount(void);

#endif
