/* System calls on the attributes of files. */
#include "kernel/abi.h"
#include "kernel/kernel.h"
#include "kernel/sys_path.h"
#include "kernel/syscall.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define STATX_UNKNOWN 0x80000000u /* reserved by Linux */

#define KNOWN_AT_FLAGS \
    (uint32_t)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH | AT_NO_AUTOMOUNT)

/* The target of a path or a descriptor. */
struct attr_subject {
    struct attr attr;
    uint64_t dev;
};

/* A file without a path is on no device. */
static int
sys_attr_stat_file(struct file *f, struct attr_subject *ret)
{
    ret->dev = f->node.mnt ? f->node.mnt->fs->dev : 0;
    return file_getattr(f, &ret->attr);
}

/* With AT_EMPTY_PATH, the descriptor itself is meant: also one without a path,
 * such as a pipe. */
static int
sys_attr_stat_path(struct task *t, int dirfd, gaddr name, uint32_t at_flags,
                   struct attr_subject *ret)
{
    struct found f;
    int r;
    const char *path = guest_path(t, 0, name, &r);

    if (!path)
        return r < 0 ? r : -EFAULT;
    if (!*path && at_flags & AT_EMPTY_PATH && dirfd != AT_FDCWD) {
        struct file *of = fd_find(t, dirfd);
        return of ? sys_attr_stat_file(of, ret) : -EBADF;
    }
    r = sys_find_path(t, dirfd, path, at_flags, &f);
    if (r != 0)
        return r;
    if (!f.node.mnt)
        return sys_attr_stat_file(f.file, ret);
    ret->dev = f.node.mnt->fs->dev;
    return vnode_getattr(&f.node, &ret->attr);
}

static int
sys_attr_put_stat(struct task *t, gaddr to, const struct attr_subject *s)
{
    struct abi_stat stat;

    abi_fill_stat(&stat, s->dev, &s->attr);
    return copy_to_guest(t, to, &stat, sizeof stat);
}

/* fstatat64(dirfd, path, buf, flags) */
int64_t
sys_fstatat64(struct task *t, const union sysarg *a)
{
    struct attr_subject s;

    if (a[3].u & ~KNOWN_AT_FLAGS)
        return -EINVAL;
    int r = sys_attr_stat_path(t, a[0].i, a[1].addr, a[3].u, &s);
    return r != 0 ? r : sys_attr_put_stat(t, a[2].addr, &s);
}

/* fstat64(fd, buf) */
int64_t
sys_fstat64(struct task *t, const union sysarg *a)
{
    struct file *f = fd_file(t, a[0].i);
    struct attr_subject s;

    int r = sys_attr_stat_file(f, &s);
    return r != 0 ? r : sys_attr_put_stat(t, a[1].addr, &s);
}

/* statx(dirfd, path, flags, mask, buf): all that is known, whatever the mask */
int64_t
sys_statx(struct task *t, const union sysarg *a)
{
    uint32_t sync = a[2].u & AT_STATX_SYNC_TYPE;
    struct attr_subject s;
    struct statx x;

    if (a[2].u & ~(KNOWN_AT_FLAGS | AT_STATX_SYNC_TYPE) ||
        sync == AT_STATX_SYNC_TYPE || a[3].u & STATX_UNKNOWN)
        return -EINVAL;
    int r = sys_attr_stat_path(t, a[0].i, a[1].addr, a[2].u & ~sync, &s);
    if (r != 0)
        return r;
    abi_fill_statx(&x, s.dev, &s.attr);
    return copy_to_guest(t, a[4].addr, &x, sizeof x);
}

/* Devices on a read-only mount are writable: the write does not go to the
 * mount. */
static int
sys_attr_access_found(const struct cred *c, const struct found *f, int want)
{
    const struct mount *mnt = f->node.mnt;
    struct attr attr;

    int r = mnt ? vnode_getattr(&f->node, &attr) : file_getattr(f->file, &attr);
    if (r < 0)
        return r;
    if (want & W_OK && mnt && mnt->read_only && !S_ISCHR(attr.mode))
        return -EROFS;
    return vfs_access(c, &attr, want);
}

/* faccessat2(dirfd, path, mode, flags): by the real ids, unless AT_EACCESS */
int64_t
sys_faccessat2(struct task *t, const union sysarg *a)
{
    struct cred c = t->as.cred;
    struct found f;

    if (a[2].u & ~(uint32_t)(R_OK | W_OK | X_OK))
        return -EINVAL;
    int r = sys_find(t, a[0].i, a[1].addr, a[3].u & ~(uint32_t)AT_EACCESS, &f);
    if (!(a[3].u & AT_EACCESS)) {
        c.uid = c.ruid;
        c.gid = c.rgid;
    }
    return r != 0 ? r : sys_attr_access_found(&c, &f, a[2].i);
}

/* faccessat(dirfd, path, mode): the older call, without flags */
int64_t
sys_faccessat(struct task *t, const union sysarg *a)
{
    union sysarg b[4] = {a[0], a[1], a[2]};

    return sys_faccessat2(t, b);
}

/* Finds the entry that a path leads to. Its name is in *f, which must outlive
 * it. */
static int
dentry_of_path(struct task *t, int dirfd, gaddr path, uint32_t at_flags,
               struct found *f, struct dentry *ret)
{
    int r = sys_find(t, dirfd, path, at_flags, f);

