/* Extended attributes of an inode: an immutable list of names and values, in
 * the form that records have them (record/record.h), shared by clones. */
#ifndef TREE_XATTR_H
#define TREE_XATTR_H

#include "base/own.h"
#include "tree/shared.h"

#include <stddef.h>

enum { XATTR_NAME_BYTES = 256 }; /* with the NUL */

struct xattr_name {
    const char *s; /* not NUL-terminated */
    size_t len;    /* 1 to 255 */
};

struct xattrs {
    struct shared ref;
    bool is_free; /* of the root image: costs no quota */
    uint32_t len;
    uint8_t bytes[];
};

/* Is it a name that a program may use: 0; -EOPNOTSUPP: not in the name space
 * "user."; -ERANGE, -EINVAL: too long or empty. */
int xattr_check_name(const char *name);

/* Bytes of the quota that a list takes; NULL: none. */
uint64_t xattrs_cost(const struct xattrs *x);
struct xattrs *xattrs_get(struct xattrs *x); /* NULL is fine */
void xattrs_put(OWN struct xattrs *x);       /* NULL is fine */
/* A list of these bytes, which record_check has passed; NULL: no memory. */
struct xattrs *xattrs_new(const void *bytes, size_t len);

/* The value: 0, or -ENODATA. */
int xattrs_find(const struct xattrs *x, struct xattr_name name,
                const void **ret, size_t *ret_len);
/* A list as x, but with this value for the name, or (value NULL) without it;
 * *ret is NULL for an empty one. -ENOSPC: too long, -ENOMEM. */
int xattrs_with(const struct xattrs *x, struct xattr_name name,
                const void *value, size_t len, OWN struct xattrs **ret);
/* The names, each with a NUL: their bytes, of which at most size are put into
 * buf (NULL: only counted). -ERANGE: more than size. */
int64_t xattrs_list(const struct xattrs *x, char *buf, size_t size);

#endif
