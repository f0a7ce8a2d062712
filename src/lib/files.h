/* What the file functions share: files.c for contents, files_tree.c for names
 * and attributes. */
#ifndef LIB_FILES_H
#define LIB_FILES_H

#include "kernel/kernel.h"
#include "lib/lib.h"

enum { USER_ID = 1000 };

/* Checks the path, and makes *ret act as root on it. */
int file_begin(struct wsand_sandbox *sb, const char *path, struct at *ret,
               struct wsand_error *err);
/* r, with its message if it is an error; a count becomes 0. */
int file_end(struct wsand_sandbox *sb, const char *path, int r,
             struct wsand_error *err);

#endif
