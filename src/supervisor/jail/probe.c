/* Determines how this host enforces each limit.
 *
 * A limit that nothing enforces would be a false promise, so starting with one
 * is an error unless the user allows it by name. The table below is the single
 * place that knows the mechanisms. */
#include "supervisor/jail/probe.h"

#include "supervisor/config/config.h"
#include "supervisor/jail/jail.h"

#include "base/exit.h"
#include "seal/landlock.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static const struct {
    enum limit limit;
    int controller;    /* -1: none has to do with it */
    const char *by[3]; /* without a controller, v1, v2 */
} enforcers[N_LIMITS] = {
    {LIMIT_memory,
     CTL_memory,
     {"watchdog, RLIMIT_DATA of commands",
      "cgroup v1 memory.limit_in_bytes, watchdog",
      "cgroup v2 memory.max, watchdog"}},
    {LIMIT_cpu,
     CTL_cpu,
     {NULL, "cgroup v1 cpu.cfs_quota_us", "cgroup v2 cpu.max"}},
    {LIMIT_disk, -1, {"the sandbox; of commands, size of a tmpfs"}},
    {LIMIT_processes,
     CTL_pids,
     {"the sandbox, RLIMIT_NPROC in a user namespace",
      "the sandbox, cgroup v1 pids.max", "the sandbox, cgroup v2 pids.max"}},
    {LIMIT_network, -1, {"network namespace"}},
};

const char *
probe_enforcer(const struct cgroup_host *h, enum limit limit)
{
    int c = enforcers[limit].controller;
    int version = c < 0 || h->of[c] < 0 ? 0 : h->hier[h->of[c]].version;

    return enforcers[limit].by[version];
}

/* A compiler passes code to its worker in files, which only a memory controller
 * counts. Without one, the memory limit of such sessions is not enforced. */
const char *
probe_session_enforcer(const struct config *c, const struct cgroup_host *h,
                       enum limit limit)
{
    bool is_uncounted = limit == LIMIT_memory && h->of[CTL_memory] < 0 &&
                        c->compile == COMPILE_separate;

    return is_uncounted ? NULL : probe_enforcer(h, limit);
}

/* Builds a jail without a command: the other parts are tested, too. */
static int
probe_try_jail(const struct cgroup_host *h, const struct options *o,
               char where[WHERE_BYTES])
{
    struct cgroup group;
    struct jail jail;
    struct rusage usage;

    (void)snprintf(where, WHERE_BYTES, "cgroup");
    int r = jail_group(&group, h, o->limit);
    if (r < 0)
        return r;
    r = jail_start(&jail, o, &group, where);
    if (r == 0)
        jail_end(&jail, &usage);
    cgroup_fini(&group);
    return r;
}

static int
probe_print_table(const struct config *c, const struct cgroup_host *h)
{
    int missing = 0;

    for (int i = 0; i < N_LIMITS; i++) {
        const char *by = probe_session_enforcer(c, h, (enum limit)i);
        missing += !by;
        printf("%-10s %s\n", limit_rows[i].name, by ? by : "NOT ENFORCED");
    }
    return missing;
}

static void
probe_print_rest(const struct cgroup_host *h)
{
    int landlock = landlock_version();

    printf("%-10s %s\n", "back end", backend_names[cgroup_host_backend(h)]);
    printf("%-10s %s\n", "start",
           h->starts_inside ? "clone3 into the group"
           : h->n           ? "moved by cgroup.procs before it runs"
                            : "no group");
    if (landlock)
        printf("%-10s version %d\n", "Landlock", landlock);
    else
        printf("%-10s not in this kernel\n", "Landlock");
}

/* The status is 0 only if every limit is enforced and a jail can be built. */
int
probe_main(char *const *words)
{
    CLEANUP(config_freep) struct config *c = NULL;
    char *none[] = {NULL}, where[WHERE_BYTES];
    struct options o = {.command = none};
    struct cgroup_host h;

    if (config_load(words, &c) != 0)
        return EXIT_USAGE;
    o.best = (enum backend)c->backend;
    o.cgroup = *c->cgroup ? c->cgroup : NULL;
    memcpy(o.limit, c->standard, sizeof o.limit);
    cgroup_host_init(&h, &o);
    int missing = probe_print_table(c, &h);
    probe_print_rest(&h);
    int r = probe_try_jail(&h, &o, where);
    cgroup_host_fini(&h);
    if (r < 0)
        printf("%-10s NOT POSSIBLE: %s: %s\n", "jail", where, strerror(-r));
    else
        printf("%-10s namespaces, read-only root, seccomp\n", "jail");
    return missing || r < 0;
}
