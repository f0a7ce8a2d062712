/* Reading directories of a host folder.
 *
 * The directory is opened for each call and positioned by its cookie. No
 * descriptor is kept between two calls of the guest, so a guest with many open
 * directories costs the host nothing. */
#include "host/hostfs_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* struct linux_dirent64. */
struct dent {
    uint64_t ino;
    int64_t off;
    uint16_t reclen;
    uint8_t type;
    char name[];
};

/* A directory being read. */
struct reading {
    struct hostfs *h;
    struct hostnode *dir;
    int hfd;
    uint64_t cookie; /* the position after the entry emitted last */
    struct dir_emit *emit;
};

/* --- entries */

/* Returns the inode number for an entry. If something is mounted on it,
 * getdents reports the number of the directory below the mount; directories are
 * therefore asked for again, and the type is set with it. */
static uint64_t
dent_ino(const struct reading *r, const struct dent *d, uint8_t *type)
{
    struct stat st;

    if (*type != DT_DIR && *type != DT_UNKNOWN)
        return hostfs_ino(r->h, r->dir->dev, d->ino);
    if (fstatat(r->hfd, d->name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) <
        0)
        return hostfs_ino(r->h, r->dir->dev, d->ino);
    *type = (uint8_t)IFTODT(st.st_mode);
    return hostfs_ino(r->h, st.st_dev, st.st_ino);
}

static bool
hostfs_dir_is_dots(const char *name)
{
    return !strcmp(name, ".") || !strcmp(name, "..");
}

/* Emits the entries in h->dents. Returns 1, 0 if the receiver is full, or
 * -errno. */
static int
hostfs_dir_emit_dents(struct reading *r, size_t len)
{
    for (size_t at = 0; at < len;) {
        const struct dent *d = (const void *)(r->h->dents + at);
        uint8_t type = d->type;
        uint64_t cookie;
        at += d->reclen;
        int error = hostnode_cookie(r->h, r->dir, r->cookie, d->off, &cookie);
        if (error < 0)
            return error;
        if (!hostfs_dir_is_dots(d->name)) {
            uint64_t ino = dent_ino(r, d, &type);
            if (!r->emit->entry(r->emit, d->name, strlen(d->name), ino, type,
                                cookie))
                return 0;
        }
        r->cookie = cookie;
    }
    return 1;
}

/* A cookie that was dropped ends the directory: its position is unknown, and
 * reading from the start would repeat entries. */
static int
hostfs_dir_read_from(struct reading *r)
{
    int64_t off = hostnode_offset(r->dir, r->cookie);

    if (off < 0)
        return 0;
    if (off && lseek(r->hfd, off, SEEK_SET) < 0)
        return -errno;
    for (int more = 1; more > 0;) {
        long n =
            syscall(SYS_getdents64, r->hfd, r->h->dents, HOSTFS_DENTS_BYTES);
        if (n < 0)
            return -errno;
        more = n ? hostfs_dir_emit_dents(r, (size_t)n) : 0;
        if (more < 0)
            return more;
    }
    return 0;
}

int
hostfs_readdir(struct fs *fs, uint64_t ino, uint64_t cookie,
               struct dir_emit *emit)
{
    struct reading r = {
        .h = CONTAINER_OF(fs, struct hostfs, fs),
        .cookie = cookie,
        .emit = emit,
    };

    r.dir = hostnode_find(r.h, ino);
    if (!r.dir)
        return -ENOENT;
    int path_hfd = hostnode_dir_hfd(r.h, r.dir);
    if (path_hfd < 0)
        return path_hfd;
    r.hfd = host_open(path_hfd, ".", O_RDONLY | O_DIRECTORY, 0);
    if (r.hfd < 0)
        return r.hfd;
    if (!cookie)
        hostnode_begin_offsets(r.h, r.dir);
    int error = hostfs_dir_read_from(&r);
    (void)close(r.hfd);
    return error;
}
