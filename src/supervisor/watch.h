/* Stays with a jail until its end. */
#ifndef SUPERVISOR_WATCH_H
#define SUPERVISOR_WATCH_H

#include "supervisor/ending.h"
#include "supervisor/jail.h"

/* Lets the command run, passes signals on to it, watches its memory. The jail
 * is gone afterwards. 0; or -errno of exec. Signals must be blocked. */
int watch_run(struct jail *j, const struct cgroup *group, const uint32_t *limit,
              struct ending *ret);

#endif
