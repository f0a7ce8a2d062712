/* The folders and files of a sandbox without a root image. */
#ifndef LIB_SKELETON_H
#define LIB_SKELETON_H

#include <stddef.h>
#include <stdint.h>

struct attr;
struct tree;

/* Creates the folders and files of skeleton.def in an empty tree. */
int skeleton_fill(struct tree *t, int64_t now_ns);
/* Creates the folders that `path` needs (owned by a->uid) and a file. */
int skeleton_put_file(struct tree *t, const char *path, const void *data,
                      size_t len, const struct attr *a, int64_t now_ns,
                      uint64_t *ret_ino);
/* Returns the inode at an absolute path without links, or 0. */
uint64_t skeleton_find(const struct tree *t, const char *path);
/* Adds a name for an inode. */
int skeleton_link(struct tree *t, const char *path, uint64_t ino,
                  int64_t now_ns);

#endif
