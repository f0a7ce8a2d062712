/* Host files mapped for reading, and their identity.
 *
 * The hash of a large file takes long. Its result can be remembered for a file
 * with the same identity: device, inode, size and times. That is safe only if
 * every change of the file changes its ctime. */
#include "lib/hostmap.h"

#include "base/os_time.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

/* Two changes within the resolution of the file system's clock leave the same
 * times. A file is trusted only if its last change is older than this. */
#define SETTLED_NS (2 * NS_PER_S)
#ifndef XFS_SUPER_MAGIC
#define XFS_SUPER_MAGIC 0x58465342
#endif

/* True for file systems that give each change of a file a new ctime. Images of
 * file systems, for example, show the times that their author chose. */
static bool
hostmap_has_change_times(const struct statfs *fs)
{
    static const uint32_t types[] = {EXT4_SUPER_MAGIC,  XFS_SUPER_MAGIC,
                                     BTRFS_SUPER_MAGIC, TMPFS_MAGIC,
                                     F2FS_SUPER_MAGIC,  OVERLAYFS_SUPER_MAGIC};

    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if ((uint32_t)fs->f_type == types[i])
            return true;
    return false;
}

/* Saves the identity of a file. A writer of the file can set all of these
 * attributes except the ctime. */
static void
hostmap_identify(int hfd, const struct stat *st, struct host_file *f)
{
    struct statfs fs;
    int64_t changed = time_of_spec(st->st_ctim);
    int64_t written = time_of_spec(st->st_mtim);

    if (fstatfs(hfd, &fs) < 0 || !hostmap_has_change_times(&fs))
        return;
    int64_t young_ns = time_wall_ns() - SETTLED_NS;
    f->is_settled = changed < young_ns && written < young_ns;
    const uint64_t identity[] = {
        st->st_dev,        st->st_ino,        (uint64_t)st->st_size,
        (uint64_t)written, (uint64_t)changed, (uint64_t)fs.f_type};
    memcpy(f->identity, identity, sizeof identity);
    memcpy(f->identity + 6, &fs.f_fsid, sizeof fs.f_fsid);
}

/* O_NONBLOCK and O_NOCTTY: the path may name a FIFO or a terminal, which must
 * not block or become ours before fstat has rejected it. */
int
hostmap_open(const char *path, struct host_file *ret)
{
    struct host_file f = {0};
    struct stat st;
    int hfd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (hfd < 0)
        return -errno;
    int r = fstat(hfd, &st) < 0 ? -errno : 0;
    if (r == 0 && !S_ISREG(st.st_mode))
        r = S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
    if (r == 0 && st.st_size > 0) {
        void *map =
            mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, hfd, 0);
        if (map == MAP_FAILED)
            r = -errno;
        f.bytes = map;
        f.len = (size_t)st.st_size;
        hostmap_identify(hfd, &st, &f);
    }
    close(hfd);
    if (r == 0)
        *ret = f;
    return r;
}

void
hostmap_close(const struct host_file *f)
{
    if (f->bytes)
        munmap((void *)f->bytes, f->len);
}
