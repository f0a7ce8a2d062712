/* System calls on paths.
 *
 * A handler copies the path, finds the directory that it starts from, and calls
 * the vfs. Up to two paths of a call are copied into the two buffers of the
 * kernel. Most rights are checked by the vfs. */
#include "kernel/sys_path.h"
#include "kernel/abi.h"
#include "kernel/kernel.h"
#include "kernel/syscall.h"
#include "kernel/vfs/dirfile.h"
#include "kernel/vfs/notify.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { SYMLINK_TARGET_MAX = 4095 };

/* Returns the directory that a relative path starts from. 0, -EBADF,
 * -ENOTDIR. A descriptor without a directory is fine for an empty path
 * (AT_EMPTY_PATH). */
static int
sys_path_base_of(struct task *t, int dirfd, const char *path, struct vnode *ret)
{
    struct attr a;

    *ret = t->cwd;
    if (*path == '/' || dirfd == AT_FDCWD)
        return 0;
    struct file *f = fd_find(t, dirfd);
    if (!f)
        return -EBADF;
    int r = f->node.mnt ? vnode_getattr(&f->node, &a) : -ENOTDIR;
    if (r < 0)
        return r;
    *ret = f->node;
    return *path && !S_ISDIR(a.mode) ? -ENOTDIR : 0;
}

/* Copies a path argument into the buffer `which`, with its directory. `base`
 * must outlive the result. */
static int
sys_path_get_at(struct task *t, int which, int dirfd, gaddr path,
                struct vnode *base, struct at *ret)
{
    int r;
    const char *p = guest_path(t, which, path, &r);

    *ret = task_at(t, base, p);
    if (!p)
        return r;
    return *p ? sys_path_base_of(t, dirfd, p, base) : -ENOENT;
}

/* A magic link of /proc may lead to a file without a node: it is returned as
 * `file`. */
int
sys_find_path(struct task *t, int dirfd, const char *p, uint32_t at_flags,
              struct found *ret)
{
    unsigned wf = at_flags & AT_SYMLINK_NOFOLLOW ? WALK_NOFOLLOW : 0;
    struct vnode base;

    if (!*p && !(at_flags & AT_EMPTY_PATH))
        return -ENOENT;
    int r = sys_path_base_of(t, dirfd, p, &base);
    if (r < 0)
        return r;
    ret->node = base;
    ret->file = NULL;
    ret->w.len = 0;
    if (!*p)
        return 0;
    r = task_walk(t, &base, p, wf, &ret->w);
    if (r == 0) {
        ret->node = ret->w.node;
    } else if (r == -ENXIO && ret->w.file) {
        ret->node = (struct vnode){0};
        ret->file = ret->w.file;
        r = 0;
    }
    return r;
}

int
sys_find(struct task *t, int dirfd, gaddr path, uint32_t at_flags,
         struct found *ret)
{
    int r;
    const char *p = guest_path(t, 0, path, &r);

    if (!p)
        return r < 0 ? r : -EFAULT;
    return sys_find_path(t, dirfd, p, at_flags, ret);
}

int
sys_find_node(struct task *t, int dirfd, gaddr path, uint32_t at_flags,
              struct vnode *ret)
{
    struct found f;
    int r = sys_find(t, dirfd, path, at_flags, &f);

    if (r == 0 && !f.node.mnt)
        r = -ENXIO;
    if (r == 0)
        *ret = f.node;
    return r;
}

/* --- open and the working directory */

/* openat(dirfd, path, flags, mode): the descriptor is reserved first, because
 * opening has effects (a new file, a waiting FIFO) that could not be undone. */
int64_t
sys_openat(struct task *t, const union sysarg *a)
{
    uint32_t flags = a[2].u, mode = a[3].u & 07777 & ~t->umask;
    struct vnode base;
    struct file *f;
    struct at at;

    int r = sys_path_get_at(t, 0, a[0].i, a[1].addr, &base, &at);
    if (r < 0)
        return r;
    if ((flags & O_ACCMODE) == O_ACCMODE && !(flags & O_PATH))
        return -EINVAL;
    int fd = fd_reserve(t, 0);
    if (fd < 0)
        return fd;
    t->thread->call.restartable = true;
    r = vfs_open(&at, flags, mode, &f);
    return r < 0 ? r : fd_install(t, f, 0, flags & O_CLOEXEC);
}

