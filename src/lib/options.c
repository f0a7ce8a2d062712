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

/* A NULL-terminated list; NULL stays NULL. */
static int
copy_strings(const char *const **to, const char *const *from)
{
    size_t n = 0;

    if (!from)
        return 0;
    while (from[n])
        n++;
    char **v = calloc(n + 1, sizeof *v);
    if (!v)
        return -ENOMEM;
    *to = (const char *const *)v;
    for (size_t i = 0; i < n; i++)
        if (!(v[i] = strdup(from[i])))
            return -ENOMEM;
    return 0;
}

static void
free_strings(const char *const *v)
{
    for (const char *const *s = v; s && *s; s++)
        free((char *)*s);
    free((char **)v);
}

int
options_copy(struct wsand_options *to, const struct wsand_options *from)
{
    *to = *from;
    to->mounts = NULL;
    to->n_mounts = 0;
    to->programs = NULL;
    to->n_programs = 0;
    to->env = to->allow_tools = to->writable_paths = NULL;
    if (!to->snapshots)
        to->snapshots = SNAPSHOTS;
    int r = copy_mounts(to, from);
    if (r == 0)
        r = copy_strings(&to->env, from->env);
    if (r == 0)
        r = copy_strings(&to->allow_tools, from->allow_tools);
    if (r == 0)
        r = copy_strings(&to->writable_paths, from->writable_paths);
    return r;
}

void
options_fini(struct wsand_options *o)
{
    for (size_t i = 0; i < o->n_mounts; i++) {
        free((char *)o->mounts[i].host_path);
        free((char *)o->mounts[i].guest_path);
    }
    free((struct wsand_mount *)o->mounts);
    free_strings(o->env);
    free_strings(o->allow_tools);
    free_strings(o->writable_paths);
}
