/* Root images: a plain tar (ustar with PAX extensions) that was mapped by the
 * caller, indexed as a tree whose contents point into the map. */
#ifndef TREE_IMAGE_H
#define TREE_IMAGE_H

#include "base/own.h"
#include "tree/tree.h"

struct image;

/* Why a tar was refused, and the offset of the entry. */
struct image_error {
    uint64_t offset;
    char reason[200];
};

/* The map must stay, unchanged, until the image and all trees cloned from it
 * are gone. Absolute names count from the root; of entries with the same name
 * the last wins. -EINVAL, with *err set: damaged, devices, names with "..",
 * too long or below what is no directory, hard links to nothing. -ENOMEM. */
int image_index(const void *map, size_t len, OWN struct image **ret,
                struct image_error *err);
/* The count is atomic: images are shared by sandboxes on several threads. */
struct image *image_get(struct image *img);
void image_put(OWN struct image *img); /* NULL is fine */
/* To be cloned; costs no quota. */
const struct tree *image_tree(const struct image *img);
DEFINE_CLEANUP(struct image *, image_put)

#endif
