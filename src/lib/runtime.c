/* The runtime: one engine. */
#include "lib/lib.h"

#include "engine/engine.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

#ifndef WSAND_VERSION
#define WSAND_VERSION "0.1.0"
#endif

const char *
wsand_version(void)
{
    return WSAND_VERSION;
}

/* The user's cache folder; false: there is none. */
static bool
default_cache_dir(char *buf, size_t size)
{
    const char *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n;

    if (xdg && *xdg == '/')
        n = snprintf(buf, size, "%s", xdg);
    else if (home && *home == '/')
        n = snprintf(buf, size, "%s/.cache", home);
    else
        return false;
    if (n < 0 || (size_t)n + 32 > size)
        return false;
    (void)mkdir(buf, 0700);
    (void)snprintf(buf + n, size - (size_t)n, "/wasmsand");
    (void)mkdir(buf, 0700);
    (void)snprintf(buf + n, size - (size_t)n, "/wasmsand/code");
    return true;
}

int
wsand_runtime_new(const struct wsand_runtime_options *o,
                  struct wsand_runtime **ret, struct wsand_error *err)
{
    char dir[1024], why[160] = "";
    struct engine_options eo = {.max_machines = o->max_processes,
                                .cache_dir = o->cache_dir};

    if (o->size < sizeof *o)
        return error_set(err, EINVAL, "wsand_runtime_options.size is %zu",
                         o->size);
    if (!o->cache_dir && default_cache_dir(dir, sizeof dir))
        eo.cache_dir = dir;
    if (eo.cache_dir && !*eo.cache_dir)
        eo.cache_dir = NULL;
    struct wsand_runtime *rt = calloc(1, sizeof *rt);
    if (!rt)
        return error_set(err, ENOMEM, "out of memory");
    int r = engine_new(&eo, &rt->engine, why, sizeof why);
    if (r < 0) {
        free(rt);
        return error_errno(err, -r, "cannot start the engine: %s", why);
    }
    *ret = rt;
    return 0;
}

void
wsand_runtime_free(struct wsand_runtime *rt)
{
    if (!rt)
        return;
    engine_free(rt->engine);
    free(rt);
}
