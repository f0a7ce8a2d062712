/* Root images: the entries of an archive, indexed as a tree.
 *
 * An image is never changed after it was indexed, so sandboxes on several
 * threads share it. A sandbox starts with a clone of its tree. */
#ifndef TREE_IMAGE_H
#define TREE_IMAGE_H

#include "base/own.h"
#include "tree/entry.h"
#include "tree/tree.h"

struct image;

/* Why an archive was refused, and the offset of the entry. */
struct image_error {
    uint64_t offset;
    char reason[200];
};

/* Indexes the entries of a source. Names are relative to the root, absolute
 * ones too. If two entries have the same name, the last one wins. Lasting
 * pieces must stay, unchanged, until the image and all trees cloned from it are
 * gone.
 *
 * -ENOMEM. -EINVAL with *err set: the source is damaged, or an entry is a
 * device, a hard link to nothing, or has an invalid name. A name is invalid
 * with a component "..", if it is too long, or below something that is no
 * directory. */
int image_index(struct entry_source *from, OWN struct image **ret,
                struct image_error *err);
/* The count is atomic: sandboxes on several threads share images. */
struct image *image_get(struct image *img);
void image_put(OWN struct image *img); /* accepts NULL */
/* Returns the tree, which can be cloned; it costs no quota. */
const struct tree *image_tree(const struct image *img);
DEFINE_CLEANUP(struct image *, image_put)

#endif
