/* Control groups: where this host offers them, and one group for each jail.
 *
 * Each controller is in the unified hierarchy (v2) or in one of its own (v1).
 * A jail has one group in every hierarchy in use, with the same name. Its
 * directories are locked (flock) by the supervisor that made them: a group
 * whose lock is free belonged to a supervisor that died, and is swept. */
#ifndef SUPERVISOR_CGROUP_H
#define SUPERVISOR_CGROUP_H

#include "supervisor/jail/options.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum controller { CTL_memory, CTL_cpu, CTL_pids, N_CTLS };
enum { HIERARCHIES_MAX = N_CTLS + 1, GROUP_NAME_BYTES = 32 };

struct hierarchy {
    int version;
    int parent_hfd; /* jails' groups are made in it */
};

struct cgroup_host {
    struct hierarchy hier[HIERARCHIES_MAX];
    int n;
    int of[N_CTLS];     /* the controller's hierarchy; -1: none */
    int unified;        /* v2, perhaps without controllers; -1: none */
    bool starts_inside; /* clone3 into a group works */
    int aside_hfd;      /* the group we stepped into; -1: none */
    char aside[GROUP_NAME_BYTES];
};

struct cgroup {
    const struct cgroup_host *host;
    char name[GROUP_NAME_BYTES];
    int dir_hfd[HIERARCHIES_MAX];
    uint64_t memory_wall; /* what the kernel's memory limit is set to */
};

/* All from the kernel; what is not counted here is 0 and not `has`. */
struct cgroup_counters {
    bool has[N_CTLS];
    uint64_t oom_kills, memory_peak;
    uint64_t periods, throttled;
    uint64_t refused; /* forks */
    uint64_t cpu_us;  /* 0 where only the unified hierarchy would know */
};

/* Finds and tries what is there, and sweeps what the dead left behind. No
 * hierarchy at all is a result, not an error. */
void cgroup_host_init(struct cgroup_host *h, const struct options *o);
void cgroup_host_fini(struct cgroup_host *h);
/* Removes groups of the dead. Waits for it. */
void cgroup_host_sweep(const struct cgroup_host *h);
enum backend cgroup_host_backend(const struct cgroup_host *h);

struct cgroup_limits {
    uint64_t memory_bytes;
    uint32_t cpu_percent, processes;
};

/* Makes the group, without limits. */
int cgroup_init(struct cgroup *g, const struct cgroup_host *h);
int cgroup_limit(struct cgroup *g, const struct cgroup_limits *l);
/* Kills what is inside and removes the group. Waits for it. */
void cgroup_fini(struct cgroup *g);
/* The same without waiting: -EBUSY if something is left; to be tried again. */
int cgroup_try_fini(struct cgroup *g);
/* The directory for clone3, or -1: then the child is moved. */
int cgroup_start_hfd(const struct cgroup *g);
/* Moves a process that waits into the hierarchies it was not started in. */
int cgroup_move(const struct cgroup *g, pid_t pid);
void cgroup_count(const struct cgroup *g, struct cgroup_counters *ret);
/* Memory that cannot be given back, files of the workspace included. */
int cgroup_memory(const struct cgroup *g, uint64_t *ret_bytes);
/* Has the kernel killed any of its processes for memory? */
bool cgroup_had_oom(const struct cgroup *g);
/* Has the kernel get below `bytes` by taking back what it can, or by killing
 * (v2). -EBUSY: it could do neither. */
int cgroup_squeeze(const struct cgroup *g, uint64_t bytes);

#endif
