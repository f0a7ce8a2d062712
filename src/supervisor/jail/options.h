/* The command line of `limit`. */
#ifndef SUPERVISOR_OPTIONS_H
#define SUPERVISOR_OPTIONS_H

#include "supervisor/config/limits.h"

#include <stdbool.h>
#include <stddef.h>

enum { READ_PATHS_MAX = 16, READ_PATH_BYTES = 1024 };

/* Back ends, best first; a host has one of them for each limit. */
enum backend { BACKEND_v2, BACKEND_hybrid, BACKEND_v1, BACKEND_rlimits };
extern const char *const backend_names[];

/* The parsed command line. Strings point into argv. */
struct options {
    uint32_t limit[N_LIMITS];
    bool unenforced_ok[N_LIMITS];
    enum backend best;  /* the best one to use */
    const char *cgroup; /* absolute, in each hierarchy; NULL: our own group */
    /* host paths that the command may read */
    const char *read[READ_PATHS_MAX + 1];
    char **command; /* NULL-terminated; may be empty */
    bool help;
};

/* argv[0] is the name of the sub-command. -EINVAL: `why` names the option, the
 * value and the allowed values. */
int options_parse(struct options *o, int argc, char **argv, char *why,
                  size_t size);
/* Prints the lines for --help. */
void options_print(void);

#endif
