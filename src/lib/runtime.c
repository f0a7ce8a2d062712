/* The runtime: one engine. */
#include "lib/lib.h"

#include "engine/engine.h"
#include "kernel/vfs/image.h"

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

static int
open_image(struct wsand_runtime *rt, const char *path, struct wsand_error *err)
{
    struct image_error why = {0};

    if (!path)
        return 0;
    int r = host_map(path, &rt->image_map, &rt->image_len);
    if (r < 0)
        return error_errno(err, -r, "root image %s", path);
    r = image_index(rt->image_map, rt->image_len, &rt->image, &why);
    if (r == -EINVAL)
        return error_set(err, EINVAL, "root image %s: at byte %llu: %s", path,
                         (unsigned long long)why.offset, why.reason);
    return r < 0 ? error_errno(err, -r, "root image %s", path) : 0;
}

static int
start_engine(struct wsand_runtime *rt, const struct wsand_runtime_options *o,
             struct wsand_error *err)
{
    char dir[1024], why[160] = "";
    struct engine_options eo = {.max_machines = o->max_processes,
                                .cache_dir = o->cache_dir,
                                .compiler = o->compiler};

    if (!o->cache_dir && default_cache_dir(dir, sizeof dir))
        eo.cache_dir = dir;
    if (eo.cache_dir && !*eo.cache_dir)
        eo.cache_dir = NULL;
    int r = engine_new(&eo, &rt->engine, why, sizeof why);
    return r < 0 ? error_errno(err, -r, "cannot start the engine: %s", why) : 0;
}

int
wsand_runtime_new(const struct wsand_runtime_options *given,
                  struct wsand_runtime **ret, struct wsand_error *err)
{
    struct wsand_runtime_options o;

    int r = SIZED_TAKE(&o, given, "wsand_runtime_options", err);
    if (r != 0)
        return r;
    struct wsand_runtime *rt = calloc(1, sizeof *rt);
    if (!rt)
        return error_set(err, ENOMEM, "out of memory");
    (void)pthread_mutex_init(&rt->shell.lock, NULL);
    r = open_image(rt, o.root_image, err);
    if (r == 0)
        r = start_engine(rt, &o, err);
    if (r < 0) {
        wsand_runtime_free(rt);
        return r;
    }
    *ret = rt;
    return 0;
}

void
wsand_compiler_main(void)
{
    compiler_main();
}

void
wsand_runtime_free(struct wsand_runtime *rt)
{
    if (!rt)
        return;
    shell_image_fini(&rt->shell);
    image_put(rt->image);
    engine_free(rt->engine);
    host_unmap(rt->image_map, rt->image_len);
    free(rt);
}
