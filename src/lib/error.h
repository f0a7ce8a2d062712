/* Errors that the library reports to its caller. */
#ifndef LIB_ERROR_H
#define LIB_ERROR_H

#include "wasmsand.h"

#include <stdint.h>

/* Fills *err, unless err is NULL, and returns -errnum. The message begins with
 * the errno's name. */
int error_set(struct wsand_error *err, int errnum, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* As error_set, with the text of errnum after the message. */
int error_errno(struct wsand_error *err, int errnum, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Sets a message like "ENOENT: no such file or directory: /path". This form is
 * part of the protocols. */
int error_path(struct wsand_error *err, int errnum, const char *path);
/* Marks *err as an error of the program, not of the sandbox, and returns r. */
int error_of_program(struct wsand_error *err, int r);
/* Gives *err a class, and returns r. */
int error_of_class(struct wsand_error *err, enum wsand_class c, int r);
/* -ENOSPC: "WHAT limit reached (max: N)", of class LIMIT_EXCEEDED. */
int error_limit(struct wsand_error *err, const char *what, uint64_t max);

#endif
