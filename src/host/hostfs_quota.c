/* Limits the growth of a host folder.
 *
 * The growth since the mount counts: sizes of regular files, including holes,
 * and inodes. It is negative if more was removed than added. Changes by other
 * processes of the host do not count, so nothing has to be measured at the
 * start: each operation of the guest reports its own difference. */
#include "host/hostfs.h"
#include "host/hostfs_impl.h"
#include "kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

void
hostfs_limit(struct fs *fs, const struct quota *max)
{
    CONTAINER_OF(fs, struct hostfs, fs)->max = *max;
}

/* Removing files extends the limit by as much; the sum must not overflow. */
static uint64_t
hostfs_quota_left(uint64_t max, int64_t grown)
{
    uint64_t most = INT64_MAX;
    uint64_t n;

    max = max < most ? max : most;
    if (grown >= 0)
        return max > (uint64_t)grown ? max - (uint64_t)grown : 0;
    n = max + (uint64_t)-grown;
    return n < most ? n : most;
}

struct quota
hostfs_left(const struct hostfs *h)
{
    return (struct quota){hostfs_quota_left(h->max.bytes, h->grown_bytes),
                          hostfs_quota_left(h->max.inodes, h->grown_inodes)};
}

/* The hit is recorded, so that the result of the run can name the limit. */
int
hostfs_refuse(const struct hostfs *h, enum limit_id id)
{
    kernel_of(h->fs.vfs)->limits.was_hit[id] = true;
    return -ENOSPC;
}

int
hostfs_check_new(const struct hostfs *h)
{
    return hostfs_left(h).inodes ? 0 : hostfs_refuse(h, LIMIT_mount_files);
}

void
hostfs_count_new(struct hostfs *h)
{
    h->grown_inodes++;
}

/* Called before a file grows. The caller reports the real growth afterwards
 * with hostfs_count_size, since the host may have done less. */
int
hostfs_check_size(const struct hostfs *h, int hfd, uint64_t size,
                  uint64_t *ret_before)
{
    struct stat st;

    if (fstat(hfd, &st) < 0)
        return -errno;
    *ret_before = (uint64_t)st.st_size;
    if (size > *ret_before && size - *ret_before > hostfs_left(h).bytes)
        return hostfs_refuse(h, LIMIT_mount_bytes);
    return 0;
}

void
hostfs_count_size(struct hostfs *h, uint64_t before, uint64_t after)
{
    h->grown_bytes += (int64_t)after - (int64_t)before;
}

/* A file that becomes shorter gives its bytes back to the quota. */
int
hostfs_truncate(struct hostfs *h, int hfd, uint64_t size)
{
    uint64_t before = 0;

    int r = hostfs_check_size(h, hfd, size, &before);
    if (r < 0)
        return r;
    if (ftruncate(hfd, (off_t)size) < 0)
        return -errno;
    hostfs_count_size(h, before, size);
    return 0;
}

static struct quota
hostfs_quota_cost_of(const struct stat *st)
{
    return (struct quota){S_ISREG(st->st_mode) ? (uint64_t)st->st_size : 0, 1};
}

/* An inode with another name, or with an open file, does not go with this name.
 * A directory has one name, whatever its link count says. */
struct quota
hostfs_cost_at(int dir_hfd, const char *name, const struct hostnode *n)
{
    struct stat st;

    if (fstatat(dir_hfd, name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
        (!S_ISDIR(st.st_mode) && st.st_nlink > 1) ||
        (n && !list_is_empty(&n->files)))
        return (struct quota){0};
    return hostfs_quota_cost_of(&st);
}

/* st_nlink is 0 for a file that has lost its last name. */
struct quota
hostfs_cost_of_nameless(int hfd)
{
    struct stat st;

    if (fstat(hfd, &st) < 0 || st.st_nlink)
        return (struct quota){0};
    return hostfs_quota_cost_of(&st);
}

void
hostfs_count_gone(struct hostfs *h, struct quota cost)
{
    h->grown_bytes -= (int64_t)cost.bytes;
    h->grown_inodes -= (int64_t)cost.inodes;
}