/* openat2(dirfd, path, how, size): resolve flags are not offered. */
int64_t
sys_openat2(struct task *t, const union sysarg *a)
{
    struct {
        uint64_t flags, mode, resolve;
    } how;

    if (a[3].u < sizeof how)
        return -EINVAL;
    int r = copy_from_guest(t, &how, a[2].addr, sizeof how);
    if (r < 0)
        return r;
    if (how.resolve || how.flags >> 32 || how.mode & ~UINT64_C(07777))
        return -EINVAL;
    union sysarg b[4] = {a[0], a[1]};
    b[2].u = (uint32_t)how.flags;
    b[3].u = (uint32_t)how.mode;
    return sys_openat(t, b);
}

/* Entering a directory needs the right to search it. */
static int
sys_path_set_cwd(struct task *t, const struct vnode *v, const struct vnode *dir,
                 const char *name)
{
    struct attr a;

    int r = vnode_getattr(v, &a);
    if (r < 0)
        return r;
    if (!S_ISDIR(a.mode))
        return -ENOTDIR;
    r = vfs_access(&t->as.cred, &a, X_OK);
    if (r == 0)
        task_set_cwd(t, v, dir, name);
    return r;
}

/* chdir(path) */
int64_t
sys_chdir(struct task *t, const union sysarg *a)
{
    struct walk w;
    int r;
    const char *path = guest_path(t, 0, a[0].addr, &r);

    if (!path)
        return r;
    r = task_walk(t, &t->cwd, path, 0, &w);
    return r < 0 ? r : sys_path_set_cwd(t, &w.node, &w.dir, w.name);
}

/* fchdir(fd) */
int64_t
sys_fchdir(struct task *t, const union sysarg *a)
{
    struct file *f = fd_file(t, a[0].i);

    if (!f->node.mnt)
        return -ENOTDIR;
    return sys_path_set_cwd(t, &f->node, &f->dir, f->name ? f->name : "");
}

/* Removes the path of the task's own root directory, which is that of a mount,
 * from the start of a path of n bytes. Returns the number of bytes that are
 * left. */
static int64_t
sys_path_without_root(const struct task *t, char *path, int64_t n)
{
    const struct mount *m = t->as.root.mnt;
    int64_t skip = m->parent ? (int64_t)strlen(m->path) : 0;

    if (skip >= n)
        skip = n - 1; /* the slash is left of "/ROOT" */
    memmove(path, path + skip, (size_t)(n - skip) + 1);
    if (skip)
        path[0] = '/';
    return n - skip;
}

/* getcwd(buf, size): returns the length with the NUL, as the system call of
 * Linux does. */
int64_t
sys_getcwd(struct task *t, const union sysarg *a)
{
    size_t size = a[1].u < PATH_BYTES_MAX ? a[1].u : PATH_BYTES_MAX;
    char *path = t->kernel->copies->path[0];

    if (!size)
        return -ERANGE;
    if (guest_check(t, a[0].addr, size) < 0)
        return -EFAULT;
    int64_t n = vnode_path(&t->cwd, path, size);
    if (n == -ERANGE && size == PATH_BYTES_MAX)
        return -ENAMETOOLONG;
    if (n < 0)
        return n;
    n = sys_path_without_root(t, path, n) + 1;
    int r = copy_to_guest(t, a[0].addr, path, (size_t)n);
    return r < 0 ? r : n;
}

/* chroot(path): refused, after the path was checked */
int64_t
sys_chroot(struct task *t, const union sysarg *a)
{
    struct vnode v;
    int r = sys_find_node(t, AT_FDCWD, a[0].addr, 0, &v);

    return r < 0 ? r : -EPERM;
}

/* --- making and removing names */

/* mknodat(dirfd, path, mode, dev): devices cannot be created, not even by
 * root. */
