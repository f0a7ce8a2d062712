/* The group of one jail: its limits and its counters.
 *
 * cgroup v1 and v2 have the same concepts with different files. Both are tables
 * here: a setting or a figure is one row for each version. */
#include "supervisor/jail/cgroup.h"

#include "supervisor/common/file.h"
#include "supervisor/jail/cgroup_impl.h"
#include "supervisor/jail/cgroup_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    PERIOD_US = 100000,
    US_PER_PERCENT = PERIOD_US / 100,
    MAKE_TRIES = 8,
    TEXT_BYTES = 2048,
};

enum value { ZERO, ONE, WALL, CPU_MAX, PERIOD, QUOTA, PROCESSES };

/* The limits, in the order of writing. With v1, the limit of memory and swap
 * together must not be below that of memory, so it is written after it.
 * memory.oom.group makes v2 kill a whole jail at once; with v1 the watchdog
 * does that. */
static const struct setting {
    enum controller controller;
    int version;
    const char *file;
    enum value value;
    bool optional; /* some kernels are built without it */
} settings[] = {
    {CTL_memory, 2, "memory.max", WALL, false},
    {CTL_memory, 2, "memory.swap.max", ZERO, true},
    {CTL_memory, 2, "memory.oom.group", ONE, true},
    {CTL_memory, 1, "memory.limit_in_bytes", WALL, false},
    {CTL_memory, 1, "memory.memsw.limit_in_bytes", WALL, true},
    {CTL_memory, 1, "memory.swappiness", ZERO, true},
    {CTL_cpu, 2, "cpu.max", CPU_MAX, false},
    {CTL_cpu, 1, "cpu.cfs_period_us", PERIOD, false},
    {CTL_cpu, 1, "cpu.cfs_quota_us", QUOTA, false},
    {CTL_pids, 2, "pids.max", PROCESSES, false},
    {CTL_pids, 1, "pids.max", PROCESSES, false},
};

/* The counters, and where they go. */
static const struct figure {
    enum controller controller;
    int version;
    const char *file, *key; /* without a key: the file is the number */
    size_t offset;
} figures[] = {
#define AT(field) offsetof(struct cgroup_counters, field)
    {CTL_memory, 2, "memory.events", "oom_kill", AT(oom_kills)},
    {CTL_memory, 2, "memory.peak", NULL, AT(memory_peak)},
    {CTL_memory, 1, "memory.oom_control", "oom_kill", AT(oom_kills)},
    {CTL_memory, 1, "memory.max_usage_in_bytes", NULL, AT(memory_peak)},
    {CTL_cpu, 2, "cpu.stat", "nr_periods", AT(periods)},
    {CTL_cpu, 2, "cpu.stat", "nr_throttled", AT(throttled)},
    {CTL_cpu, 1, "cpu.stat", "nr_periods", AT(periods)},
    {CTL_cpu, 1, "cpu.stat", "nr_throttled", AT(throttled)},
    {CTL_pids, 2, "pids.events", "max", AT(refused)},
    {CTL_pids, 1, "pids.events", "max", AT(refused)},
#undef AT
};
#define COUNT(table) (sizeof(table) / sizeof *(table))

static int
cgroup_version_of(const struct cgroup *g, enum controller c)
{
    int i = g->host->of[c];

    return i < 0 ? 0 : g->host->hier[i].version;
}

static int
cgroup_dir_of(const struct cgroup *g, enum controller c)
{
    return g->dir_hfd[g->host->of[c]];
}

/* CPU time is a quota in each period of 100 ms: 100 percent is one
 * processor. */
static void
cgroup_print_value(const struct cgroup_limits *l, enum value value, char *to,
                   size_t size)
{
    uint32_t quota_us = l->cpu_percent * US_PER_PERCENT;
    const unsigned long long numbers[] = {
        [ZERO] = 0,
        [ONE] = 1,
        [WALL] = l->memory_bytes,
        [CPU_MAX] = quota_us,
        [PERIOD] = PERIOD_US,
        [QUOTA] = quota_us,
        [PROCESSES] = l->processes,
    };

    if (value == CPU_MAX)
        (void)snprintf(to, size, "%u %d", quota_us, PERIOD_US);
    else
        (void)snprintf(to, size, "%llu", numbers[value]);
}

/* A file that older kernels do not have is an optional setting. */
int
cgroup_limit(struct cgroup *g, const struct cgroup_limits *l)
{
    char text[64];

    g->memory_wall = l->memory_bytes;
    for (size_t i = 0; i < COUNT(settings); i++) {
        const struct setting *s = &settings[i];
        if (cgroup_version_of(g, s->controller) != s->version)
            continue;
        cgroup_print_value(l, s->value, text, sizeof text);
        int r = file_write_text(cgroup_dir_of(g, s->controller), s->file, text);
        if (r < 0 && !(s->optional && (r == -ENOENT || r == -EOPNOTSUPP)))
            return r;
    }
    return 0;
}

/* Creates the directory in every hierarchy, under one random name. */
static int
cgroup_make_all(struct cgroup *g)
{
    cgroup_group_name(g->name);
    for (int i = 0; i < g->host->n; i++) {
        int r = cgroup_group_make(g->host->hier[i].parent_hfd, g->name);
        if (r < 0)
            return r;
        g->dir_hfd[i] = r;
    }
    return 0;
}

/* A supervisor that starts at the same time may sweep a group away before it is
 * locked (-EAGAIN). Another name is tried then. */
