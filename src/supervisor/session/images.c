/* Root images that are kept, and workers with them.
 *
 * A session depends on the exact image it was created with: its records are
 * differences from it. After an upgrade of the program, the old image is
 * therefore still needed, and is kept by its hash. */
#include "supervisor/session/images.h"

#include "base/hfd.h"
#include "base/image_name.h"
#include "supervisor/config/config.h"
#include "supervisor/config/image_list.h"
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

enum { PATH_BYTES = 1200, COPY_BYTES = 1 << 30, IMAGE_RAM_MB_MAX = 1024 };

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
    images_share_pool(i->sv);
    if (!i->n_sessions && !i->has_name)
        (void)unlink(i->path);
}

/* --- names */

/* Finds the image of an installed file by its hash. Two files with the same
 * contents are one image. */
static int
images_install(struct supervisor *sv, const char *path,
               struct session_image **ret)
{
    char hash[IMAGE_HASH_BYTES];

    int r = image_hash_cached(path, hash);
    if (r < 0)
        return r;
    struct session_image *i = image_find(sv, hash);
    if (i && !i->source)
        i->source = strdup(path);
    if (!i || !i->source)
        return -ENOMEM;
    i->has_name = true;
    *ret = i;
    return 0;
}

/* New sessions use this image from now on. */
int
images_set_current(struct supervisor *sv, const char *path)
{
    return images_install(sv, path, &sv->images.current);
}

int
images_add_names(struct supervisor *sv, const struct image_list *list,
                 bool are_disks)
{
    struct images *t = &sv->images;
    struct image_name *names =
        reallocarray(t->names, t->n_names + list->n + 1, sizeof *t->names);

    if (!names)
        return -ENOMEM;
    t->names = names;
    for (size_t n = 0; n < list->n; n++) {
        const struct image_entry *e = &list->v[n];
        struct image_name *to = &t->names[t->n_names];
        int r = images_install(sv, e->path, &to->image);
        if (r == 0 && !(to->name = strdup(e->name)))
            r = -ENOMEM;
        if (r == -ENOMEM)
            return r;
        if (r < 0)
            say(sv, LEVEL_warn, "image %s: %s: %s; sessions cannot use it",
                e->name, e->path, strerror(-r));
        else
            t->names[t->n_names++].image->is_disk = are_disks;
    }
    return 0;
}

static void
images_refuse(const struct images *t, struct call *q, const char *name,
              bool is_disk)
{
    CLEANUP(buf_fini) struct buf known;

    buf_init(&known, ANSWER_TEXT_BYTES / 2);
    buf_puts(&known, is_disk ? "" : IMAGE_DEFAULT);
    for (size_t i = 0; i < t->n_names; i++) {
        if (t->names[i].image->is_disk != is_disk)
            continue;
        buf_puts(&known, known.len ? ", " : "");
        buf_puts(&known, t->names[i].name);
    }
    answer_error(q, INVALID_PARAMS,
                 "%s: there is no image '%.64s'; known: %.*s",
                 is_disk ? "diskImage" : "image", name,
                 known.len ? (int)known.len : 4, known.len ? known.p : "none");
}

static struct session_image *
images_named(const struct images *t, const char *name, bool is_disk)
{
    for (size_t i = 0; i < t->n_names; i++)
        if (t->names[i].image->is_disk == is_disk &&
            !strcmp(t->names[i].name, name))
            return t->names[i].image;
    return NULL;
}

