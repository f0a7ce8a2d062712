/* Groups as directories, for cgroup_host.c and cgroup.c. */
#ifndef SUPERVISOR_CGROUP_IMPL_H
#define SUPERVISOR_CGROUP_IMPL_H

#include "supervisor/jail/cgroup.h"

#define GROUP_PREFIX "wasmsand-"
enum { GROUP_DIGITS = 16 }; /* after it */
enum { REMOVE_TRIES = 200, REMOVE_WAIT_NS = 5000000 };

/* Writes a random name that starts with GROUP_PREFIX. */
void cgroup_group_name(char name[GROUP_NAME_BYTES]);
/* Creates and locks a group. Returns the descriptor, -EAGAIN if a sweep removed
 * it, or another -errno. */
int cgroup_group_make(int parent_hfd, const char *name);
/* Removes a group, or kills its processes: -EBUSY. */
int cgroup_group_try_remove(int parent_hfd, int dir_hfd, const char *name);
/* Like cgroup_group_try_remove, until it is removed. */
int cgroup_group_remove(int parent_hfd, int dir_hfd, const char *name);

#endif
