/* Structures of the public interface that begin with their size, in the version
 * of the caller. This lets callers and the library be compiled with different
 * versions of the header. */
#ifndef LIB_SIZED_H
#define LIB_SIZED_H

#include "wasmsand.h"

#include <stddef.h>

/* -EINVAL and a message that names the structure: its size is less than that
 * of the size itself, or members that this version does not have are set. */
int sized_check(const void *p, const char *name, struct wsand_error *err);
/* Copies the caller's structure to *to, of `size` bytes; missing members are 0.
 */
int sized_take(void *to, size_t size, const void *from, const char *name,
               struct wsand_error *err);
#define SIZED_TAKE(to, from, name, err) \
    sized_take(to, sizeof *(to), from, name, err)
/* Fills the caller's checked *to, as far as its size allows. */
void sized_give(void *to, const void *from, size_t size);

#endif
