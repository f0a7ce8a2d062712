/* Groups by directory, for cgroup_host.c and cgroup.c. */
#ifndef SUPERVISOR_CGROUP_IMPL_H
#define SUPERVISOR_CGROUP_IMPL_H

#include "supervisor/jail/cgroup.h"

#define GROUP_PREFIX "wasmsand-"
enum { GROUP_DIGITS = 16 }; /* after it */
enum { REMOVE_TRIES = 200, REMOVE_WAIT_NS = 5000000 };

void group_name(char name[GROUP_NAME_BYTES]);
/* Makes and locks it. The descriptor, -EAGAIN if a sweep took it from us, or
 * another -errno. */
int group_make(int parent_hfd, const char *name);
/* Removes it, or kills what is in it: -EBUSY. */
int group_try_remove(int parent_hfd, int dir_hfd, const char *name);
/* The same until it is removed. */
int group_remove(int parent_hfd, int dir_hfd, const char *name);

#endif
