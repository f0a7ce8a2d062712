/* open(2): from a path to an open file.
 *
 * The steps are those of Linux, in its order, because programs see which error
 * comes first. The node is found, or created if it is missing. Its kind and the
 * rights are checked; then it is opened and truncated. The file remembers where
 * it was found, for /proc and for watches. */
#include "kernel/vfs/dirfile.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <unistd.h>

/* Flags that only open itself uses, and F_GETFL does not show. */
#define OPEN_ONLY (O_CREAT | O_EXCL | O_NOCTTY | O_TRUNC | O_CLOEXEC)

/* One open on its way. */
struct opening {
    const struct at *at;
    const struct caller *as;
    uint32_t flags, mode;
    struct walk w;
    struct attr attr;
    bool created;
};

/* O_TRUNC needs the right to write, whatever the access mode. */
static int
open_access(uint32_t flags)
{
    static const int want[] = {R_OK, W_OK, R_OK | W_OK, R_OK | W_OK};
    int r = want[flags & O_ACCMODE];

    return flags & O_TRUNC ? r | W_OK : r;
}

/* The new file gets its mode without a check against it: its creator may use it
 * this once. */
static int
open_create(struct opening *o)
{
    if (o->w.slash)
        return -EISDIR;
    int r = vfs_create(o->at, &o->w, S_IFREG | (o->mode & 07777));
    o->created = r == 0;
    return r;
}

/* Checks whether the file may be opened in this way, in Linux's order of
 * checks. */
