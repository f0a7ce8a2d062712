/* Changing the attributes of host files.
 *
 * Every change goes through a descriptor of the very inode: an open file of it,
 * or an O_PATH descriptor that was compared with the node. A name could have
 * become a link to somewhere else in the meantime. */
#include "host/hostfile.h"
#include "host/hostfs_impl.h"
#include "kernel/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452 /* since Linux 6.6 */
#endif

/* Changes the mode through an opened file, for hosts without fchmodat2. This
 * needs the right to read or write the file. */
static int
hostnode_attr_chmod_by_opening(struct hostfs *h, struct hostnode *n,
                               mode_t mode)
{
    int hfd = hostnode_open(h, n, O_RDONLY | O_NONBLOCK);

    if (hfd == -EACCES)
        hfd = hostnode_open(h, n, O_WRONLY | O_NONBLOCK);
    if (hfd < 0)
        return hfd;
    int r = fchmod(hfd, mode) < 0 ? -errno : 0;
    (void)close(hfd);
    return r;
}

/* Set-user-ID and set-group-ID bits are dropped: on the host, they would give
 * the rights of the sandbox's user to programs that a guest wrote. */
int
hostnode_chmod(struct hostfs *h, struct hostnode *n, uint32_t mode)
{
    struct stat st;
    int r = hostnode_stat(h, n, &st);

    if (r < 0)
        return r;
    if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
        return S_ISLNK(st.st_mode) ? -EOPNOTSUPP : -EPERM;
    mode_t bits = mode & (S_ISDIR(st.st_mode) ? 01777 : 0777);
    if (!list_is_empty(&n->files)) {
        int hfd = CONTAINER_OF(n->files.next, struct hostopen, link)->hfd;
        return fchmod(hfd, bits) < 0 ? -errno : 0;
    }
    int hfd = hostnode_open(h, n, O_PATH);
    if (hfd < 0)
        return hfd;
    r = syscall(SYS_fchmodat2, hfd, "", bits, AT_EMPTY_PATH) < 0 ? -errno : 0;
    (void)close(hfd);
    return r == -ENOSYS || r == -EPERM
               ? hostnode_attr_chmod_by_opening(h, n, bits)
               : r;
}

/* Owners never change. Setting the owner that is shown already is allowed, and
 * changes the ctime as on Linux. */
static int
hostnode_attr_set_owner(struct hostfs *h, struct hostnode *n,
                        const struct attr *a, unsigned what)
{
    struct attr now;
    struct stat st;
    int r = hostnode_stat(h, n, &st);

    if (r < 0)
        return r;
    hostfile_attr(h->fs.vfs, &st, &now);
    if ((what & ATTR_UID && a->uid != now.uid) ||
        (what & ATTR_GID && a->gid != now.gid))
        return -EPERM;
    if (!list_is_empty(&n->files)) {
        int hfd = CONTAINER_OF(n->files.next, struct hostopen, link)->hfd;
        return fchown(hfd, (uid_t)-1, (gid_t)-1) < 0 ? -errno : 0;
    }
    int hfd = hostnode_open(h, n, O_PATH);
    if (hfd < 0)
        return hfd;
    r = fchownat(hfd, "", (uid_t)-1, (gid_t)-1, AT_EMPTY_PATH) < 0 ? -errno : 0;
    (void)close(hfd);
    return r;
}

/* The file is opened for writing, so the host checks the right to change it.
 * The kind is checked before, because opening a device can have effects. */
static int
hostnode_attr_set_size(struct hostfs *h, struct hostnode *n, uint64_t size)
{
    struct stat st;
    int r = hostnode_stat(h, n, &st);

    if (r < 0)
        return r;
    if (!S_ISREG(st.st_mode))
        return -EINVAL;
    int hfd = hostnode_open(h, n, O_WRONLY | O_NONBLOCK);
    if (hfd < 0)
        return hfd;
    r = hostfs_truncate(h, hfd, size);
    (void)close(hfd);
    return r;
}

static struct timespec
hostnode_attr_time_of(int64_t ns, bool is_set)
{
    int64_t s;
    int32_t rest;

    if (!is_set)
        return (struct timespec){.tv_nsec = UTIME_OMIT};
    time_split(ns, &s, &rest);
    return (struct timespec){.tv_sec = s, .tv_nsec = rest};
}

static int
hostnode_attr_set_times(struct hostfs *h, struct hostnode *n,
                        const struct attr *a, unsigned what)
{
    struct timespec ts[2] = {
        hostnode_attr_time_of(a->atime_ns, what & ATTR_ATIME),
        hostnode_attr_time_of(a->mtime_ns, what & ATTR_MTIME)};

    if (!list_is_empty(&n->files)) {
        int hfd = CONTAINER_OF(n->files.next, struct hostopen, link)->hfd;
        return futimens(hfd, ts) < 0 ? -errno : 0;
    }
    int hfd = hostnode_open(h, n, O_PATH);
    if (hfd < 0)
        return hfd;
    int r = utimensat(hfd, "", ts, AT_EMPTY_PATH) < 0 ? -errno : 0;
    (void)close(hfd);
    return r;
}

/* The size comes before the times, which it would change. */
int
hostnode_setattr(struct hostfs *h, struct hostnode *n, const struct attr *a,
                 unsigned what)
{
    int r = 0;

    if (what & (ATTR_UID | ATTR_GID))
        r = hostnode_attr_set_owner(h, n, a, what);
    if (r == 0 && what & ATTR_SIZE)
        r = hostnode_attr_set_size(h, n, a->size);
    if (r == 0 && what & ATTR_MODE)
        r = hostnode_chmod(h, n, a->mode);
    if (r == 0 && what & (ATTR_ATIME | ATTR_MTIME))
        r = hostnode_attr_set_times(h, n, a, what);
    return r;
}