bool
images_choose(struct supervisor *sv, struct call *q, struct session_image **ret)
{
    const struct images *t = &sv->images;
    const char *disk = param_text(q, "diskImage");
    const char *name = disk ? disk : param_text(q, "image");

    *ret = t->current;
    if (!name || (!disk && !strcmp(name, IMAGE_DEFAULT)))
        return true;
    if (disk && !t->machine) {
        answer_error(q, INVALID_PARAMS,
                     "diskImage: libexec/wasmsand-v86 is not installed beside "
                     "the supervisor; `make v86` builds it");
        return false;
    }
    *ret = images_named(t, name, disk != NULL);
    if (!*ret)
        images_refuse(t, q, name, disk != NULL);
    return *ret;
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
images_keep(const struct session_image *i, const char *folder)
{
    char draft[PATH_BYTES + 8];

    if (access(i->path, R_OK) == 0)
        return 0;
    if (mkdir(folder, 0700) < 0 && errno != EEXIST)
        return -errno;
    (void)snprintf(draft, sizeof draft, "%s/new", folder);
    (void)unlink(draft);
    int r = linkat(AT_FDCWD, i->source, AT_FDCWD, draft, AT_SYMLINK_FOLLOW) == 0
                ? 0
                : images_copy(i->source, draft);
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
images_begin(struct supervisor *sv, const struct pool_config *c,
             const struct cgroup_host *h)
{
    struct images *t = &sv->images;
    char folder[PATH_BYTES];

    t->pool_config = *c;
    t->pool_config.idle = 0;
    t->host = h;
    if (!t->current)
        return;
    (void)snprintf(folder, sizeof folder, "%s/images", sv->config->store_dir);
    LIST_FOR_EACH(it, &t->all) {
        const struct session_image *i =
            CONTAINER_OF(it, struct session_image, link);
        int r = i->source ? images_keep(i, folder) : 0;
        if (r < 0)
            say(sv, LEVEL_warn,
                "no copy of the root image %s in %s (%s): after an upgrade, "
                "sessions created with it cannot be resumed",
                i->source, folder, strerror(-r));
    }
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

    say(i->sv, LEVEL_error, "no worker with the image %s can be started: %s",
        i->hash, why);
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

/* Writes the command line of the workers of a root image. An installed file was
 * hashed at the start. The workers hash a copy themselves: it may have been
 * damaged since it was stored. */
static void
images_put_words(const struct session_image *i, char *file, char **ret)
{
    const struct images *t = &i->sv->images;

    *ret++ = t->pool_config.argv[0];
    *ret++ = "worker";
    *ret++ = "--root";
    *ret++ = file;
    if (file == i->source) {
        *ret++ = "--image-hash";
        *ret++ = (char *)i->hash;
    }
    if (t->pool_config.compiles)
        *ret++ = "--compile";
    if (t->code) {
        *ret++ = "--checked-code";
        *ret++ = t->code;
    }
}

/* Writes the command line of the workers of a disk image. They boot with the
 * usual limits in advance; a session with others boots again. */
static void
images_put_disk_words(struct session_image *i, char *file, char **ret)
{
    const struct config *c = i->sv->config;
    uint32_t memory = c->standard[LIMIT_memory];

    (void)snprintf(i->memory_mb, sizeof i->memory_mb, "%u",
                   memory < IMAGE_RAM_MB_MAX ? memory : IMAGE_RAM_MB_MAX);
    (void)snprintf(i->disk_mb, sizeof i->disk_mb, "%u",
                   c->standard[LIMIT_disk]);
    *ret++ = i->sv->images.machine;
    *ret++ = "worker";
    *ret++ = "--disk-image";
    *ret++ = file;
    *ret++ = "--memory-limit";
    *ret++ = i->memory_mb;
    *ret++ = "--disk-limit";
    *ret++ = i->disk_mb;
}

/* Starts a pool for an image that is not current. */
static int
images_begin_workers(struct session_image *i)
{
    struct images *t = &i->sv->images;
    struct pool_config c = t->pool_config;
    bool is_installed = i->source && access(i->source, R_OK) == 0;
    char *file = is_installed ? i->source : i->path;

    if (access(file, R_OK) < 0 || (i->is_disk && !t->machine))
        return -ENOENT;
    if (i->is_disk)
        images_put_disk_words(i, file, i->argv);
    else
        images_put_words(i, file, i->argv);
    c.compiles &= !i->is_disk;
    c.argv = i->argv;
    c.events = &events_of_image;
    c.arg = i;
    return pool_new(&c, t->host, &i->pool);
}

int
image_take(struct session_image *i, const uint32_t *limit,
           OWN struct worker **ret)
{
    int r = 0;

    if (!i->pool) {
        r = images_begin_workers(i);
        images_share_pool(i->sv);
    }
    return r < 0 ? r : pool_take(i->pool, limit, ret);
}

/* An image is in use while there is a session with it. A pool that has more
 * workers ready than its share ends them. */
void
images_share_pool(struct supervisor *sv)
{
    uint32_t left = sv->config->pool_size;

    LIST_FOR_EACH(it, &sv->images.all) {
        struct session_image *i = CONTAINER_OF(it, struct session_image, link);
        bool has_one = i->has_name && i->n_sessions && left > 1;
        if (!i->pool)
            continue;
        pool_set_idle(i->pool, has_one);
        left -= has_one;
    }
    if (sv->pool)
        pool_set_idle(sv->pool, left);
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
        free(i->source);
        free(i->path);
        free(i);
    }
    for (size_t i = 0; i < t->n_names; i++)
        free(t->names[i].name);
    free(t->names);
}
