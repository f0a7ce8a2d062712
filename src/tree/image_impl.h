/* The indexer, which puts entries into a tree: shared by image.c, image_entry.c
 * and layer_read.c. */
#ifndef TREE_IMAGE_IMPL_H
#define TREE_IMAGE_IMPL_H

#include "tree/image.h"

/* The state of one pass over a source. `entry` is the current entry. */
struct indexer {
    struct entry_source *from;
    struct entry entry;
    struct tree *tree;
    struct image_error *err;
    bool is_layer; /* replaces existing files; contents are copied */
};

/* Sets *err for the current entry. Returns -EINVAL. */
int image_refuse(struct indexer *x, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Calls `add` for each entry of the source. */
int image_read(struct indexer *x, int (*add)(struct indexer *x));
/* -EINVAL: no name, "..", or too long. */
int image_check_path(struct indexer *x, const char *path);
/* Puts the current entry, with its content, into the tree. */
int image_add_entry(struct indexer *x);
/* layer_read.c: removes a name and everything below it. */
int layer_remove(struct tree *t, uint64_t dir, struct name name);

#endif
