/* The command line of `limit`.
 *
 * Options that are limits have the value of their enum limit, so one function
 * handles all of them with the ranges of limits.def. The other options are
 * found in a table of functions. */
#include "supervisor/jail/options.h"

#include "base/parse.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_BACKEND = N_LIMITS, OPT_CGROUP, OPT_READ, OPT_UNENFORCED, OPT_HELP };

const char *const backend_names[] = {
    [BACKEND_v2] = "v2",
    [BACKEND_hybrid] = "hybrid",
    [BACKEND_v1] = "v1",
    [BACKEND_rlimits] = "rlimits",
};
enum { N_BACKENDS = sizeof backend_names / sizeof *backend_names };

static const struct option long_options[] = {
    {"memory", required_argument, NULL, LIMIT_memory},
    {"cpu", required_argument, NULL, LIMIT_cpu},
    {"disk", required_argument, NULL, LIMIT_disk},
    {"processes", required_argument, NULL, LIMIT_processes},
    {"network", no_argument, NULL, LIMIT_network},
    {"read", required_argument, NULL, OPT_READ},
    {"backend", required_argument, NULL, OPT_BACKEND},
    {"cgroup", required_argument, NULL, OPT_CGROUP},
    {"allow-unenforced", required_argument, NULL, OPT_UNENFORCED},
    {"help", no_argument, NULL, OPT_HELP},
    {0},
};

/* A parse in progress: the current option, and the buffer for its error. */
struct parse {
    struct options *o;
    const char *option, *value;
    char *why;
    size_t size;
};

/* Writes the error: the option, its value and the allowed values. */
static int
options_refuse(const struct parse *p, const char *allowed)
{
    (void)snprintf(p->why, p->size, "--%s '%.64s': %s", p->option, p->value,
                   allowed);
    return -EINVAL;
}

static int
options_take_limit(const struct parse *p, enum limit limit)
{
    const struct limit_row *row = &limit_rows[limit];
    char allowed[128];
    uint64_t n;

    if (limit == LIMIT_network) {
        p->o->limit[limit] = 1;
        return 0;
    }
    if (!parse_u64_text(p->value, row->max, &n) || n < row->min) {
        (void)snprintf(allowed, sizeof allowed,
                       "must be a number from %u to %u%s%s", row->min, row->max,
                       *row->unit ? " " : "", row->unit);
        return options_refuse(p, allowed);
    }
    p->o->limit[limit] = (uint32_t)n;
    return 0;
}

/* Excludes the back ends before this one in enum backend. The host may have
 * none of those that are left, except rlimits (cgroup_host.c). */
static int
options_take_backend(const struct parse *p)
{
    for (int i = 0; i < N_BACKENDS; i++) {
        if (!strcmp(p->value, backend_names[i])) {
            p->o->best = (enum backend)i;
            return 0;
        }
    }
    return options_refuse(p, "must be v2, hybrid, v1 or rlimits");
}

/* Absolute, not too long, and without "..": the path is used in another
 * root. */
static bool
options_is_plain_path(const char *path)
{
    size_t n = strlen(path);

    return *path == '/' && n < READ_PATH_BYTES && !strstr(path, "/../") &&
           (n < 3 || strcmp(path + n - 3, "/..") != 0);
}

static int
options_take_cgroup(const struct parse *p)
{
    if (!options_is_plain_path(p->value))
        return options_refuse(p, "must be an absolute path without '..'");
    p->o->cgroup = p->value;
    return 0;
}

/* Each --read adds a path. The root is refused: the jail would see everything
 * of the host. */
static int
options_take_read(const struct parse *p)
{
    size_t n = 0;

    while (p->o->read[n])
        n++;
    if (n == READ_PATHS_MAX)
        return options_refuse(p, "at most 16 of these");
    if (!options_is_plain_path(p->value) || !p->value[1])
        return options_refuse(
            p, "must be an absolute path without '..', not the root");
    p->o->read[n] = p->value;
    return 0;
}

/* The option may be repeated, once for each limit. */
static int
options_take_unenforced(const struct parse *p)
{
    for (int i = 0; i < N_LIMITS; i++) {
        if (!strcmp(p->value, limit_rows[i].name)) {
            p->o->unenforced_ok[i] = true;
            return 0;
        }
    }
    return options_refuse(p, "must be memory, cpu, disk, processes or network");
}

static int
options_take_help(const struct parse *p)
{
    p->o->help = true;
    return 0;
}

/* The functions of all options that are not limits. */
static int (*const takers[])(const struct parse *p) = {
    [OPT_BACKEND] = options_take_backend,
    [OPT_CGROUP] = options_take_cgroup,
    [OPT_READ] = options_take_read,
    [OPT_UNENFORCED] = options_take_unenforced,
    [OPT_HELP] = options_take_help,
};

/* Values point into argv. Limits that are not given have their defaults, so a
 * jail always has all limits. */
int
options_parse(struct options *o, int argc, char **argv, char *why, size_t size)
{
    struct parse p = {.o = o, .why = why, .size = size};
    int c, index;

    *o = (struct options){.best = BACKEND_v2};
    for (int i = 0; i < N_LIMITS; i++)
        o->limit[i] = limit_rows[i].standard;
    optind = 0; /* from the start, also the second time */
    opterr = 0;
    while ((c = getopt_long(argc, argv, "+:", long_options, &index)) != -1) {
        if (c == '?' || c == ':') {
            (void)snprintf(why, size, "%.64s: %s", argv[optind - 1],
                           c == ':' ? "needs a value"
                                    : "not an option; see wasm-sandbox limit "
                                      "--help");
            return -EINVAL;
        }
        p.option = long_options[index].name;
        p.value = optarg ? optarg : "";
        int r = c < N_LIMITS ? options_take_limit(&p, (enum limit)c)
                             : takers[c](&p);
        if (r < 0)
            return r;
    }
    o->command = argv + optind;
    return 0;
}

void
options_print(void)
{
    for (int i = 0; i < N_LIMITS; i++) {
        const struct limit_row *row = &limit_rows[i];
        if (i == LIMIT_network)
            printf("  --%-18s share the host's network; otherwise %s\n",
                   row->name, row->what);
        else
            printf("  --%-9s N        %s [%u%s%s]\n", row->name, row->what,
                   row->standard, *row->unit ? " " : "", row->unit);
    }
    printf(
        "  --read PATH          a host path that the command may read (at most "
        "16)\n"
        "  --allow-unenforced L start even if this host cannot enforce limit "
        "L\n"
        "  --cgroup PATH        create cgroups under PATH, not under our own\n"
        "  --backend NAME       the best back end to use: v2, hybrid, v1 or "
        "rlimits\n");
}