static int
open_check(struct opening *o)
{
    uint32_t mode = o->attr.mode;
    int want = open_access(o->flags);

    if ((o->flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
        return -EEXIST;
    if (o->flags & O_CREAT && S_ISDIR(mode))
        return -EISDIR;
    if (S_ISLNK(mode))
        return o->flags & O_DIRECTORY ? -ENOTDIR : -ELOOP;
    if (o->flags & O_DIRECTORY && !S_ISDIR(mode))
        return -ENOTDIR;
    if (S_ISDIR(mode) && want & W_OK)
        return -EISDIR;
    if (want & W_OK && o->w.node.mnt->read_only && !S_ISFIFO(mode) &&
        !S_ISCHR(mode))
        return -EROFS;
    if (o->as) {
        int r = vfs_access(&o->as->cred, &o->attr, want);
        if (r < 0)
            return r;
        if (o->flags & O_NOATIME && o->as->cred.uid != o->attr.uid &&
            o->as->cred.uid != ROOT_ID)
            return -EPERM;
    }
    return S_ISSOCK(mode) ? -ENXIO : 0;
}

/* Directories and FIFOs are the same on all file systems. */
static int
open_node(struct opening *o, OWN struct file **ret)
{
    struct vnode *v = &o->w.node;
    struct fs *fs = v->mnt->fs;
    uint32_t flags = o->flags & ~(uint32_t)OPEN_ONLY;

    if (S_ISDIR(o->attr.mode))
        return dirfile_new(o->at->vfs, flags, ret);
    if (S_ISFIFO(o->attr.mode))
        return o->at->vfs->hooks->open_fifo(v, o->as, flags, ret);
    if (!fs->ops->open)
        return -ENXIO;
    return fs->ops->open(fs, o->as, v->ino, o->flags, ret);
}

/* A file that was just created is empty. */
static int
open_truncate(struct opening *o)
{
    struct vnode *v = &o->w.node;
    struct attr a = {0};

    if (!(o->flags & O_TRUNC) || o->created || !S_ISREG(o->attr.mode))
        return 0;
    int r = v->mnt->fs->change->setattr(v->mnt->fs, v->ino, &a, ATTR_SIZE);
    if (r == 0) {
        struct dentry p = walk_dentry(&o->w);
        notify_attr(&p, ATTR_SIZE);
    }
    return r;
}

/* Records where f was found; its node is held from now on. Consumes f. */
static int
open_place(struct opening *o, OWN struct file *f, OWN struct file **ret)
{
    if (!f->node.mnt)
        file_set_node(f, &o->w.node);
    f->flags &= ~(uint32_t)OPEN_ONLY;
    f->dir = o->w.dir;
    f->name = strdup(o->w.name);
    if (!f->name) {
        file_put(f);
        return -ENOMEM;
    }
    *ret = f;
    return 0;
}

/* A file that was created by this call needs no checks. */
static int
open_finish(struct opening *o, OWN struct file **ret)
{
    struct file *f;
    int r = 0;

    if (!o->created)
        r = open_check(o);
    if (r == 0)
        r = open_node(o, &f);
    if (r < 0)
        return r;
    r = open_truncate(o);
    if (r < 0) {
        file_put(f);
        return r;
    }
    r = open_place(o, f, ret);
    if (r == 0)
        notify_file(*ret, IN_OPEN);
    return r;
}

/* --- the special kinds of open */

static const struct file_ops path_ops = {0};

/* O_PATH opens nothing: no operation of the file system is called, and no right
 * is needed beside those of the walk. */
static int
open_path(struct opening *o, OWN struct file **ret)
{
    const uint32_t kept = O_PATH | O_DIRECTORY | O_NOFOLLOW;
    struct file *f;

    if (S_ISLNK(o->attr.mode) && o->flags & O_DIRECTORY)
        return -ENOTDIR;
    if (o->flags & O_DIRECTORY && !S_ISDIR(o->attr.mode))
        return -ENOTDIR;
    int r = file_new(o->at->vfs, &path_ops, NULL, o->flags & kept, &f);
    return r < 0 ? r : open_place(o, f, ret);
}

/* The file has no name. The hold of its creation is replaced by that of the
 * open file. */
static int
open_tmpfile(struct opening *o, OWN struct file **ret)
{
    struct vnode *dir = &o->w.node;
    struct fs *fs = dir->mnt->fs;
    struct attr a = {.mode = S_IFREG | (o->mode & 07777)};

    if (!S_ISDIR(o->attr.mode))
        return -ENOTDIR;
    if (!(open_access(o->flags) & W_OK))
        return -EINVAL;
    if (dir->mnt->read_only)
        return -EROFS;
    int r = o->as ? vfs_access(&o->as->cred, &o->attr, W_OK | X_OK) : 0;
    if (r < 0)
        return r;
    if (!fs->change->tmpfile)
        return -EOPNOTSUPP;
    a.uid = at_owner(o->at)->uid;
    a.gid = at_owner(o->at)->gid;
    uint64_t ino;
    r = fs->change->tmpfile(fs, &a, !(o->flags & O_EXCL), &ino);
    if (r < 0)
        return r;
    struct vnode v = {dir->mnt, ino};
    struct file *f;
    o->flags &= ~(uint32_t)O_TMPFILE;
    r = fs->ops->open(fs, o->as, ino, o->flags, &f);
    if (r == 0) {
        o->w.node = v;
        r = open_place(o, f, ret);
    }
    vnode_release(&v);
    return r;
}

/* Opens a pipe, socket or other file without a path through /proc/<pid>/fd.
 * This is the same open file again, if it allows the access. */
static int
open_again(struct opening *o, OWN struct file **ret)
{
    struct file *f = o->w.file;
    int want = open_access(o->flags);

    if ((want & R_OK && !file_is_readable(f)) ||
        (want & W_OK && !file_is_writable(f)))
        return -EACCES;
    *ret = file_get(f);
    return 0;
}

/* O_CREAT | O_EXCL refuses a symbolic link at the end, even one that leads
 * nowhere. */
static unsigned
open_walk_flags(uint32_t flags)
{
    unsigned w = 0;

    if (flags & O_CREAT)
        w |= WALK_PARENT;
    if (flags & O_NOFOLLOW ||
        (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL))
        w |= WALK_NOFOLLOW;
    return w;
}

/* Finds the node, or the place where it would be. Returns 1 if *ret is open
 * already. */
static int
open_find(struct opening *o, OWN struct file **ret)
{
    const char *path = o->at->path;

    int r = path_walk(o->at, open_walk_flags(o->flags), &o->w);
    if (r == -ENXIO && o->w.file) {
        r = open_again(o, ret);
        return r < 0 ? r : 1;
    }
    if (r == -ENOTDIR && o->flags & O_CREAT && path[strlen(path) - 1] == '/')
        return -EISDIR;
    return r;
}

int
vfs_open(const struct at *at, uint32_t flags, uint32_t mode,
         OWN struct file **ret)
{
    struct opening o = {.at = at, .as = at->as, .flags = flags, .mode = mode};

    if (flags & O_PATH)
        o.flags &= O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    if ((flags & O_TMPFILE) == O_TMPFILE && flags & O_CREAT)
        return -EINVAL;
    int r = open_find(&o, ret);
    if (r != 0)
        return r < 0 ? r : 0;
    if (!o.w.node.mnt) {
        r = open_create(&o);
        if (r < 0)
            return r;
    }
    r = vnode_getattr(&o.w.node, &o.attr);
    if (r < 0)
        return r;
    if (o.flags & O_PATH)
        return open_path(&o, ret);
    if ((o.flags & O_TMPFILE) == O_TMPFILE)
        return open_tmpfile(&o, ret);
    return open_finish(&o, ret);
}
