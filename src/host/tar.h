/* Root images and layers as tars (ustar with PAX extensions). */
#ifndef HOST_TAR_H
#define HOST_TAR_H

#include "base/buf.h"
#include "tree/layer.h"

/* image_index of a tar that the caller has mapped. Contents point into the map,
 * which must stay, unchanged, until the image and all trees cloned from it are
 * gone. -EINVAL, with *err set: damaged, or refused by image_index. -ENOMEM. */
int tar_index(const void *map, size_t len, OWN struct image **ret,
              struct image_error *err);
/* layer_apply of a tar. */
int tar_apply(const void *tar, size_t len, struct tree *t,
              struct layer_manifest *manifest, struct image_error *err);
/* layer_write, appended to `out` as a tar. -EFBIG: more than `out` may have. */
int tar_write(const struct tree *base, const struct tree *t,
              const struct layer_manifest *manifest, struct buf *out,
              struct image_error *err);

#endif
