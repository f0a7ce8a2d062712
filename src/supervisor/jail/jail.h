/* The jail: one process, started inside its group and namespaces, that runs a
 * command and reaps its descendants.
 *
 * The first process of the jail (inside.c) is ours; the command is its child.
 * It dies with us, and everything in the jail dies with it. */
#ifndef SUPERVISOR_JAIL_H
#define SUPERVISOR_JAIL_H

#include "supervisor/jail/cgroup.h"
#include "supervisor/jail/options.h"

#include <stdbool.h>
#include <sys/types.h>

enum { WHERE_BYTES = 56 };

/* A message of the first process. Once the command runs, it is no more trusted
 * than the command. */
struct jail_message {
    enum { JAIL_READY, JAIL_FAILED, JAIL_NO_EXEC, JAIL_ENDED } kind;
    int value; /* errno; or the command's status, as of waitpid */
    char where[WHERE_BYTES];
};

/* The task of the first process; in the parent's memory, copied. */
struct jail_plan {
    const struct options *o;
    /* enforced by rlimits, not by a controller */
    bool rlimit_memory, rlimit_processes;
    int message_hfd, go_hfd;
};

/* The supervisor's view of a jail. A descriptor for the process (pidfd) is used
 * for signals, because a pid could be reused. */
struct jail {
    pid_t pid;
    int pid_hfd;
    int message_hfd, go_hfd;
    int disk_hfd; /* its workspace, for statfs */
    int proc_hfd; /* its /proc */
};

/* Creates its group, with its limits. The kernel's memory limit is memory and
 * disk together, because files in memory are charged too. */
int jail_group(struct cgroup *g, const struct cgroup_host *h,
               const uint32_t *limit);
/* Starts the jail up to the point where the command can run. Returns 0, or
 * -errno with the failed step in `where`; after a failure nothing is left. */
int jail_start(struct jail *j, const struct options *o,
               const struct cgroup *group, char where[WHERE_BYTES]);
/* Like jail_start, but after an error the caller cleans up. With for_parent,
 * the process becomes a child of our parent, which waits for it. */
int jail_make(struct jail *j, const struct options *o,
              const struct cgroup *group, bool for_parent,
              char where[WHERE_BYTES]);
/* Lets the jail proceed to its next step. -errno. */
int jail_go(struct jail *j);
/* Kills the first process, and with it the whole pid namespace. */
void jail_kill(const struct jail *j);
/* Returns the bytes in files. */
int jail_disk(const struct jail *j, uint64_t *ret_bytes);
/* Kills the jail and waits; returns its resource usage, including children. */
struct rusage;
void jail_end(struct jail *j, struct rusage *ret_usage);
/* Closes our descriptors and leaves the jail to others that have it open. */
void jail_forget(struct jail *j);

/* A process in namespaces of its own. */
struct jail_start {
    int group_hfd; /* of its group; -1: none */
    bool has_network, for_parent;
};
/* Returns 0 twice, with *ret_pid 0 in the child; or -errno. */
int jail_clone(const struct jail_start *b, pid_t *ret_pid, int *ret_pid_hfd);
/* Sets its user outside: one that nothing else has, or ours if we are not root.
 * `begins_as_root`: inside it may be root until it becomes JAIL_UID (if it
 * can), with access to the files that we may read. */
int jail_map_user(pid_t pid, bool begins_as_root);

/* Runs the first process; returns only with an exit status. */
int jail_inside(struct jail_plan *plan);

#endif
