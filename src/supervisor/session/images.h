/* Root images. New sessions name one; without a name, they use the current one.
 * A session keeps the image that it was created with, so that image is kept
 * beside the store, as images/HASH, as long as there is such a session.
 *
 * The workers of an image that is not current come from a pool of its own. An
 * image that has a name and sessions keeps one worker ready, as long as
 * poolSize leaves one for the current image. */
#ifndef SUPERVISOR_IMAGES_H
#define SUPERVISOR_IMAGES_H

#include "supervisor/common/reactor.h"
#include "supervisor/session/image_hash.h"
#include "supervisor/workers/worker.h"

enum { IMAGE_ARGS = 10, IMAGE_NUMBER_BYTES = 12 };

struct call;
struct image_list;
struct supervisor;

/* A root image by its hash. Stays in memory until the end, even without
 * sessions. */
struct session_image {
    struct list link; /* in images.all */
    struct supervisor *sv;
    char hash[IMAGE_HASH_BYTES];
    size_t n_sessions;
    bool has_name;     /* or is current */
    bool is_disk;      /* a disk image of an x86 computer */
    char *source;      /* the installed file; NULL: of an older version */
    char *path;        /* its copy beside the store */
    struct pool *pool; /* NULL: not needed yet */
    char *argv[IMAGE_ARGS];
    char memory_mb[IMAGE_NUMBER_BYTES], disk_mb[IMAGE_NUMBER_BYTES];
};

/* A name, and the image that new sessions get by it. */
struct image_name {
    char *name;
    struct session_image *image;
};

/* All images that sessions refer to. */
struct images {
    struct list all;
    struct image_name *names;
    size_t n_names;
    struct session_image
        *current; /* NULL: workers are not ours, and have no image */
    struct pool_config pool_config;
    const struct cgroup_host *host;
    char *machine; /* the program that runs disk images; NULL: none */
    char *code;    /* compiled code whose owner was checked; NULL: none */
};

/* Returns the image with this hash, which may be new; NULL: no memory. */
struct session_image *image_find(struct supervisor *sv, const char *hash);
/* Called after a session of it has ended; the image of the last one is removed.
 */
void image_drop(struct session_image *i);
/* Like pool_take, for an image that is not current. -ENOENT: it is missing. */
int image_take(struct session_image *i, const uint32_t *limit,
               OWN struct worker **ret);

/* Must be called first. */
void images_init(struct images *t);
/* Hashes the image at `path` and makes it the current one. -errno. */
int images_set_current(struct supervisor *sv, const char *path);
/* Hashes the images of a list and gives them their names. An image that cannot
 * be read is logged and has no name. -ENOMEM. */
int images_add_names(struct supervisor *sv, const struct image_list *list,
                     bool are_disks);
/* Finds the image that the parameter `diskImage` of q names, or `image`;
 * without them, the current one. False: q was answered with the known names. */
bool images_choose(struct supervisor *sv, struct call *q,
                   struct session_image **ret);
/* Keeps the images with names, and otherwise only those of sessions. `c` is
 * copied; data that it points to, and h, must stay. */
void images_begin(struct supervisor *sv, const struct pool_config *c,
                  const struct cgroup_host *h);
/* Divides the ready workers among the images that are in use. */
void images_share_pool(struct supervisor *sv);
/* Called when no session is left in memory. */
void images_fini(struct images *t);

#endif
