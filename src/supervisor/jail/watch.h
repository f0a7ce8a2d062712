/* Watches a jail until its end. */
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
    int exec_error; /* errno of an exec that failed */
};

/* Returns the time until the next check, for this use and the maximum `most`.
 */
int watch_pause_ms(uint64_t used, uint64_t most);
/* Checks its memory. Returns the milliseconds until the next check. */
int watch_look(struct watch *w);
/* Reads a message of its first process. False: no more will come. */
bool watch_message(struct watch *w);

/* Runs the command, forwards signals to it, and watches its memory. The jail is
 * gone afterwards. Returns 0 with the ending, or -errno of exec. The signals to
 * forward must be blocked. */
int watch_run(struct jail *j, const struct cgroup *group, const uint32_t *limit,
              struct ending *ret);

#endif
