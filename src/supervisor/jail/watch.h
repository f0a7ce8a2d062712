/* Stays with a jail until its end. */
#ifndef SUPERVISOR_WATCH_H
#define SUPERVISOR_WATCH_H

#include "supervisor/jail/ending.h"
#include "supervisor/jail/jail.h"

/* A watch over one jail. */
struct watch {
    struct jail *j;
    const struct cgroup *group;
    const uint32_t *limit;
    struct ending *e;
    int exec_error; /* the command could not be run; an errno */
};

/* When to look again at what uses so many bytes, and may use `most`. */
int watch_pause_ms(uint64_t used, uint64_t most);
/* Looks at its memory. In how many milliseconds to look again. */
int watch_look(struct watch *w);
/* Reads what its first process says. False: there is nothing more to come. */
bool watch_message(struct watch *w);

/* Lets the command run, passes signals on to it, watches its memory. The jail
 * is gone afterwards. 0; or -errno of exec. Signals must be blocked. */
int watch_run(struct jail *j, const struct cgroup *group, const uint32_t *limit,
              struct ending *ret);

#endif
