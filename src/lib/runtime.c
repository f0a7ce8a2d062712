/* The runtime: one engine, the mapped root image, and the loading of
 * programs. */
#include "lib/runtime.h"

#include "base/version.h"
#include "engine/engine.h"
#include "host/native.h"
#include "host/tar.h"
#include "lib/error.h"
#include "lib/hostmap.h"
#include "lib/sized.h"
#include "lib/skeleton.h"
#include "tree/inode.h"
#include "tree/tree.h"

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

/* Returns the version in /etc/os-release of an image of ours, or "" for an
 * image of somebody else. */
static void
runtime_image_version(const struct tree *t, char *buf, size_t size)
{
    const struct inode *i = tree_find(t, skeleton_find(t, "/etc/os-release"));
    char text[1024] = "\n";

    *buf = 0;
    if (!i || i->size > sizeof text - 2)
        return;
    (void)inode_read(i, 0, text + 1, i->size);
    const char *p = strstr(text, "\nVERSION_ID=\"");
    if (p && strstr(text, "\nID=wasmsand\n"))
        (void)snprintf(buf, size, "%.*s", (int)strcspn(p + 13, "\""), p + 13);
}

/* The programs of an image are compiled against the kernel of the same version,
 * so another version is refused. A version like "1.2" accepts all of 1.2.x. */
static int
runtime_check_version(const struct wsand_runtime *rt, const char *path,
                      struct wsand_error *err)
{
    char found[32];

    runtime_image_version(image_tree(rt->image), found, sizeof found);
    size_t len = strlen(found);
    if (!strncmp(found, WSAND_VERSION, len) &&
        (!len || strchr(".", WSAND_VERSION[len])))
        return 0;
    return error_set(err, EINVAL, "root image %s: version %s instead of %s",
                     path, found, WSAND_VERSION);
}

/* The image stays mapped: files of sandboxes refer to its bytes without copying
 * them. */
static int
runtime_open_image(struct wsand_runtime *rt, const char *path,
                   struct wsand_error *err)
{
    struct image_error why = {0};

    if (!path)
        return 0;
    const struct host_file *f = &rt->image_file;
    int r = hostmap_open(path, &rt->image_file);
    if (r < 0)
        return error_errno(err, -r, "root image %s", path);
    r = tar_index(f->bytes, f->len, &rt->image, &why);
    if (r == -EINVAL)
        return error_set(err, EINVAL, "root image %s: at byte %llu: %s", path,
                         (unsigned long long)why.offset, why.reason);
    return r < 0 ? error_errno(err, -r, "root image %s", path)
                 : runtime_check_version(rt, path, err);
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

/* A hash of the image that the caller knows already saves reading the whole
 * image. */
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
    if (o.root_image_hash) {
        memcpy(rt->image_hash, o.root_image_hash, sizeof rt->image_hash);
        rt->has_image_hash = true;
    }
    r = crews_init(&rt->crews, o.threads);
    if (r < 0)
        r = error_errno(err, -r, "cannot create the threads");
    if (r == 0)
        r = runtime_open_image(rt, o.root_image, err);
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

/* The threads end first. The image file is unmapped last, because the engine
 * may refer to it. */
void
wsand_runtime_free(struct wsand_runtime *rt)
{
    if (!rt)
        return;
    crews_fini(&rt->crews);
    shell_image_fini(&rt->shell);
    image_put(rt->image);
    engine_free(rt->engine);
    hostmap_close(&rt->image_file);
    free(rt);
}