    if (r == 0 && !f->node.mnt)
        r = -ENXIO;
    if (r == 0)
        *ret = found_dentry(f);
    return r;
}

/* A symbolic link has no mode of its own. */
static int64_t
sys_attr_chmod_at(struct task *t, const struct dentry *p, uint32_t mode)
{
    struct attr old, set = {0};

    int r = vnode_getattr(&p->node, &old);
    if (r < 0)
        return r;
    if (S_ISLNK(old.mode))
        return -EOPNOTSUPP;
    set.mode = (old.mode & S_IFMT) | (mode & 07777);
    return vfs_setattr(&t->as, p, &set, ATTR_MODE, false);
}

/* fchmodat(dirfd, path, mode) */
int64_t
sys_fchmodat(struct task *t, const union sysarg *a)
{
    struct found f;
    struct dentry p;
    int r = dentry_of_path(t, a[0].i, a[1].addr, 0, &f, &p);

    return r != 0 ? r : sys_attr_chmod_at(t, &p, a[2].u);
}

/* Finds the entry of a descriptor that may change attributes. -EBADF,
 * -EPERM. */
static int
dentry_of_fd(struct task *t, int fd, struct dentry *ret)
{
    struct file *f = fd_find(t, fd);

    if (!f || f->flags & O_PATH)
        return -EBADF;
    if (!f->node.mnt)
        return -EPERM;
    *ret = file_dentry(f);
    return 0;
}

/* fchmod(fd, mode) */
int64_t
sys_fchmod(struct task *t, const union sysarg *a)
{
    struct dentry p;
    int r = dentry_of_fd(t, a[0].i, &p);

    return r != 0 ? r : sys_attr_chmod_at(t, &p, a[1].u);
}

/* An id of -1 leaves the owner or the group as it is. */
static int64_t
sys_attr_chown_at(struct task *t, const struct dentry *p, uint32_t uid,
                  uint32_t gid)
{
    struct attr set = {.uid = uid, .gid = gid};
    unsigned what =
        (uid != UINT32_MAX ? ATTR_UID : 0) | (gid != UINT32_MAX ? ATTR_GID : 0);

    return vfs_setattr(&t->as, p, &set, what, false);
}

/* fchownat(dirfd, path, uid, gid, flags): AT_EMPTY_PATH changes the
 * descriptor's own file. */
int64_t
sys_fchownat(struct task *t, const union sysarg *a)
{
    struct found f;
    struct dentry p;

    int r = dentry_of_path(t, a[0].i, a[1].addr, a[4].u, &f, &p);
    return r != 0 ? r : sys_attr_chown_at(t, &p, a[2].u, a[3].u);
}

/* fchown(fd, uid, gid) */
int64_t
sys_fchown(struct task *t, const union sysarg *a)
{
    struct dentry p;
    int r = dentry_of_fd(t, a[0].i, &p);

    return r != 0 ? r : sys_attr_chown_at(t, &p, a[1].u, a[2].u);
}

/* Reads one of the two times of utimensat. *ret_set is false for UTIME_OMIT,
 * and *ret_now true for UTIME_NOW. */
static int
sys_attr_one_time(struct task *t, gaddr a, int64_t now, int64_t *ret,
                  bool *ret_set, bool *ret_now)
{
    struct abi_timespec ts;

    int r = copy_from_guest(t, &ts, a, sizeof ts);
    if (r < 0)
        return r;
    *ret_now = ts.nsec == UTIME_NOW;
    *ret_set = ts.nsec != UTIME_OMIT;
    *ret = now;
    if (*ret_now || !*ret_set)
        return 0;
    if (ts.nsec < 0 || ts.nsec >= NS_PER_S)
        return -EINVAL;
    *ret = time_join(ts.sec, ts.nsec);
    return 0;
}

/* Setting both times to now needs fewer rights than setting them to a value:
 * writers may do it, not only the owner. */
static int
sys_attr_get_times(struct task *t, gaddr times, struct attr *set,
                   unsigned *what, bool *now)
{
    int64_t ns = clock_real_ns(&t->kernel->clock);
    bool a_set = true, m_set = true, a_now = true, m_now = true;
    int r = 0;

    set->atime_ns = set->mtime_ns = ns;
    if (times)
        r = sys_attr_one_time(t, times, ns, &set->atime_ns, &a_set, &a_now);
    if (r == 0 && times)
        r = sys_attr_one_time(t, times + 16, ns, &set->mtime_ns, &m_set,
                              &m_now);
    *what = (a_set ? ATTR_ATIME : 0) | (m_set ? ATTR_MTIME : 0);
    *now = a_now && m_now;
    return r;
}

/* utimensat(dirfd, path or NULL, times or NULL, flags) */
int64_t
sys_utimensat(struct task *t, const union sysarg *a)
{
    struct attr set = {0};
    struct found f;
    struct dentry p;
    unsigned what;
    bool now;

    int r = sys_attr_get_times(t, a[2].addr, &set, &what, &now);
    if (r < 0)
        return r;
    if (a[3].u & ~(uint32_t)(AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH))
        return -EINVAL;
    if (a[1].addr)
        r = dentry_of_path(t, a[0].i, a[1].addr, a[3].u, &f, &p);
    else
        r = dentry_of_fd(t, a[0].i, &p);
    if (r < 0 || !what)
        return r;
    return vfs_setattr(&t->as, &p, &set, what, now);
}
