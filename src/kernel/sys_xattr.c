/* System calls on extended attributes: set, get, list and remove, each for a
 * path, a link and a descriptor. The three forms share one function, and a
 * macro defines them. */
#include "kernel/kernel.h"
#include "kernel/sys_path.h"
#include "kernel/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/xattr.h>

enum { XATTR_VALUE_MAX = 65536 };

/* Whose attributes: of a path, of the link that it may end in, of a
 * descriptor. */
enum subject { OF_PATH, OF_LINK, OF_FD };

struct xattr_target {
    struct found found; /* the entry's name is in it */
    struct dentry entry;
    char name[XATTR_NAME_BYTES];
};

static int
sys_xattr_find_file(struct task *t, int fd, struct xattr_target *ret)
{
    const struct file *f = fd_file(t, fd);

    ret->entry = file_dentry(f);
    return f->node.mnt ? 0 : -EOPNOTSUPP;
}

static int
sys_xattr_find_target(struct task *t, enum subject of, const union sysarg *a,
                      struct xattr_target *ret)
{
    uint32_t at = of == OF_LINK ? AT_SYMLINK_NOFOLLOW : 0;

    if (of == OF_FD)
        return sys_xattr_find_file(t, a->i, ret);
    int r = sys_find(t, AT_FDCWD, a->addr, at, &ret->found);
    if (r == 0 && !ret->found.node.mnt)
        r = -EOPNOTSUPP;
    if (r == 0)
        ret->entry = found_dentry(&ret->found);
    return r;
}

/* Finds the file, and copies the name of an attribute at `name`. -ERANGE: an
 * empty or too long name. */
static int
sys_xattr_find_named(struct task *t, enum subject of, const union sysarg *a,
                     gaddr name, struct xattr_target *ret)
{
    int64_t len = guest_string(t, name, ret->name, sizeof ret->name);

    if (len <= 0)
        return len == -EFAULT ? -EFAULT : -ERANGE;
    return sys_xattr_find_target(t, of, a, ret);
}

/* Returns memory of the guest to fill: no more of it than a value can need, so
 * that a huge size is not an error. */
static int
sys_xattr_get_room(struct task *t, gaddr at, uint32_t *size, void **ret)
{
    *size = *size < XATTR_VALUE_MAX ? *size : XATTR_VALUE_MAX;
    *ret = guest_out(t, at, *size);
    return *ret ? 0 : -EFAULT;
}

/* set(subject, name, value, size, flags) */
static int64_t
sys_xattr_set(struct task *t, enum subject of, const union sysarg *a)
{
    struct xattr_target to;

    if (a[3].u > XATTR_VALUE_MAX)
        return -E2BIG;
    int r = sys_xattr_find_named(t, of, a, a[1].addr, &to);
    if (r < 0)
        return r;
    const void *value = guest_in(t, a[2].addr, a[3].u);
    if (!value)
        return -EFAULT;
    return vfs_set_xattr(&t->as, &to.entry, to.name, value, a[3].u, a[4].i);
}

/* get(subject, name, value, size) */
static int64_t
sys_xattr_get(struct task *t, enum subject of, const union sysarg *a)
{
    uint32_t size = a[3].u;
    struct xattr_target from;
    void *room = NULL;

    int r = sys_xattr_find_named(t, of, a, a[1].addr, &from);
    if (r == 0 && size)
        r = sys_xattr_get_room(t, a[2].addr, &size, &room);
    return r < 0
               ? r
               : vfs_get_xattr(&t->as, &from.entry.node, from.name, room, size);
}

/* list(subject, names, size) */
static int64_t
sys_xattr_list(struct task *t, enum subject of, const union sysarg *a)
{
    uint32_t size = a[2].u;
    struct xattr_target from;
    void *room = NULL;

    int r = sys_xattr_find_target(t, of, a, &from);
    if (r == 0 && size)
        r = sys_xattr_get_room(t, a[1].addr, &size, &room);
    return r < 0 ? r : vfs_list_xattrs(&from.entry.node, room, size);
}

/* take(subject, name) */
static int64_t
sys_xattr_take(struct task *t, enum subject of, const union sysarg *a)
{
    struct xattr_target to;

    int r = sys_xattr_find_named(t, of, a, a[1].addr, &to);
    return r < 0 ? r : vfs_set_xattr(&t->as, &to.entry, to.name, NULL, 0, 0);
}

#define FAMILY(name, what)                                     \
    int64_t sys_##name(struct task *t, const union sysarg *a)  \
    {                                                          \
        return what(t, OF_PATH, a);                            \
    }                                                          \
    int64_t sys_l##name(struct task *t, const union sysarg *a) \
    {                                                          \
        return what(t, OF_LINK, a);                            \
    }                                                          \
    int64_t sys_f##name(struct task *t, const union sysarg *a) \
    {                                                          \
        return what(t, OF_FD, a);                              \
    }

FAMILY(setxattr, sys_xattr_set)
FAMILY(getxattr, sys_xattr_get)
FAMILY(listxattr, sys_xattr_list)
FAMILY(removexattr, sys_xattr_take)
