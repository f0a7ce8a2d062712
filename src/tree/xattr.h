/* Extended attributes of an inode: an immutable list of names and values, in
 * the format of records (record/record.h), shared by clones. */
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
    bool is_uncharged; /* of the root image: not charged to the quota */
    uint32_t len;
    uint8_t bytes[];
};

/* Returns 0 for a name that a program may use. -EOPNOTSUPP: not in the name
 * space "user.". -ERANGE, -EINVAL: too long or empty. */
int xattr_check_name(const char *name);

/* Returns the quota bytes of a list; 0 for NULL. */
uint64_t xattrs_cost(const struct xattrs *x);
struct xattrs *xattrs_get(struct xattrs *x); /* accepts NULL */
void xattrs_put(OWN struct xattrs *x);       /* accepts NULL */
/* Creates a list of bytes that have passed record_check. NULL: no memory. */
struct xattrs *xattrs_new(const void *bytes, size_t len);

/* Finds the value of a name. -ENODATA. */
int xattrs_find(const struct xattrs *x, struct xattr_name name,
                const void **ret, size_t *ret_len);
/* Creates a copy of x with this value for the name, or without it (value NULL);
 * *ret is NULL for an empty list. -ENOSPC: too long. -ENOMEM. */
int xattrs_with(const struct xattrs *x, struct xattr_name name,
                const void *value, size_t len, OWN struct xattrs **ret);
/* Writes the names, each with a NUL, to buf (NULL: only counts) and returns
 * their length. -ERANGE: more than size. */
int64_t xattrs_list(const struct xattrs *x, char *buf, size_t size);

#endif
