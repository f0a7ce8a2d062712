/* Root images: the entries of an archive, indexed as a tree. */
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

/* Absolute names count from the root; of entries with the same name the last
 * wins. Lasting pieces must stay, unchanged, until the image and all trees
 * cloned from it are gone. -EINVAL, with *err set: refused by the source,
 * devices, names with "..", too long or below what is no directory, hard links
 * to nothing. -ENOMEM. */
int image_index(struct entry_source *from, OWN struct image **ret,
                struct image_error *err);
/* The count is atomic: sandboxes on several threads share images. */
struct image *image_get(struct image *img);
void image_put(OWN struct image *img); /* accepts NULL */
/* Returns the tree, which can be cloned; it costs no quota. */
const struct tree *image_tree(const struct image *img);
DEFINE_CLEANUP(struct image *, image_put)

#endif
