/* Functions that the file functions share: files.c for contents, files_tree.c
 * for names and attributes. */
#ifndef LIB_FILES_H
#define LIB_FILES_H

#include "kernel/kernel.h"
#include "lib/sandbox.h"

/* A path and its starting folder. Must not be copied: `at` points to `base`. */
struct file_at {
    struct at at;
    struct vnode base; /* of a relative path */
};

/* Makes ret->at act as root on the path. A path without a leading slash is
 * relative to the shell's folder; `~` and `~/...` mean the home folder. */
int file_begin(struct wsand_sandbox *sb, const char *path, struct file_at *ret,
               struct wsand_error *err);
/* Creates the missing parent folders of at->path. -ENOTDIR: one of them is not
 * a folder. */
int file_make_parents(const struct at *at);
/* Returns r, with a message if it is an error; a count becomes 0. */
int file_end(struct wsand_sandbox *sb, const char *path, int r,
             struct wsand_error *err);

#endif