int64_t
sys_mknodat(struct task *t, const union sysarg *a)
{
    uint32_t mode = a[2].u & ~t->umask;
    struct vnode base;
    struct found found;
    struct at at;

    int r = sys_path_get_at(t, 0, a[0].i, a[1].addr, &base, &at);
    if (r < 0)
        return r;
    switch (a[2].u & S_IFMT) {
    case 0:
        mode |= S_IFREG;
        break;
    case S_IFREG:
    case S_IFIFO:
    case S_IFSOCK:
        break;
    case S_IFCHR:
    case S_IFBLK:
        r = sys_find_path(t, a[0].i, at.path, AT_SYMLINK_NOFOLLOW, &found);
        return r == 0 ? -EEXIST : r == -ENOENT ? -EPERM : r;
    case S_IFDIR:
        return -EPERM;
    default:
        return -EINVAL;
    }
    return vfs_make(&at, mode);
}

/* mkdirat(dirfd, path, mode) */
int64_t
sys_mkdirat(struct task *t, const union sysarg *a)
{
    struct vnode base;
    struct at at;
    int r = sys_path_get_at(t, 0, a[0].i, a[1].addr, &base, &at);

    return r < 0 ? r : vfs_make(&at, S_IFDIR | (a[2].u & 01777 & ~t->umask));
}

/* unlinkat(dirfd, path, flags) */
int64_t
sys_unlinkat(struct task *t, const union sysarg *a)
{
    struct vnode base;
    struct at at;

    int r = sys_path_get_at(t, 0, a[0].i, a[1].addr, &base, &at);
    return r < 0 ? r : vfs_unlink(&at, a[2].u ? UNLINK_DIR : 0);
}

/* symlinkat(target, dirfd, path) */
int64_t
sys_symlinkat(struct task *t, const union sysarg *a)
{
    struct vnode base;
    struct at at;
    int r;
    const char *target = guest_path(t, 1, a[0].addr, &r);

    if (!target)
        return r;
    r = sys_path_get_at(t, 0, a[1].i, a[2].addr, &base, &at);
    return r < 0 ? r : vfs_symlink(&at, target);
}

/* linkat(dirfd, path, dirfd2, path2, flags): a symbolic link is linked itself,
 * unless AT_SYMLINK_FOLLOW is given. */
int64_t
sys_linkat(struct task *t, const union sysarg *a)
{
    uint32_t flags = a[4].u;
    struct vnode from, base;
    struct at to;

    uint32_t at_flags = flags & AT_EMPTY_PATH;
    if (!(flags & AT_SYMLINK_FOLLOW))
        at_flags |= AT_SYMLINK_NOFOLLOW;
    int r = sys_find_node(t, a[0].i, a[1].addr, at_flags, &from);
    if (r == 0)
        r = sys_path_get_at(t, 0, a[2].i, a[3].addr, &base, &to);
    return r != 0 ? r : vfs_link_node(&from, &to);
}

/* The two paths need both buffers. */
static int64_t
sys_path_rename_at(struct task *t, const union sysarg *a, uint32_t flags)
{
    struct vnode from_base, to_base;
    struct at from, to;

    int r = sys_path_get_at(t, 0, a[0].i, a[1].addr, &from_base, &from);
    if (r == 0)
        r = sys_path_get_at(t, 1, a[2].i, a[3].addr, &to_base, &to);
    return r < 0 ? r : vfs_rename(&from, &to, flags);
}

/* renameat(dirfd, path, dirfd2, path2) */
int64_t
sys_renameat(struct task *t, const union sysarg *a)
{
    return sys_path_rename_at(t, a, 0);
}

/* renameat2(dirfd, path, dirfd2, path2, flags) */
int64_t
sys_renameat2(struct task *t, const union sysarg *a)
{
    return sys_path_rename_at(t, a, a[4].u);
}

/* readlinkat(dirfd, path, buf, size): a target that is too long for the buffer
 * is cut. */
int64_t
sys_readlinkat(struct task *t, const union sysarg *a)
{
    struct vnode v;

    if (a[3].i <= 0)
        return -EINVAL;
    uint32_t empty = a[0].i == AT_FDCWD ? 0 : AT_EMPTY_PATH;
    int r =
        sys_find_node(t, a[0].i, a[1].addr, AT_SYMLINK_NOFOLLOW | empty, &v);
    if (r < 0)
        return r;
    size_t size = a[3].u < SYMLINK_TARGET_MAX ? a[3].u : SYMLINK_TARGET_MAX;
    if (guest_check(t, a[2].addr, size) < 0)
        return -EFAULT;
    char *target = t->kernel->copies->path[0];
    int64_t n = vnode_readlink(&t->as, &v, target, size);
    if (n < 0)
        return n;
    r = copy_to_guest(t, a[2].addr, target, (size_t)n);
    return r < 0 ? r : n;
}

