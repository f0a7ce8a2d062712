/* Operations on paths, with permissions and read-only mounts.
 *
 * Each operation walks to its name, checks the rights in the order of Linux,
 * calls the file system, and reports the change to watches. A caller of NULL is
 * the host, which has all rights. */
#include "kernel/vfs/vfs.h"

#include "kernel/vfs/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

void
vfs_init(struct vfs *v, const struct vfs_hooks *hooks, const struct cred *user)
{
    *v = (struct vfs){.hooks = hooks, .user = user};
    list_init(&v->mounts);
    list_init(&v->files);
    list_init(&v->shmems);
}

/* A file of another user of the host. */
static bool
vfs_is_foreign(const struct attr *a)
{
    return a->is_hosts && a->uid == NOBODY_ID;
}

/* Root of the sandbox counts as a member of the groups that the serving process
 * has. */
static bool
vfs_is_in_group(const struct cred *c, const struct attr *a)
{
    if (a->is_hosts && c->uid == ROOT_ID)
        return a->gid != NOBODY_ID;
    return cred_has_group(c, a->gid);
}

/* The first class that applies decides, even if a later one would allow more.
 * Root needs an execute bit to execute a file. */
int
vfs_access(const struct cred *c, const struct attr *a, int want)
{
    uint32_t bits = a->mode;

    if (c->uid == ROOT_ID && !vfs_is_foreign(a))
        return want & X_OK && !S_ISDIR(a->mode) && !(a->mode & 0111) ? -EACCES
                                                                     : 0;
    if (c->uid == a->uid)
        bits >>= 6;
    else if (vfs_is_in_group(c, a))
        bits >>= 3;
    return (uint32_t)want & ~bits & 7 ? -EACCES : 0;
}

int
vnode_getattr(const struct vnode *v, struct attr *ret)
{
    return v->mnt->fs->ops->getattr(v->mnt->fs, v->ino, ret);
}

/* Returns true if the caller has all rights to an inode with attributes a. */
static bool
vfs_is_root(const struct caller *as, const struct attr *a)
{
    return !as || (as->cred.uid == ROOT_ID && !vfs_is_foreign(a));
}

/* --- changing attributes */

/* The rules of chmod, chown and utimens: the owner for the mode, root for the
 * user, a member for the group, and writers for times that are now. */
static int
vfs_may_set(const struct caller *as, const struct attr *old,
            const struct attr *a, unsigned what, bool now)
{
    bool root = vfs_is_root(as, old), owner = root || as->cred.uid == old->uid;

    if (what & ATTR_MODE && !owner)
        return -EPERM;
    if (what & ATTR_UID && !root && (!owner || a->uid != old->uid))
        return -EPERM;
    if (what & ATTR_GID && !root &&
        (!owner || (a->gid != old->gid && !cred_has_group(&as->cred, a->gid))))
        return -EPERM;
    if (what & (ATTR_ATIME | ATTR_MTIME) && !owner) {
        if (!now)
            return -EPERM;
        return vfs_access(&as->cred, old, W_OK);
    }
    return 0;
}

/* Removes the set-id bits of a file whose owner changes: chown must not create
 * a program with the rights of somebody else. */
static unsigned
vfs_drop_set_ids(const struct caller *as, const struct attr *old,
                 struct attr *a, unsigned what)
{
    if (what & ~(unsigned)(ATTR_UID | ATTR_GID) || !S_ISREG(old->mode) || !as ||
        !(old->mode & 06000))
        return what;
    a->mode = old->mode & ~(uint32_t)S_ISUID;
    if (old->mode & 010)
        a->mode &= ~(uint32_t)S_ISGID;
    return what | ATTR_MODE;
}

int
vfs_setattr(const struct caller *as, const struct dentry *p,
            const struct attr *a, unsigned what, bool now)
{
    const struct vnode *v = &p->node;
    struct fs *fs = v->mnt->fs;
    struct attr old, set = *a;

    if (v->mnt->read_only || !fs->change->setattr)
        return -EROFS;
    int r = vnode_getattr(v, &old);
    if (r == 0)
        r = vfs_may_set(as, &old, a, what, now);
    if (r < 0)
        return r;
    if (what & ATTR_MODE && !vfs_is_root(as, &old) && !S_ISDIR(old.mode) &&
        !cred_has_group(&as->cred, old.gid))
        set.mode &= ~(uint32_t)S_ISGID;
    what = vfs_drop_set_ids(as, &old, &set, what);
    r = fs->change->setattr(fs, v->ino, &set, what | (now ? ATTR_NOW : 0));
    if (r == 0)
        notify_attr(p, what);
    return r;
}

