/* Functions on paths: relative to a directory, which they do not leave.
 *
 * A path has a length and no NUL in WASI. It is resolved with WALK_BENEATH:
 * "..", absolute paths and symbolic links that would lead out of the directory
 * fail. */
#include "kernel/wasi/wasi_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

/* Copies a path argument into one of the two buffers, and returns it. NULL and
 * *err: it is too long, contains a NUL, or is outside of guest memory. */
static const char *
wasi_path_get(struct task *t, int which, const uint64_t *path, int *err)
{
    char *buf = t->kernel->copies->path[which];
    uint64_t len = path[1];

    *err = len < PATH_BYTES_MAX
               ? copy_from_guest(t, buf, (gaddr)path[0], (size_t)len)
               : -ENAMETOOLONG;
    if (*err < 0)
        return NULL;
    buf[len] = 0;
    if (strlen(buf) == len)
        return buf;
    *err = -EINVAL;
    return NULL;
}

/* Reads a path beneath the directory `fd`, which must have the rights `need`.
 * The result borrows the node of the open directory. */
static int
wasi_path_get_at(struct task *t, int which, uint64_t fd, uint64_t need,
                 const uint64_t *path, struct at *ret)
{
    struct file *f;
    struct attr a;

    int r = wasi_file(t, fd, 0, &f);
    if (r < 0)
        return r;
    r = f->node.mnt ? vnode_getattr(&f->node, &a) : -ENOTDIR;
    if (r == 0 && !S_ISDIR(a.mode))
        r = -ENOTDIR;
    if (r == 0)
        r = wasi_file(t, fd, need, &f);
    if (r < 0)
        return r;
    const char *p = wasi_path_get(t, which, path, &r);
    if (!p)
        return r;
    *ret = task_at(t, &f->node, p);
    ret->walk = WALK_BENEATH;
    return 0;
}

/* Unknown bits are an error, as for all flags of WASI. */
static int
wasi_path_check_lookup(uint64_t flags)
{
    return flags & ~(uint64_t)LOOKUP_SYMLINK_FOLLOW ? -EINVAL : 0;
}

/* The default of WASI is not to follow the last symbolic link. */
static unsigned
wasi_path_lookup_walk(uint64_t flags)
{
    return flags & LOOKUP_SYMLINK_FOLLOW ? 0 : WALK_NOFOLLOW;
}

static int
wasi_path_find_node(const struct at *at, unsigned walk, struct vnode *ret)
{
    struct walk w;

    int r = path_walk(at, walk, &w);
    if (r == 0)
        *ret = w.node;
    return r;
}

/* --- open */

/* The arguments of path_open that are not a path. */
struct open_args {
    uint32_t oflags, fdflags;
    struct rights rights;
};

/* Returns the rights on the directory that an open needs. */
static uint64_t
wasi_path_rights_to_open(const struct open_args *o)
{
    uint64_t need = RIGHT_PATH_OPEN;

    if (o->oflags & OFLAG_CREAT)
        need |= RIGHT_PATH_CREATE_FILE;
    if (o->oflags & OFLAG_TRUNC)
        need |= RIGHT_PATH_FILESTAT_SET_SIZE;
    return need;
}

/* A new descriptor may not have rights that its directory does not pass on. */
static int
wasi_path_check_open(struct task *t, uint64_t dirfd, const struct open_args *o)
{
    const uint32_t making = OFLAG_CREAT | OFLAG_EXCL | OFLAG_TRUNC;
    struct file *dir;

    if (o->oflags & ~(uint32_t)OFLAGS_ALL ||
        o->fdflags & ~(uint32_t)FDFLAGS_ALL)
        return -EINVAL;
    if (o->oflags & OFLAG_DIRECTORY && o->oflags & making)
        return -EINVAL;
    int r = wasi_file(t, dirfd, wasi_path_rights_to_open(o), &dir);
    if (r < 0)
        return r;
    uint64_t can = rights_get(t, (int)dirfd, dir).inheriting;
    if ((o->rights.base | o->rights.inheriting) & ~can)
        return -ENOTCAPABLE;
    return 0;
}

