/* What enforces each limit on this host. */
#ifndef SUPERVISOR_PROBE_H
#define SUPERVISOR_PROBE_H

#include "supervisor/cgroup.h"

/* What enforces it; NULL: nothing does. */
const char *probe_enforcer(const struct cgroup_host *h, enum limit limit);
/* Builds a jail as a trial and prints the table. The exit status: 0 if every
 * limit is enforced. */
int probe_main(const struct options *o);

#endif
