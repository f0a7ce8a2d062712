/* The runtime: one engine, the root images, and the loading of programs. */
#include "lib/runtime.h"

#include "base/buf.h"
#include "base/image_name.h"
#include "base/text.h"
#include "base/vec.h"
#include "base/version.h"
#include "engine/engine.h"
#include "host/native.h"
#include "lib/error.h"
#include "lib/sized.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *
wsand_version(void)
{
    return WSAND_VERSION;
}

/* Finds the folder for compiled code below the user's cache folder, and creates
 * its parents. Returns false if there is none. */
static bool
runtime_default_cache_dir(char *buf, size_t size)
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

/* An empty cache_dir means no cache, and NULL the default one. */
static int
runtime_start_engine(struct wsand_runtime *rt,
                     const struct wsand_runtime_options *o,
                     struct wsand_error *err)
{
    char dir[1024], why[160] = "";
    struct engine_options eo = {.max_machines = o->max_processes,
                                .cache_dir = o->cache_dir,
                                .shipped_dir = o->shipped_dir,
                                .shipped_is_checked = o->shipped_is_checked,
                                .compiler = o->compiler,
                                .keeps_compiler = o->keeps_compiler};

    if (!o->cache_dir && runtime_default_cache_dir(dir, sizeof dir))
        eo.cache_dir = dir;
    if (eo.cache_dir && !*eo.cache_dir)
        eo.cache_dir = NULL;
    int r = engine_new(&eo, &rt->engine, why, sizeof why);
    return r < 0 ? error_errno(err, -r, "cannot start the engine: %s", why) : 0;
}

static int
runtime_set_broker(struct wsand_runtime *rt,
                   const struct wsand_runtime_options *o)
{
    rt->broker = o->broker ? strdup(o->broker) : NULL;
    rt->resolvers = o->resolvers ? strdup(o->resolvers) : NULL;
    rt->host_loopback = o->host_loopback;
    rt->network_hfd = o->network_hfd;
    return !rt->broker == !o->broker && !rt->resolvers == !o->resolvers
               ? 0
               : -ENOMEM;
}

/* --- images */

/* Adds an image that is opened later. */
static int
runtime_add_image(struct wsand_runtime *rt, const char *name, const char *path,
                  struct wsand_error *err)
{
    if (!VEC_ROOM(rt->images, rt->n_images))
        return error_set(err, ENOMEM, "out of memory");
    int r = root_image_init(&rt->images[rt->n_images++], name, path);
    return r < 0 ? error_set(err, ENOMEM, "out of memory") : 0;
}

static struct root_image *
runtime_image(const struct wsand_runtime *rt, const char *name)
{
    for (size_t i = 0; i < rt->n_images; i++)
        if (!strcmp(rt->images[i].name, name))
            return &rt->images[i];
    return NULL;
}

static int
runtime_add_named(struct wsand_runtime *rt, const struct wsand_image *i,
                  struct wsand_error *err)
{
    if (!i->name || !text_is_name((struct text){i->name, strlen(i->name)}))
        return error_set(err, EINVAL, "'%.64s' is not a name of an image",
                         i->name ? i->name : "");
    if (!i->path)
        return error_set(err, EINVAL, "image %s: no path", i->name);
    if (runtime_image(rt, i->name))
        return error_set(err, EINVAL, "there are two images '%s'", i->name);
    return runtime_add_image(rt, i->name, i->path, err);
}

/* The default image is opened now, so that its errors are found at the start.
 * A hash that the caller knows already saves reading the whole image. */
static int
runtime_set_images(struct wsand_runtime *rt,
                   const struct wsand_runtime_options *o,
                   struct wsand_error *err)
{
    int r = runtime_add_image(rt, IMAGE_DEFAULT, o->root_image, err);

    for (size_t i = 0; r == 0 && i < o->n_images; i++)
        r = runtime_add_named(rt, &o->images[i], err);
    if (r < 0)
        return r;
    struct root_image *first = rt->images;
    if (o->root_image_hash) {
        memcpy(first->hash, o->root_image_hash, sizeof first->hash);
        first->has_hash = true;
    }
    return root_image_open(first, err);
}

static int
runtime_refuse_image(const struct wsand_runtime *rt, const char *name,
                     struct wsand_error *err)
{
    CLEANUP(buf_fini) struct buf known;

    buf_init(&known, SIZE_MAX);
    for (size_t i = 0; i < rt->n_images; i++) {
        buf_puts(&known, i ? ", " : "");
        buf_puts(&known, rt->images[i].name);
    }
    return error_set(err, EINVAL,
                     "image: there is no image '%.64s'; known: %.*s", name,
                     (int)known.len, known.p ? known.p : "");
}

int
runtime_find_image(struct wsand_runtime *rt, const char *name,
                   struct root_image **ret, struct wsand_error *err)
{
    struct root_image *i = runtime_image(rt, name ? name : IMAGE_DEFAULT);

    if (!i)
        return runtime_refuse_image(rt, name, err);
    int r = root_image_open(i, err);
    if (r == 0)
        *ret = i;
    return r;
}

/* --- making and freeing */

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
    r = crews_init(&rt->crews, o.threads);
    if (r == 0)
        r = runtime_set_broker(rt, &o);
    if (r < 0)
        r = error_errno(err, -r, "cannot create the threads");
    if (r == 0)
        r = runtime_set_images(rt, &o, err);
    if (r == 0)
        r = runtime_start_engine(rt, &o, err);
    if (r == 0 && o.is_closed)
        r = runtime_close(rt, err);
    if (r < 0) {
        wsand_runtime_free(rt);
        return r;
    }
    *ret = rt;
    return 0;
}

/* Compilation happens in another process. `pending` keeps the result of the
 * last try alive, which owns the request that is waited for. */
int
runtime_load(struct wsand_runtime *rt, const struct program_source *src,
             OWN struct program **ret, char *why, size_t why_size)
{
    CLEANUP(program_putp) struct program *pending = NULL;

    for (;;) {
        struct program *p;
        int r = engine_ops()->load(rt->engine, src, &p, why, why_size);
        if (r == 0)
            *ret = p;
        if (r != -EINPROGRESS)
            return r;
        program_put(pending);
        pending = p;
        r = program_await(&host_native, p, -1, 0);
        if (r < 0)
            return r;
    }
}

void
wsand_compiler_main(void)
{
    compiler_main();
}

void
wsand_compilers_main(int (*seal)(const char **ret_where))
{
    compilers_main(seal);
}

/* The threads end first. The image files are unmapped last, because the engine
 * may refer to them. */
void
wsand_runtime_free(struct wsand_runtime *rt)
{
    if (!rt)
        return;
    crews_fini(&rt->crews);
    for (size_t i = 0; i < rt->n_images; i++)
        root_image_close(&rt->images[i]);
    engine_free(rt->engine);
    for (size_t i = 0; i < rt->n_images; i++)
        root_image_fini(&rt->images[i]);
    free(rt->images);
    free(rt->broker);
    free(rt->resolvers);
    free(rt);
}
