/* Root images. New sessions use the installed one. A session keeps the image
 * that it was created with, so that image is kept beside the store, as
 * images/HASH, as long as there is such a session. Its workers come from a
 * separate pool, which keeps none ready in advance. */
#ifndef SUPERVISOR_IMAGES_H
#define SUPERVISOR_IMAGES_H

#include "supervisor/common/reactor.h"
#include "supervisor/session/image_hash.h"
#include "supervisor/workers/worker.h"

enum { IMAGE_ARGS = 8 };

struct supervisor;

/* A root image by its hash. Stays in memory until the end, even without
 * sessions. */
struct session_image {
    struct list link; /* in images.all */
    struct supervisor *sv;
    char hash[IMAGE_HASH_BYTES];
    size_t n_sessions;
    char *path;        /* its copy beside the store */
    struct pool *pool; /* NULL: not needed yet */
    char *argv[IMAGE_ARGS];
};

/* All images that sessions refer to. */
struct images {
    struct list all;
    struct session_image
        *current; /* NULL: workers are not ours, and have no image */
    struct pool_config pool_config;
    const struct cgroup_host *host;
    char *code; /* compiled code whose owner was checked; NULL: none */
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
/* Keeps the current image, which is at `path`, and otherwise only those of
 * sessions. `c` is copied; data that it points to, and h, must stay. */
void images_begin(struct supervisor *sv, const char *path,
                  const struct pool_config *c, const struct cgroup_host *h);
/* Called when no session is left in memory. */
void images_fini(struct images *t);

#endif
