/* The options of a sandbox, kept for its forks and for status. */
#include "lib/lib.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SNAPSHOTS = 64 };

static int
copy_mounts(struct wsand_options *to, const struct wsand_options *from)
{
    struct wsand_mount *v = calloc(from->n_mounts + 1, sizeof *v);

    if (!v)
        return -ENOMEM;
    to->mounts = v;
    to->n_mounts = from->n_mounts;
    for (size_t i = 0; i < from->n_mounts; i++) {
        v[i] = (struct wsand_mount){
            .host_path = strdup(from->mounts[i].host_path),
            .guest_path = strdup(from->mounts[i].guest_path),
            .is_writable = from->mounts[i].is_writable};
        if (!v[i].host_path || !v[i].guest_path)
            return -ENOMEM;
    }
    return 0;
}

static int
copy_env(struct wsand_options *to, const char *const *env)
{
    size_t n = 0;

    while (env && env[n])
        n++;
    if (!n)
        return 0;
    char **v = calloc(n + 1, sizeof *v);
    if (!v)
        return -ENOMEM;
    to->env = (const char *const *)v;
    for (size_t i = 0; i < n; i++)
        if (!(v[i] = strdup(env[i])))
            return -ENOMEM;
    return 0;
}

int
options_copy(struct wsand_options *to, const struct wsand_options *from)
{
    *to = *from;
    to->mounts = NULL;
    to->n_mounts = 0;
    to->programs = NULL;
    to->n_programs = 0;
    to->env = NULL;
    if (!to->snapshots)
        to->snapshots = SNAPSHOTS;
    int r = copy_mounts(to, from);
    return r < 0 ? r : copy_env(to, from->env);
}

void
options_fini(struct wsand_options *o)
{
    for (size_t i = 0; i < o->n_mounts; i++) {
        free((char *)o->mounts[i].host_path);
        free((char *)o->mounts[i].guest_path);
    }
    free((struct wsand_mount *)o->mounts);
    for (const char *const *e = o->env; e && *e; e++)
        free((char *)*e);
    free((char **)o->env);
}
