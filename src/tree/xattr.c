/* Lists of extended attributes: immutable, so that clones share them.
 *
 * A change makes a new list. Lists are short and changes are rare, so names are
 * found by a linear search. */
#include "tree/xattr.h"

#include "record/record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Beside the bytes of a list: its head, and what malloc takes. */
enum { LIST_FEE_BYTES = 48 };

int
xattr_check_name(const char *name)
{
    size_t len = strlen(name);

    if (!len || len >= XATTR_NAME_BYTES)
        return -ERANGE;
    if (strncmp(name, "user.", 5) != 0)
        return -EOPNOTSUPP;
    return name[5] ? 0 : -EINVAL;
}

uint64_t
xattrs_cost(const struct xattrs *x)
{
    return x && !x->is_uncharged ? x->len + UINT64_C(0) + LIST_FEE_BYTES : 0;
}

struct xattrs *
xattrs_get(struct xattrs *x)
{
    if (x)
        shared_get(&x->ref);
    return x;
}

void
xattrs_put(OWN struct xattrs *x)
{
    if (x && shared_put(&x->ref))
        free(x);
}

static struct xattrs *
xattr_alloc(size_t len)
{
    struct xattrs *x = malloc(sizeof *x + len);

    if (!x)
        return NULL;
    *x = (struct xattrs){.len = (uint32_t)len};
    shared_init(&x->ref);
    return x;
}

struct xattrs *
xattrs_new(const void *bytes, size_t len)
{
    struct xattrs *x = xattr_alloc(len);

    if (x)
        memcpy(x->bytes, bytes, len);
    return x;
}

static bool
xattr_is_named(const struct record_attr *a, struct xattr_name name)
{
    return a->name_len == name.len && !memcmp(a->name, name.s, name.len);
}

int
xattrs_find(const struct xattrs *x, struct xattr_name name, const void **ret,
            size_t *ret_len)
{
    struct record_attr a;

    for (size_t at = 0; x && record_attr_get(x->bytes, x->len, &at, &a) > 0;) {
        if (!xattr_is_named(&a, name))
            continue;
        *ret = a.value;
        *ret_len = a.value_len;
        return 0;
    }
    return -ENODATA;
}

/* A changed attribute becomes the first one of the list. */
int
xattrs_with(const struct xattrs *x, struct xattr_name name, const void *value,
            size_t len, OWN struct xattrs **ret)
{
    struct record_attr a = {name.s, name.len, value, len};
    size_t old = x ? x->len : 0, most = old + name.len + len + RECORD_ATTR_HEAD;
    size_t used = 0;

    struct xattrs *n = xattr_alloc(most);
    if (!n)
        return -ENOMEM;
    if (value)
        used = record_attr_put(&a, n->bytes);
    for (size_t at = 0; x && record_attr_get(x->bytes, x->len, &at, &a) > 0;)
        if (!xattr_is_named(&a, name))
            used += record_attr_put(&a, n->bytes + used);
    n->len = (uint32_t)used;
    if (!used || used > RECORD_ATTRS_MAX) {
        free(n);
        n = NULL;
    }
    if (used > RECORD_ATTRS_MAX)
        return -ENOSPC;
    *ret = n;
    return 0;
}

int64_t
xattrs_list(const struct xattrs *x, char *buf, size_t size)
{
    struct record_attr a;
    size_t n = 0;

    for (size_t at = 0; x && record_attr_get(x->bytes, x->len, &at, &a) > 0;) {
        if (buf && n + a.name_len + 1 > size)
            return -ERANGE;
        if (buf) {
            memcpy(buf + n, a.name, a.name_len);
            buf[n + a.name_len] = 0;
        }
        n += a.name_len + 1;
    }
    return (int64_t)n;
}
