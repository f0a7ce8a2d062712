/* Control groups: the hierarchies of this host, and one group for each jail.
 *
 * Each controller is in the unified hierarchy (v2) or in one of its own (v1). A
 * jail has one group in every hierarchy in use, with the same name. The
 * supervisor locks the directories that it creates (flock): a group with a free
 * lock belonged to a supervisor that died, and is removed. */
#ifndef SUPERVISOR_CGROUP_H
#define SUPERVISOR_CGROUP_H

#include "supervisor/jail/options.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum controller { CTL_memory, CTL_cpu, CTL_pids, N_CTLS };
enum { HIERARCHIES_MAX = N_CTLS + 1, GROUP_NAME_BYTES = 32 };

/* One mounted hierarchy in which we can create groups. */
struct hierarchy {
    int version;
    int parent_hfd; /* parent of the jails' groups */
};

/* The hierarchies of this host, found once at the start. Shared by all groups,
 * read-only afterwards. */
struct cgroup_host {
    struct hierarchy hier[HIERARCHIES_MAX];
    int n;
    int of[N_CTLS];     /* the controller's hierarchy; -1: none */
    int unified;        /* v2, possibly without controllers; -1: none */
    bool starts_inside; /* clone3 into a group works */
    int aside_hfd;      /* the group that we moved to; -1: none */
    char aside[GROUP_NAME_BYTES];
};

/* The group of one jail: a directory in each hierarchy in use. The descriptors
 * also hold the locks. */
struct cgroup {
    const struct cgroup_host *host;
    char name[GROUP_NAME_BYTES];
    int dir_hfd[HIERARCHIES_MAX];
    uint64_t memory_wall; /* the kernel's memory limit */
};

/* Counters of the kernel; a missing counter is 0 without its `has`. */
struct cgroup_counters {
    bool has[N_CTLS];
    uint64_t oom_kills, memory_peak;
    uint64_t periods, throttled;
    uint64_t refused; /* forks */
    uint64_t cpu_us;  /* 0 if only the unified hierarchy would know */
};

/* Finds and tries the hierarchies, and removes groups of dead supervisors. No
 * hierarchy at all is a result, not an error. */
void cgroup_host_init(struct cgroup_host *h, const struct options *o);
void cgroup_host_fini(struct cgroup_host *h);
/* Removes groups of dead supervisors, and waits for it. */
void cgroup_host_sweep(const struct cgroup_host *h);
/* Returns the back end that the controllers in use amount to. */
enum backend cgroup_host_backend(const struct cgroup_host *h);

/* The limits of one group. */
struct cgroup_limits {
    uint64_t memory_bytes;
    uint32_t cpu_percent, processes;
};

/* Creates the group, without limits. */
int cgroup_init(struct cgroup *g, const struct cgroup_host *h);
/* Sets the limits, for the controllers that this host has. A limit without a
 * controller is not an error: probe.h knows who enforces it. -errno. */
int cgroup_limit(struct cgroup *g, const struct cgroup_limits *l);
/* Kills all processes of the group, removes it, and waits for it. */
void cgroup_fini(struct cgroup *g);
/* Like cgroup_fini, without waiting. -EBUSY: something is left; try again. */
int cgroup_try_fini(struct cgroup *g);
/* Returns the directory for clone3, or -1: then the child must be moved. */
int cgroup_start_hfd(const struct cgroup *g);
/* Moves a waiting process into the hierarchies that it was not started in. */
int cgroup_move(const struct cgroup *g, pid_t pid);
/* Reads the counters. Call it before cgroup_fini, which removes them. */
void cgroup_count(const struct cgroup *g, struct cgroup_counters *ret);
/* Returns the memory that cannot be reclaimed, including files of the
 * workspace. */
int cgroup_memory(const struct cgroup *g, uint64_t *ret_bytes);
/* True if the kernel has killed any of its processes for memory. */
bool cgroup_had_oom(const struct cgroup *g);
/* Makes the kernel reduce the group to `bytes`, by reclaiming or (v2) by
 * killing. -EBUSY: it could do neither. */
int cgroup_squeeze(const struct cgroup *g, uint64_t bytes);

#endif
