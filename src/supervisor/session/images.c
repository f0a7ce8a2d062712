/* Root images that are kept, and workers with them.
 *
 * A session depends on the exact image it was created with: its records are
 * differences from it. After an upgrade of the program, the old image is
 * therefore still needed, and is kept by its hash. */
#include "supervisor/session/images.h"

#include "base/hfd.h"
#include "supervisor/config/config.h"
#include "supervisor/session/life.h"
#include "supervisor/session/say.h"
#include "supervisor/session/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PATH_BYTES = 1200, COPY_BYTES = 1 << 30 };

/* --- the table */

/* Adds an image to the table; its file may or may not exist. */
static struct session_image *
images_image_new(struct supervisor *sv, const char *hash)
{
    struct session_image *i = calloc(1, sizeof *i);

    if (!i)
        return NULL;
    *i = (struct session_image){.sv = sv};
    (void)snprintf(i->hash, sizeof i->hash, "%s", hash);
    if (asprintf(&i->path, "%s/images/%s", sv->config->store_dir, i->hash) <
        0) {
        free(i);
        return NULL;
    }
    list_push_back(&sv->images.all, &i->link);
    return i;
}

/* The table is small: one entry for each image that a session uses. */
struct session_image *
image_find(struct supervisor *sv, const char *hash)
{
    LIST_FOR_EACH(it, &sv->images.all) {
        struct session_image *i = CONTAINER_OF(it, struct session_image, link);
        if (!strcmp(i->hash, hash))
            return i;
    }
    return images_image_new(sv, hash);
}

/* The file is removed, and workers that have it mapped keep it. */
void
image_drop(struct session_image *i)
{
    if (!i->n_sessions && i != i->sv->images.current)
        (void)unlink(i->path);
}

/* --- the current one */

/* New sessions use this image from now on. */
int
images_set_current(struct supervisor *sv, const char *path)
{
    char hash[IMAGE_HASH_BYTES];

    int r = image_hash_cached(path, hash);
    if (r < 0)
        return r;
    sv->images.current = image_find(sv, hash);
    return sv->images.current ? 0 : -ENOMEM;
}

/* --- keeping */

/* A clone shares the blocks on file systems that can do so. */
static int
images_copy_bytes(int from, int to)
{
    ssize_t n = 1;

    if (ioctl(to, FICLONE, from) == 0)
        return 0;
    while (n > 0)
        n = sendfile(to, from, NULL, COPY_BYTES);
    return n < 0 ? -errno : 0;
}

/* The copy is durable when this returns; the caller then gives it its name. */
static int
images_copy(const char *path, const char *to)
{
    CLEANUP(hfd_closep) int from_hfd = open(path, O_RDONLY | O_CLOEXEC);
    CLEANUP(hfd_closep)
    int to_hfd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

    if (from_hfd < 0 || to_hfd < 0)
        return -errno;
    int r = images_copy_bytes(from_hfd, to_hfd);
    return r == 0 && fsync(to_hfd) < 0 ? -errno : r;
}

/* Makes a new name in the folder durable. */
static int
images_sync_folder(const char *path)
{
    CLEANUP(hfd_closep)
    int hfd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    return hfd < 0 || fsync(hfd) < 0 ? -errno : 0;
}

/* Keeps another name of the file if possible (a hard link), and a copy
 * otherwise. An upgrade puts a new file into its place and does not write into
 * the old one, which workers have mapped. The name becomes final when the file
 * is complete. */
static int
images_keep(const struct session_image *i, const char *path, const char *folder)
{
    char draft[PATH_BYTES + 8];

    if (access(i->path, R_OK) == 0)
        return 0;
    if (mkdir(folder, 0700) < 0 && errno != EEXIST)
        return -errno;
    (void)snprintf(draft, sizeof draft, "%s/new", folder);
    (void)unlink(draft);
    int r = linkat(AT_FDCWD, path, AT_FDCWD, draft, AT_SYMLINK_FOLLOW) == 0
                ? 0
                : images_copy(path, draft);
    if (r == 0 && rename(draft, i->path) < 0)
        r = -errno;
    if (r < 0)
        (void)unlink(draft);
    return r < 0 ? r : images_sync_folder(folder);
}

