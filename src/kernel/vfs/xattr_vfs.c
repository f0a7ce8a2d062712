/* Operations on extended attributes, with permissions and read-only mounts. */
#include "kernel/vfs/notify.h"
#include "kernel/vfs/vfs.h"

#include <errno.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/xattr.h>
#include <unistd.h>

/* Checks the rights to attributes. Only files and directories have attributes
 * of users. In a sticky directory, only its owner sets them. */
static int
xattr_may_use(const struct caller *as, const struct vnode *v, int want)
{
    bool is_set = want & W_OK;
    struct attr a;

    int r = vnode_getattr(v, &a);
    if (r < 0)
        return r;
    if (!S_ISREG(a.mode) && !S_ISDIR(a.mode))
        return is_set ? -EPERM : -ENODATA;
    if (is_set && S_ISDIR(a.mode) && a.mode & S_ISVTX && as->cred.uid != 0 &&
        as->cred.uid != a.uid)
        return -EPERM;
    return vfs_access(&as->cred, &a, want);
}

static int
xattr_find_list(const struct vnode *v, const struct xattrs **ret)
{
    struct fs *fs = v->mnt->fs;

    return fs->ops->xattrs ? fs->ops->xattrs(fs, v->ino, ret) : -EOPNOTSUPP;
}

int64_t
vfs_get_xattr(const struct caller *as, const struct vnode *v, const char *name,
              void *buf, size_t size)
{
    const struct xattrs *x = NULL;
    const void *value = NULL;
    size_t len = 0;

    int r = xattr_check_name(name);
    if (r == 0)
        r = xattr_may_use(as, v, R_OK);
    if (r == 0)
        r = xattr_find_list(v, &x);
    if (r == 0)
        r = xattrs_find(x, (struct xattr_name){name, strlen(name)}, &value,
                        &len);
    if (r < 0)
        return r;
    if (size && len > size)
        return -ERANGE;
    if (size && len)
        memcpy(buf, value, len);
    return (int64_t)len;
}

/* XATTR_CREATE and XATTR_REPLACE demand that the attribute is missing, or
 * there. */
static int
xattr_check_flags(const struct xattrs *x, struct xattr_name name, int flags)
{
    const void *value;
    size_t len;
    bool is_there = xattrs_find(x, name, &value, &len) == 0;

    if (flags & XATTR_CREATE && is_there)
        return -EEXIST;
    return flags & XATTR_REPLACE && !is_there ? -ENODATA : 0;
}

int
vfs_set_xattr(const struct caller *as, const struct dentry *d, const char *name,
              const void *value, size_t len, int flags)
{
    const struct vnode *v = &d->node;
    struct fs *fs = v->mnt->fs;
    struct xattr_name n = {name, strlen(name)};
    const struct xattrs *x = NULL;

    int r = v->mnt->read_only ? -EROFS : xattr_check_name(name);
    if (r == 0)
        r = xattr_may_use(as, v, W_OK);
    if (r == 0)
        r = xattr_find_list(v, &x);
    if (r == 0)
        r = xattr_check_flags(x, n, flags);
    if (r == 0)
        r = fs->change->set_xattr(fs, v->ino, n, value, len);
    if (r == 0)
        notify_report(d, IN_ATTRIB);
    return r;
}

int64_t
vfs_list_xattrs(const struct vnode *v, char *buf, size_t size)
{
    const struct xattrs *x = NULL;

    int r = xattr_find_list(v, &x);
    return r < 0 ? r : xattrs_list(x, size ? buf : NULL, size);
}