/* The access mode is derived from the rights that the program asks for. */
static uint32_t
wasi_path_flags_of_open(const struct open_args *o, bool follow)
{
    const uint64_t reads = RIGHT_FD_READ | RIGHT_FD_READDIR;
    const uint64_t writes = RIGHT_FD_WRITE | RIGHT_FD_ALLOCATE;
    uint32_t flags = wasi_open_flags(o->fdflags);

    const uint64_t both = RIGHT_FD_READ | RIGHT_FD_WRITE;

    /* A directory is opened for reading, whatever else the rights say; but
     * the two of files together ask for one to write to. */
    if (o->oflags & OFLAG_DIRECTORY)
        flags |= O_DIRECTORY | ((o->rights.base & both) == both ? O_RDWR : 0);
    else if (o->rights.base & writes)
        flags |= o->rights.base & reads ? O_RDWR : O_WRONLY;
    flags |= o->oflags & OFLAG_CREAT ? O_CREAT : 0;
    flags |= o->oflags & OFLAG_EXCL ? O_EXCL : 0;
    flags |= o->oflags & OFLAG_TRUNC ? O_TRUNC : 0;
    return follow ? flags : flags | O_NOFOLLOW;
}

/* path_open(dirfd, lookup, path, len, oflags, base, inheriting, fdflags,
 *           &fd) */
int64_t
wasi_path_open(struct task *t, const uint64_t *a)
{
    const struct open_args o = {
        .oflags = (uint32_t)a[4],
        .fdflags = (uint32_t)a[7],
        .rights = {a[5] & RIGHTS_ALL, a[6] & RIGHTS_ALL}};
    struct file *f;
    struct at at;

    int r = wasi_path_get_at(t, 0, a[0], 0, a + 2, &at);
    if (r == 0)
        r = wasi_path_check_lookup(a[1]);
    if (r == 0)
        r = wasi_path_check_open(t, a[0], &o);
    if (r == 0)
        r = wasi_check(t, a[8], sizeof(uint32_t));
    if (r == 0)
        r = fd_reserve(t, 0);
    if (r < 0)
        return r;
    uint32_t flags = wasi_path_flags_of_open(&o, a[1] & LOOKUP_SYMLINK_FOLLOW);
    r = vfs_open(&at, flags, 0666 & ~t->umask, &f);
    if (r < 0)
        return r;
    int fd = wasi_install(t, f, &o.rights);
    return fd < 0 ? fd : copy_to_guest(t, (gaddr)a[8], &fd, sizeof fd);
}

/* --- making and removing names */

/* path_create_directory(dirfd, path, len): WASI has no modes, so the umask
 * decides. */
int64_t
wasi_path_create_directory(struct task *t, const uint64_t *a)
{
    struct at at;

    int r =
        wasi_path_get_at(t, 0, a[0], RIGHT_PATH_CREATE_DIRECTORY, a + 1, &at);
    return r < 0 ? r : vfs_make(&at, S_IFDIR | (0777 & ~t->umask));
}

/* path_remove_directory(dirfd, path, len) */
int64_t
wasi_path_remove_directory(struct task *t, const uint64_t *a)
{
    struct at at;

    int r =
        wasi_path_get_at(t, 0, a[0], RIGHT_PATH_REMOVE_DIRECTORY, a + 1, &at);
    return r < 0 ? r : vfs_unlink(&at, UNLINK_DIR);
}

/* path_unlink_file(dirfd, path, len) */
int64_t
wasi_path_unlink_file(struct task *t, const uint64_t *a)
{
    struct at at;

    int r = wasi_path_get_at(t, 0, a[0], RIGHT_PATH_UNLINK_FILE, a + 1, &at);
    return r < 0 ? r : vfs_unlink(&at, 0);
}

/* path_link(dirfd, lookup, path, len, dirfd2, path2, len2): both directories
 * need a right of their own. */
int64_t
wasi_path_link(struct task *t, const uint64_t *a)
{
    struct at from, to;

    int r = wasi_path_get_at(t, 0, a[0], RIGHT_PATH_LINK_SOURCE, a + 2, &from);
    if (r == 0)
        r = wasi_path_check_lookup(a[1]);
    if (r == 0)
        r = wasi_path_get_at(t, 1, a[4], RIGHT_PATH_LINK_TARGET, a + 5, &to);
    return r < 0 ? r : vfs_link(&from, &to, wasi_path_lookup_walk(a[1]));
}

