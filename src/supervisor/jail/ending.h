/* The end of a jail, according to the kernel's counters. */
#ifndef SUPERVISOR_ENDING_H
#define SUPERVISOR_ENDING_H

#include "supervisor/jail/cgroup.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/resource.h>

/* Everything that is known about the end of a jail. The cause is derived from
 * it and never stored, so it cannot contradict the figures. */
struct ending {
    int status;       /* of the command, as of waitpid */
    bool over_memory; /* the watchdog killed it for its memory */
    bool by_us;       /* worker_kill was called */
    int start_error;  /* an errno: it was never started */
    char where[64];   /* the failed step */
    uint64_t disk_used;
    struct cgroup_counters counters;
    struct rusage usage;
};

/* Returns oom, exited, crashed (a signal that a fault raises), cpu, killed, or
 * failed if it was never started. */
const char *ending_cause(const struct ending *e);
/* Returns the status for a shell: 128+n for signal n. */
int ending_exit_status(const struct ending *e);
/* Prints one line with the cause and the resource use. */
void ending_print(const struct ending *e, const uint32_t *limit, FILE *to);

#endif
