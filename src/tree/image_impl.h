/* What image.c and image_entry.c share: a run of the indexer. */
#ifndef TREE_IMAGE_IMPL_H
#define TREE_IMAGE_IMPL_H

#include "tree/image.h"

#include <archive.h>
#include <archive_entry.h>

struct indexer {
    const uint8_t *map;
    size_t len;
    struct archive *archive;
    struct archive_entry *entry;
    struct tree *tree;
    struct image_error *err;
    bool is_layer; /* replaces what is there; contents are copied */
};

/* Sets *err for the entry that the archive is at. Returns -EINVAL. */
int image_refuse(struct indexer *x, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* The same with the reason libarchive gives; or -ENOMEM. */
int image_refuse_archive(struct indexer *x);
/* Calls `add` for each entry of the tar. */
int image_read(struct indexer *x, int (*add)(struct indexer *x));
/* -EINVAL: no name, "..", or too long. */
int image_check_path(struct indexer *x, const char *path);
/* Puts x->entry, with its content, into the tree. */
int image_add_entry(struct indexer *x);
/* layer_read.c: removes a name with all that is below. */
int image_remove(struct tree *t, uint64_t dir, struct name name);

#endif