int
cgroup_init(struct cgroup *g, const struct cgroup_host *h)
{
    int r = -EAGAIN;

    *g = (struct cgroup){.host = h};
    for (int i = 0; i < HIERARCHIES_MAX; i++)
        g->dir_hfd[i] = -1;
    for (int i = 0; r == -EAGAIN && i < MAKE_TRIES; i++) {
        r = cgroup_make_all(g);
        if (r < 0)
            cgroup_fini(g);
    }
    return r;
}

/* Directories are removed one by one; those that are still busy stay for the
 * next try. */
int
cgroup_try_fini(struct cgroup *g)
{
    int busy = 0;

    for (int i = 0; i < HIERARCHIES_MAX; i++) {
        int *hfd = &g->dir_hfd[i];
        if (*hfd < 0)
            continue;
        int r =
            cgroup_group_try_remove(g->host->hier[i].parent_hfd, *hfd, g->name);
        if (r == -EBUSY) {
            busy = r;
            continue;
        }
        close(*hfd);
        *hfd = -1;
    }
    return busy;
}

static void
cgroup_close_group(struct cgroup *g)
{
    for (int i = 0; i < HIERARCHIES_MAX; i++) {
        if (g->dir_hfd[i] >= 0)
            close(g->dir_hfd[i]);
        g->dir_hfd[i] = -1;
    }
}

/* Processes need some time to die. After a second the directories are given up:
 * the next sweep removes them. */
void
cgroup_fini(struct cgroup *g)
{
    for (int i = 0; i < REMOVE_TRIES && cgroup_try_fini(g) == -EBUSY; i++)
        (void)nanosleep(&(struct timespec){.tv_nsec = REMOVE_WAIT_NS}, NULL);
    cgroup_close_group(g);
}

int
cgroup_start_hfd(const struct cgroup *g)
{
    return g->host->starts_inside ? g->dir_hfd[g->host->unified] : -1;
}

/* A process that clone3 started inside the unified group is not moved there
 * again. */
int
cgroup_move(const struct cgroup *g, pid_t pid)
{
    char text[16];

    (void)snprintf(text, sizeof text, "%d", pid);
    for (int i = 0; i < g->host->n; i++) {
        if (g->host->starts_inside && i == g->host->unified)
            continue;
        int r = file_write_text(g->dir_hfd[i], "cgroup.procs", text);
        if (r < 0)
            return r;
    }
    return 0;
}

static bool
cgroup_read_figure(int dir_hfd, const char *file, const char *key,
                   uint64_t *ret)
{
    char text[TEXT_BYTES];

    if (file_read_text(dir_hfd, file, text, sizeof text) < 0)
        return false;
    if (key)
        return cgroup_text_counter(text, key, ret);
    *ret = strtoull(text, NULL, 10);
    return true;
}

void
cgroup_count(const struct cgroup *g, struct cgroup_counters *ret)
{
    *ret = (struct cgroup_counters){0};
    for (size_t i = 0; i < COUNT(figures); i++) {
        const struct figure *f = &figures[i];
        if (cgroup_version_of(g, f->controller) == f->version &&
            cgroup_read_figure(cgroup_dir_of(g, f->controller), f->file, f->key,
                               (uint64_t *)((char *)ret + f->offset)))
            ret->has[f->controller] = true;
    }
    if (g->host->unified >= 0)
        (void)cgroup_read_figure(g->dir_hfd[g->host->unified], "cpu.stat",
                                 "usage_usec", &ret->cpu_us);
}

bool
cgroup_had_oom(const struct cgroup *g)
{
    struct cgroup_counters c;

    cgroup_count(g, &c);
    return c.oom_kills;
}

/* The page cache can be reclaimed and does not count. Files in a tmpfs (shmem)
 * are part of the cache figure, but cannot be reclaimed, so they do count. */
int
cgroup_memory(const struct cgroup *g, uint64_t *ret_bytes)
{
    int version = cgroup_version_of(g, CTL_memory);
    uint64_t all, cache, shmem;
    char text[TEXT_BYTES];

    if (!version)
        return -ENOENT;
    int hfd = cgroup_dir_of(g, CTL_memory);
    if (!cgroup_read_figure(
            hfd, version == 2 ? "memory.current" : "memory.usage_in_bytes",
            NULL, &all) ||
        file_read_text(hfd, "memory.stat", text, sizeof text) < 0 ||
        !cgroup_text_counter(text, version == 2 ? "file" : "cache", &cache) ||
        !cgroup_text_counter(text, "shmem", &shmem))
        return -EIO;
    uint64_t clean = cache > shmem ? cache - shmem : 0;
    *ret_bytes = all > clean ? all - clean : 0;
    return 0;
}

/* Writing a lower limit makes the kernel reclaim, and with v2 kill. The limit
 * is raised again at once, because files may grow. */
int
cgroup_squeeze(const struct cgroup *g, uint64_t bytes)
{
    const char *file = cgroup_version_of(g, CTL_memory) == 2
                           ? "memory.max"
                           : "memory.limit_in_bytes";
    int hfd = cgroup_dir_of(g, CTL_memory);
    char tight[32], wide[32];

    (void)snprintf(tight, sizeof tight, "%llu", (unsigned long long)bytes);
    (void)snprintf(wide, sizeof wide, "%llu",
                   (unsigned long long)g->memory_wall);
    int r = file_write_text(hfd, file, tight);
    (void)file_write_text(hfd, file, wide);
    return r;
}