/* --- making and removing names */

/* A read-only mount is reported before missing rights. */
static int
vfs_may_write_dir(const struct caller *as, const struct vnode *dir,
                  struct attr *ret_dir)
{
    int r = vnode_getattr(dir, ret_dir);

    if (r < 0)
        return r;
    if (dir->mnt->read_only)
        return -EROFS;
    return as ? vfs_access(&as->cred, ret_dir, W_OK | X_OK) : 0;
}

const struct cred *
at_owner(const struct at *at)
{
    static const struct cred root;

    if (at->as)
        return &at->as->cred;
    return at->owner ? at->owner : &root;
}

/* In a set-group-ID directory, new entries get its group, and directories the
 * bit. */
static struct attr
vfs_new_attr(const struct at *at, const struct attr *dir, uint32_t mode)
{
    const struct cred *c = at_owner(at);
    struct attr a = {.mode = mode, .uid = c->uid, .gid = c->gid};

    if (dir->mode & S_ISGID) {
        a.gid = dir->gid;
        if (S_ISDIR(mode))
            a.mode |= S_ISGID;
    }
    return a;
}

static struct name
walk_name(const struct walk *w)
{
    return (struct name){w->name, w->len};
}

/* Checks whether the name at the end of the walk may be created. */
static int
vfs_may_create(const struct at *at, const struct walk *w, struct attr *ret_dir)
{
    if (!w->dir.mnt->fs->change->create)
        return -ENOENT;
    return vfs_may_write_dir(at->as, &w->dir, ret_dir);
}

/* Walks to a name that must not exist. */
static int
vfs_find_free(const struct at *at, bool is_dir, struct walk *w)
{
    int r = path_walk(at, WALK_PARENT | WALK_NAME, w);

    if (r < 0)
        return r;
    if (w->node.mnt)
        return -EEXIST;
    return w->slash && !is_dir ? -ENOENT : 0;
}

/* Ends the creation of a name with the result r: the walk leads to it now. */
static int
vfs_made(struct walk *w, uint64_t ino, int r)
{
    if (r < 0)
        return r;
    w->node = (struct vnode){w->dir.mnt, ino};
    struct dentry p = walk_dentry(w);
    notify_created(&p);
    return r;
}

int
vfs_create(const struct at *at, struct walk *w, uint32_t mode)
{
    struct attr dir;
    uint64_t ino = 0;

    int r = vfs_may_create(at, w, &dir);
    if (r < 0)
        return r;
    struct fs *fs = w->dir.mnt->fs;
    struct attr a = vfs_new_attr(at, &dir, mode);
    r = fs->change->create(fs, w->dir.ino, walk_name(w), &a, &ino);
    return vfs_made(w, ino, r);
}

int
vfs_make(const struct at *at, uint32_t mode)
{
    struct walk w;

    int r = vfs_find_free(at, S_ISDIR(mode), &w);
    return r < 0 ? r : vfs_create(at, &w, mode);
}

int
vfs_symlink(const struct at *at, const char *target)
{
    struct attr dir, a;
    struct walk w;

    int r = *target ? vfs_find_free(at, false, &w) : -ENOENT;
    if (r == 0)
        r = vfs_may_create(at, &w, &dir);
    if (r < 0)
        return r;
    struct fs *fs = w.dir.mnt->fs;
    if (!fs->change->symlink)
        return -EROFS;
    a = vfs_new_attr(at, &dir, S_IFLNK | 0777);
    r = fs->change->symlink(fs, w.dir.ino, walk_name(&w), target,
                            strlen(target), &a);
    return vfs_made(&w, 0, r);
}

