/* The difference between two trees as entries, in the form of a layer of an OCI
 * image: new and changed files, and whiteouts (.wh.NAME) for files that
 * are gone. */
#ifndef TREE_LAYER_H
#define TREE_LAYER_H

#include "base/own.h"
#include "tree/image.h"

/* A member at the top level that is not a file of the tree. */
struct layer_manifest {
    const char *name;
    char *data; /* read: freed with free(), NULL if there is none */
    size_t len;
};

/* Sends the difference of t to `base`, which it was cloned from. Sockets are
 * left out. -EINVAL and *err: a name that stands for something else in a layer
 * (.wh.NAME, the manifest's), or a path that is too long; -ENOMEM, or an error
 * of the sink. */
int layer_write(const struct tree *base, const struct tree *t,
                const struct layer_manifest *manifest, struct entry_sink *to,
                struct image_error *err);
/* Applies a layer to t: first the whiteouts, then the rest. Reads the manifest,
 * if there is one. -EINVAL and *err: as in image_index, absolute paths, or
 * invalid whiteouts. -ENOSPC: t's quota. -ENOMEM. After an error the contents
 * of t are undefined. */
int layer_apply(struct entry_source *from, struct tree *t,
                struct layer_manifest *manifest, struct image_error *err);

#endif