/* Removes files in the folder that belong to no session. They remain if a
 * supervisor was killed between the end of a session and the removal. */
static void
images_remove_others(struct supervisor *sv, const char *folder)
{
    DIR *d = opendir(folder);
    const struct dirent *e;

    while (d && (e = readdir(d))) {
        struct session_image *i = NULL;
        if (strlen(e->d_name) == IMAGE_HASH_BYTES - 1)
            i = image_find(sv, e->d_name);
        if (i)
            image_drop(i);
    }
    if (d)
        closedir(d);
}

/* A missing copy is not an error for sessions of today, only for those after an
 * upgrade, so it is logged. */
void
images_begin(struct supervisor *sv, const char *path,
             const struct pool_config *c, const struct cgroup_host *h)
{
    struct images *t = &sv->images;
    char folder[PATH_BYTES];

    t->pool_config = *c;
    t->pool_config.idle = 0;
    t->host = h;
    if (!t->current)
        return;
    (void)snprintf(folder, sizeof folder, "%s/images", sv->config->store_dir);
    int r = images_keep(t->current, path, folder);
    if (r < 0)
        say(sv, LEVEL_warn,
            "no copy of the root image in %s (%s): after an upgrade, sessions "
            "created with it cannot be resumed",
            folder, strerror(-r));
    images_remove_others(sv, folder);
}

/* --- workers */

/* A worker of this image is ready: the lives that wait for one get it. */
static void
images_on_ready(void *arg)
{
    const struct session_image *i = arg;

    lives_take_workers(i->sv);
}

/* This version of the program may not accept an old image. The calls that wait
 * for a worker are refused, instead of trying again for ever. */
static void
images_on_failed(void *arg, const char *why)
{
    const struct session_image *i = arg;

    say(i->sv, LEVEL_error,
        "no worker with the root image %s can be started: %s", i->hash, why);
    lives_refuse_image(i->sv, i, why);
    pool_forget_want(i->pool);
}

static void
images_on_ended(void *arg, struct worker *w)
{
    (void)arg;
    life_on_ended(w->user);
}

static const struct pool_events events_of_image = {.ready = images_on_ready,
                                                   .failed = images_on_failed,
                                                   .ended = images_on_ended};

/* Starts a pool for an image that is not current. The workers hash the image
 * themselves: it may have been damaged since it was stored. */
static int
images_begin_workers(struct session_image *i)
{
    struct images *t = &i->sv->images;
    struct pool_config c = t->pool_config;
    char *argv[IMAGE_ARGS] = {c.argv[0], "worker", "--root", i->path};
    size_t n = 4;

    if (c.compiles)
        argv[n++] = "--compile";
    if (t->code) {
        argv[n++] = "--checked-code";
        argv[n++] = t->code;
    }

    if (access(i->path, R_OK) < 0)
        return -ENOENT;
    memcpy(i->argv, argv, sizeof argv);
    c.argv = i->argv;
    c.events = &events_of_image;
    c.arg = i;
    return pool_new(&c, t->host, &i->pool);
}

int
image_take(struct session_image *i, const uint32_t *limit,
           OWN struct worker **ret)
{
    int r = i->pool ? 0 : images_begin_workers(i);

    return r < 0 ? r : pool_take(i->pool, limit, ret);
}

/* --- beginning and end */

void
images_init(struct images *t)
{
    *t = (struct images){0};
    list_init(&t->all);
}

/* Also ends the pools of the images. */
void
images_fini(struct images *t)
{
    LIST_FOR_EACH_SAFE(it, &t->all) {
        struct session_image *i = CONTAINER_OF(it, struct session_image, link);
        pool_free(i->pool);
        list_remove(&i->link);
        free(i->path);
        free(i);
    }
}