/* Names of one file are in one mount. */
int
vfs_link_node(const struct vnode *node, const struct at *to)
{
    struct attr dir, a;
    struct walk w;

    int r = vfs_find_free(to, false, &w);
    if (r == 0)
        r = vfs_may_create(to, &w, &dir);
    if (r < 0)
        return r;
    if (w.dir.mnt != node->mnt)
        return -EXDEV;
    r = vnode_getattr(node, &a);
    if (r < 0)
        return r;
    if (S_ISDIR(a.mode))
        return -EPERM;
    struct fs *fs = w.dir.mnt->fs;
    if (!fs->change->link)
        return -EPERM;
    r = fs->change->link(fs, w.dir.ino, walk_name(&w), node->ino);
    if (r == 0) {
        struct dentry unnamed = {.node = *node};
        notify_report(&unnamed, IN_ATTRIB); /* it has one link more */
    }
    return vfs_made(&w, node->ino, r);
}

int
vfs_link(const struct at *from, const struct at *to, unsigned walk_flags)
{
    struct walk w;

    int r = path_walk(from, walk_flags, &w);
    return r < 0 ? r : vfs_link_node(&w.node, to);
}

int64_t
vnode_readlink(const struct caller *as, const struct vnode *v, char *buf,
               size_t size)
{
    struct fs *fs = v->mnt->fs;
    struct attr a;

    int r = vnode_getattr(v, &a);
    if (r < 0)
        return r;
    if (!S_ISLNK(a.mode) || !fs->ops->readlink)
        return -EINVAL;
    return fs->ops->readlink(fs, as, v->ino, buf, size);
}

/* In a sticky directory, only the owner of the entry or of the directory may
 * remove it. */
static int
vfs_may_remove(const struct caller *as, const struct attr *dir,
               const struct vnode *node)
{
    struct attr a;

    if (vfs_is_root(as, dir) || !(dir->mode & S_ISVTX))
        return 0;
    int r = vnode_getattr(node, &a);
    if (r < 0)
        return r;
    return as->cred.uid == a.uid || as->cred.uid == dir->uid ? 0 : -EPERM;
}

static bool
vfs_is_mount_point(const struct walk *w)
{
    return w->node.mnt && w->node.mnt != w->dir.mnt;
}

static int
vfs_check_unlink(const struct walk *w, const struct attr *a, bool rmdir)
{
    if (rmdir)
        return S_ISDIR(a->mode) ? 0 : -ENOTDIR;
    if (S_ISDIR(a->mode))
        return -EISDIR;
    return w->slash ? -ENOTDIR : 0;
}

/* Returns the errno for a path that ends without a name: "/", "." or "..". */
static int
vfs_unnamed_errno(const char *path, bool rmdir)
{
    size_t len = strlen(path);

    while (len && path[len - 1] == '/')
        len--;
    if (!rmdir)
        return -EISDIR;
    if (!len)
        return -EBUSY;
    if (len >= 2 && path[len - 1] == '.' && path[len - 2] == '.')
        return -ENOTEMPTY;
    return path[len - 1] == '.' ? -EINVAL : -EBUSY;
}

/* A mount point stays. The error for a wrong kind comes before that. */
int
vfs_unlink(const struct at *at, int flags)
{
    bool rmdir = flags & UNLINK_DIR;
    struct attr dir, a;
    struct walk w;

    int r = path_walk(at, WALK_NAME, &w);
    if (r < 0)
        return r;
    if (!w.len)
        return vfs_unnamed_errno(at->path, rmdir);
    r = vfs_may_write_dir(at->as, &w.dir, &dir);
    if (r == 0)
        r = vfs_may_remove(at->as, &dir, &w.node);
    if (r == 0)
        r = vnode_getattr(&w.node, &a);
    if (r == 0)
        r = vfs_check_unlink(&w, &a, rmdir);
    if (r < 0)
        return r;
    if (vfs_is_mount_point(&w))
        return -EBUSY;
    struct fs *fs = w.dir.mnt->fs;
    if (!fs->change->unlink)
        return -EROFS;
    r = fs->change->unlink(fs, w.dir.ino, walk_name(&w), flags);
    if (r == 0) {
        struct dentry p = walk_dentry(&w);
        notify_deleted(&p, rmdir);
    }
    return r;
}
