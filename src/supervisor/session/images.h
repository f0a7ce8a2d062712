/* Root images. The installed one is that of new sessions; a session stays with
 * the one that it was made with, which is therefore kept beside the store, as
 * images/HASH, as long as there is such a session. Its workers come from a pool
 * of their own, which has none ready before they are wanted. */
#ifndef SUPERVISOR_IMAGES_H
#define SUPERVISOR_IMAGES_H

#include "supervisor/common/reactor.h"
#include "supervisor/session/image_hash.h"
#include "supervisor/workers/worker.h"

enum { IMAGE_ARGS = 6 };

struct supervisor;

struct image {
    struct list link; /* in images.all */
    struct supervisor *sv;
    char hash[IMAGE_HASH_BYTES];
    size_t n_sessions;
    char *path;        /* where it is kept */
    struct pool *pool; /* NULL: none was wanted yet */
    char *argv[IMAGE_ARGS];
};

struct images {
    struct list all;
    struct image *current; /* NULL: workers are not ours, and have none */
    struct pool_config pool_config;
    const struct cgroup_host *host;
};

/* The one with this hash, which may be new to us; NULL: no memory. */
struct image *image_find(struct supervisor *sv, const char *hash);
/* A session of it has ended: the last one's is removed. */
void image_drop(struct image *i);
/* As pool_take, for one that is not current. -ENOENT: it is not kept. */
int image_take(struct image *i, const uint32_t *limit, OWN struct worker **ret);

/* Before all else. */
void images_init(struct images *t);
/* Hashes the image at `path`, which is the current one then. -errno. */
int images_set_current(struct supervisor *sv, const char *path);
/* Keeps the current image, which is at `path`, and besides only those that
 * sessions have. `c` is copied; what it points to, and h, must stay. */
void images_begin(struct supervisor *sv, const char *path,
                  const struct pool_config *c, const struct cgroup_host *h);
/* When no session is left in memory. */
void images_fini(struct images *t);

#endif
