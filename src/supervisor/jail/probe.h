/* What enforces each limit on this host. */
#ifndef SUPERVISOR_PROBE_H
#define SUPERVISOR_PROBE_H

#include "supervisor/jail/cgroup.h"

struct config;

/* What enforces it; NULL: nothing does. */
const char *probe_enforcer(const struct cgroup_host *h, enum limit limit);
/* The same for sessions. */
const char *probe_session_enforcer(const struct config *c,
                                   const struct cgroup_host *h,
                                   enum limit limit);
/* `serve --probe` with the other words: builds a jail as a trial and prints the
 * table. The exit status: 0 if every limit is enforced. */
int probe_main(char *const *words);

#endif
