/* The options of a sandbox: copies for its forks and for status.
 *
 * The caller's strings are valid during the call only, so everything is copied.
 * Programs are not: they are part of the files by then. */
#include "lib/options.h"

#include "lib/call.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Defaults for the number of snapshots and for the bytes that they keep. */
enum { SNAPSHOTS = 64, SNAPSHOT_BYTES = 256 << 20 };

/* Also called for mounts that are added later, so that forks have them. */
int
options_add_mount(struct wsand_options *o, const struct wsand_mount *m)
{
    struct wsand_mount *v =
        realloc((struct wsand_mount *)o->mounts, (o->n_mounts + 1) * sizeof *v);

    if (!v)
        return -ENOMEM;
    o->mounts = v;
    v += o->n_mounts++;
    *v = (struct wsand_mount){.host_path =
                                  m->host_path ? strdup(m->host_path) : NULL,
                              .guest_path = strdup(m->guest_path),
                              .is_writable = m->is_writable};
    if (v->guest_path && !v->host_path == !m->host_path)
        return 0;
    options_drop_mount(o);
    return -ENOMEM;
}

/* Removes the last mount, when mounting it has failed. */
void
options_drop_mount(struct wsand_options *o)
{
    const struct wsand_mount *m = &o->mounts[--o->n_mounts];

    free((char *)m->host_path);
    free((char *)m->guest_path);
}

/* A NULL-terminated list; NULL stays NULL. */
static int
options_copy_strings(const char *const **to, const char *const *from)
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
options_free_strings(const char *const *v)
{
    for (const char *const *s = v; s && *s; s++)
        free((char *)*s);
    free((char **)v);
}

static int
options_copy_limits(struct wsand_options *to, const struct wsand_options *from)
{
    struct wsand_mount_limit *v = calloc(from->n_mount_limits + 1, sizeof *v);

    to->mount_limits = v;
    for (size_t i = 0; v && i < from->n_mount_limits; i++) {
        v[i] = from->mount_limits[i];
        v[i].guest_path = strdup(v[i].guest_path);
        to->n_mount_limits++;
        if (!v[i].guest_path)
            return -ENOMEM;
    }
    return v ? 0 : -ENOMEM;
}

/* On an error the copy is incomplete, but options_fini can free it: all
 * pointers are NULL or own. */
int
options_copy(struct wsand_options *to, const struct wsand_options *from)
{
    *to = *from;
    to->mounts = NULL;
    to->n_mounts = 0;
    to->programs = NULL;
    to->n_programs = 0;
    to->env = to->allow_tools = to->writable_paths = to->network = NULL;
    to->cwd = to->image = NULL;
    to->mount_limits = NULL;
    to->n_mount_limits = 0;
    if (!to->snapshots)
        to->snapshots = SNAPSHOTS;
    if (!to->snapshot_bytes)
        to->snapshot_bytes = SNAPSHOT_BYTES;
    int r = commands_copy(to, from);
    if (r == 0 && from->cwd && !(to->cwd = strdup(from->cwd)))
        r = -ENOMEM;
    for (size_t i = 0; r == 0 && i < from->n_mounts; i++)
        r = options_add_mount(to, &from->mounts[i]);
    if (r == 0 && from->n_mount_limits)
        r = options_copy_limits(to, from);
    if (r == 0)
        r = options_copy_strings(&to->env, from->env);
    if (r == 0)
        r = options_copy_strings(&to->allow_tools, from->allow_tools);
    if (r == 0)
        r = options_copy_strings(&to->writable_paths, from->writable_paths);
    if (r == 0)
        r = options_copy_strings(&to->network, from->network);
    return r;
}

int
options_copy_network(struct wsand_options *to, const char *const *rules)
{
    int r = options_copy_strings(&to->network, rules);

    if (r < 0)
        options_fini(to);
    return r;
}

void
options_swap_network(struct wsand_options *a, struct wsand_options *b)
{
    const char *const *rules = a->network;

    a->network = b->network;
    b->network = rules;
}

void
options_fini(struct wsand_options *o)
{
    commands_free(o);
    free((char *)o->cwd);
    for (size_t i = 0; i < o->n_mount_limits; i++)
        free((char *)o->mount_limits[i].guest_path);
    free((struct wsand_mount_limit *)o->mount_limits);
    while (o->n_mounts)
        options_drop_mount(o);
    free((struct wsand_mount *)o->mounts);
    options_free_strings(o->env);
    options_free_strings(o->allow_tools);
    options_free_strings(o->writable_paths);
    options_free_strings(o->network);
}