/* path_rename(dirfd, path, len, dirfd2, path2, len2): replaces an existing
 * file, as rename(2). */
int64_t
wasi_path_rename(struct task *t, const uint64_t *a)
{
    struct at from, to;

    int r =
        wasi_path_get_at(t, 0, a[0], RIGHT_PATH_RENAME_SOURCE, a + 1, &from);
    if (r == 0)
        r = wasi_path_get_at(t, 1, a[3], RIGHT_PATH_RENAME_TARGET, a + 4, &to);
    return r < 0 ? r : vfs_rename(&from, &to, 0);
}

/* path_symlink(target, len, dirfd, path, len): an absolute target would lead
 * out of every directory but the root. */
int64_t
wasi_path_symlink(struct task *t, const uint64_t *a)
{
    struct at at;

    int r = wasi_path_get_at(t, 0, a[2], RIGHT_PATH_SYMLINK, a + 3, &at);
    if (r < 0)
        return r;
    const char *target = wasi_path_get(t, 1, a, &r);
    if (!target)
        return r;
    if (*target == '/' && !vnode_is_same(at.base, &t->as.root))
        return -EPERM;
    return vfs_symlink(&at, target);
}

/* --- reading and changing what is there */

/* path_readlink(dirfd, path, len, buf, size, &used): a long target is cut to
 * the buffer. */
int64_t
wasi_path_readlink(struct task *t, const uint64_t *a)
{
    size_t size = a[4] < PATH_BYTES_MAX ? (size_t)a[4] : PATH_BYTES_MAX;
    struct vnode v;
    struct at at;

    int r = wasi_path_get_at(t, 0, a[0], RIGHT_PATH_READLINK, a + 1, &at);
    if (r == 0)
        r = wasi_path_find_node(&at, WALK_NOFOLLOW, &v);
    if (r < 0)
        return r;
    if (wasi_check(t, a[3], a[4]) < 0 ||
        wasi_check(t, a[5], sizeof(uint32_t)) < 0)
        return -EFAULT;
    char *target = t->kernel->copies->path[0];
    int64_t n = vnode_readlink(&t->as, &v, target, size);
    if (n < 0)
        return n;
    r = copy_to_guest(t, (gaddr)a[3], target, (size_t)n);
    return r < 0 ? r
                 : copy_to_guest(t, (gaddr)a[5], &(uint32_t){(uint32_t)n},
                                 sizeof(uint32_t));
}

/* path_filestat_get(dirfd, lookup, path, len, &stat) */
int64_t
wasi_path_filestat_get(struct task *t, const uint64_t *a)
{
    struct attr attr;
    struct vnode v;
    struct at at;

    int r = wasi_path_get_at(t, 0, a[0], RIGHT_PATH_FILESTAT_GET, a + 2, &at);
    if (r == 0)
        r = wasi_path_check_lookup(a[1]);
    if (r == 0)
        r = wasi_path_find_node(&at, wasi_path_lookup_walk(a[1]), &v);
    if (r == 0)
        r = vnode_getattr(&v, &attr);
    return r != 0 ? r
                  : wasi_put_filestat(t, (gaddr)a[4], v.mnt->fs->dev, &attr);
}

/* path_filestat_set_times(dirfd, lookup, path, len, atim, mtim, fst_flags) */
int64_t
wasi_path_filestat_set_times(struct task *t, const uint64_t *a)
{
    struct set_times set;
    struct vnode v;
    struct at at;

    int r =
        wasi_path_get_at(t, 0, a[0], RIGHT_PATH_FILESTAT_SET_TIMES, a + 2, &at);
    if (r == 0)
        r = wasi_path_check_lookup(a[1]);
    if (r == 0)
        r = wasi_get_times(t, a + 4, &set);
    if (r == 0)
        r = wasi_path_find_node(&at, wasi_path_lookup_walk(a[1]), &v);
    if (r != 0 || !set.what)
        return r;
    return vnode_setattr(&t->as, &v, &set.attr, set.what, set.now);
}