/* --- directories and file systems */

/* The buffer of one getdents call. */
struct getdents {
    struct dir_emit emit;
    struct file *f;
    uint8_t *buf;
    size_t used, size;
};

/* Appends one struct linux_dirent64. Returns false if it does not fit. The
 * position of the file follows the entries that fit, so the next call continues
 * there. */
static bool
sys_path_put_dirent(struct dir_emit *e, const char *name, size_t len,
                    uint64_t ino, unsigned dtype, uint64_t cookie)
{
    struct getdents *g = CONTAINER_OF(e, struct getdents, emit);
    size_t size = (19 + len + 1 + 7) & ~(size_t)7;
    uint8_t *p = g->buf + g->used;

    if (g->size - g->used < size)
        return false;
    memset(p, 0, size);
    memcpy(p, &ino, 8);
    memcpy(p + 8, &cookie, 8);
    memcpy(p + 16, &(uint16_t){(uint16_t)size}, 2);
    p[18] = (uint8_t)dtype;
    memcpy(p + 19, name, len);
    g->used += size;
    g->f->pos = cookie;
    return true;
}

/* getdents64(fd, buf, size): a buffer that is too small for the next entry is
 * an error, not the end of the directory. */
int64_t
sys_getdents64(struct task *t, const union sysarg *a)
{
    enum { MAX = 1 << 20 };
    struct file *f = fd_file(t, a[0].i);
    size_t size = a[2].u < MAX ? a[2].u : MAX;
    struct getdents g = {
        .emit.entry = sys_path_put_dirent, .f = f, .size = size};

    g.buf = guest_out(t, a[1].addr, size);
    if (!g.buf)
        return -EFAULT;
    uint64_t before = f->pos;
    int r = dirfile_read(f, &g.emit);
    if (r < 0)
        return r;
    if (g.used)
        notify_file(f, IN_ACCESS);
    if (g.used || f->pos != before)
        return (int64_t)g.used;
    return size < 24 + NAME_BYTES_MAX && dirfile_has_more(f) ? -EINVAL : 0;
}

/* The fsid is the device number, as for most file systems of Linux. */
static int64_t
sys_path_put_statfs(struct task *t, const struct mount *m, uint32_t size,
                    gaddr to)
{
    struct fs_stat st = {.bsize = 4096};
    struct abi_statfs out = {0};

    if (size != sizeof out)
        return -EINVAL;
    if (m->fs->ops->statfs) {
        int r = m->fs->ops->statfs(m->fs, &st);
        if (r < 0)
            return r;
    }
    out.type = (uint32_t)st.type;
    out.bsize = out.frsize = (uint32_t)st.bsize;
    out.blocks = st.blocks;
    out.bfree = out.bavail = st.blocks_free;
    out.files = st.files;
    out.ffree = st.files_free;
    out.namelen = NAME_BYTES_MAX;
    out.flags = m->read_only ? ST_RDONLY : 0;
    out.fsid[0] = (int32_t)m->fs->dev;
    return copy_to_guest(t, to, &out, sizeof out);
}

/* statfs64(path, size, buf) */
int64_t
sys_statfs64(struct task *t, const union sysarg *a)
{
    struct vnode v;
    int r = sys_find_node(t, AT_FDCWD, a[0].addr, 0, &v);

    return r != 0 ? r : sys_path_put_statfs(t, v.mnt, a[1].u, a[2].addr);
}

/* fstatfs64(fd, size, buf) */
int64_t
sys_fstatfs64(struct task *t, const union sysarg *a)
{
    struct file *f = fd_file(t, a[0].i);

    struct mount *root = mount_root(&t->kernel->vfs);
    return sys_path_put_statfs(t, f->node.mnt ? f->node.mnt : root, a[1].u,
                               a[2].addr);
}
