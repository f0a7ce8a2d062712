/* Determines how this host enforces each limit. */
#ifndef SUPERVISOR_PROBE_H
#define SUPERVISOR_PROBE_H

#include "supervisor/jail/cgroup.h"

struct config;

/* Returns the mechanism, or NULL if there is none. */
const char *probe_enforcer(const struct cgroup_host *h, enum limit limit);
/* Like probe_enforcer, for sessions. */
const char *probe_session_enforcer(const struct config *c,
                                   const struct cgroup_host *h,
                                   enum limit limit);
/* Implements `serve --probe` with the remaining arguments: builds a trial jail
 * and prints the table. Returns exit status 0 if every limit is enforced. */
int probe_main(char *const *words);

#endif
