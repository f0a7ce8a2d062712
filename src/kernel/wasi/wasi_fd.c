/* Descriptors: their flags, rights, attributes and names. */
#include "kernel/vfs/dirfile.h"
#include "kernel/wasi/wasi_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int
wasi_check(struct task *t, uint64_t a, uint64_t len)
{
    return guest_check(t, (gaddr)a, len);
}

/* A FIFO has no type of its own in WASI. */
static enum wasi_filetype
filetype_of(uint32_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFREG:
        return FILETYPE_REGULAR_FILE;
    case S_IFDIR:
        return FILETYPE_DIRECTORY;
    case S_IFCHR:
        return FILETYPE_CHARACTER_DEVICE;
    case S_IFBLK:
        return FILETYPE_BLOCK_DEVICE;
    case S_IFLNK:
        return FILETYPE_SYMBOLIC_LINK;
    case S_IFSOCK:
        return FILETYPE_SOCKET_STREAM;
    default:
        return FILETYPE_UNKNOWN;
    }
}

/* --- flags and rights */

static const struct {
    uint32_t wasi, open;
} flag_rows[] = {
    {FDFLAG_APPEND, O_APPEND},     {FDFLAG_DSYNC, O_DSYNC},
    {FDFLAG_NONBLOCK, O_NONBLOCK}, {FDFLAG_RSYNC, O_RSYNC},
    {FDFLAG_SYNC, O_SYNC},
};

#define FLAG_ROWS (sizeof flag_rows / sizeof *flag_rows)

uint32_t
wasi_open_flags(uint32_t fdflags)
{
    uint32_t flags = 0;

    for (size_t i = 0; i < FLAG_ROWS; i++)
        if (fdflags & flag_rows[i].wasi)
            flags |= flag_rows[i].open;
    return flags;
}

/* O_SYNC contains the bit of O_DSYNC, so all bits of a row must be set. */
static uint16_t
wasi_fd_fdflags_of(const struct file *f)
{
    uint32_t flags = 0;

    for (size_t i = 0; i < FLAG_ROWS; i++)
        if ((f->flags & flag_rows[i].open) == flag_rows[i].open)
            flags |= flag_rows[i].wasi;
    return (uint16_t)flags;
}

/* fd_fdstat_get(fd, &stat) */
int64_t
wasi_fd_fdstat_get(struct task *t, const uint64_t *a)
{
    struct attr attr = {0};
    struct file *f;

    int r = wasi_file(t, a[0], 0, &f);
    if (r == 0)
        r = file_getattr(f, &attr);
    if (r < 0)
        return r;
    struct rights rights = rights_get(t, (int)a[0], f);
    struct wasi_fdstat s = {.filetype = (uint8_t)filetype_of(attr.mode),
                            .flags = wasi_fd_fdflags_of(f),
                            .rights_base = rights.base,
                            .rights_inheriting = rights.inheriting};
    return copy_to_guest(t, (gaddr)a[1], &s, sizeof s);
}

/* fd_fdstat_set_flags(fd, flags): durability is decided by open. */
int64_t
wasi_fd_fdstat_set_flags(struct task *t, const uint64_t *a)
{
    const uint32_t can_change = O_APPEND | O_NONBLOCK;
    uint32_t flags = (uint32_t)a[1];
    struct file *f;

    int r = wasi_file(t, a[0], RIGHT_FD_FDSTAT_SET_FLAGS, &f);
    if (r < 0)
        return r;
    if (flags & ~(uint32_t)FDFLAGS_ALL ||
        flags & FDFLAGS_SYNCS & ~(uint32_t)wasi_fd_fdflags_of(f))
        return -EINVAL;
    f->flags = (f->flags & ~can_change) | (wasi_open_flags(flags) & can_change);
    return 0;
}

/* Copies the name of a preopened directory; NULL for other descriptors.
 * -ENOMEM. */
static int
wasi_fd_copy_preopen(struct task *t, int fd, OWN char **ret)
{
    const char *name = rights_preopen(t, fd);

    *ret = name ? strdup(name) : NULL;
    return name && !*ret ? -ENOMEM : 0;
}

/* fd_fdstat_set_rights(fd, base, inheriting): only fewer. */
int64_t
wasi_fd_fdstat_set_rights(struct task *t, const uint64_t *a)
{
    struct rights now, set = {a[1], a[2]};
    struct file *f;

    int r = wasi_file(t, a[0], 0, &f);
    if (r < 0)
        return r;
    now = rights_get(t, (int)a[0], f);
    if (set.base & ~now.base || set.inheriting & ~now.inheriting)
        return -ENOTCAPABLE;
    char *name;
    r = wasi_fd_copy_preopen(t, (int)a[0], &name);
    return r < 0 ? r : rights_set(t, (int)a[0], &set, name);
}

/* --- closing and moving */

/* fd_close(fd): the rights go with the descriptor, also if closing fails. */
int64_t
wasi_fd_close(struct task *t, const uint64_t *a)
{
    rights_drop(t, (int)a[0]);
    return fd_close(t, (int)a[0]);
}

/* fd_renumber(from, to): `to` must be open, and is replaced. Rights and the
 * name of a preopen move with the file. */
int64_t
wasi_fd_renumber(struct task *t, const uint64_t *a)
{
    int from = (int)a[0], to = (int)a[1];
    struct file *f = fd_find(t, from);

    if (!f || !fd_find(t, to))
        return -EBADF;
    if (from == to)
        return 0;
    struct rights rights = rights_get(t, from, f);
    char *name;
    int r = wasi_fd_copy_preopen(t, from, &name);
    if (r < 0)
        return r;
    r = fd_replace(t, to, file_get(f), t->fds.v[from].cloexec);
    if (r < 0) {
        free(name);
        return r;
    }
    rights_drop(t, from);
    (void)fd_close(t, from);
    return rights_set(t, to, &rights, name);
}

/* --- attributes */

/* FIFOs are of unknown type; all times are unsigned. */
int
wasi_put_filestat(struct task *t, gaddr to, uint64_t dev, const struct attr *a)
{
    struct wasi_filestat s = {.dev = dev,
                              .ino = a->ino,
                              .filetype = (uint8_t)filetype_of(a->mode),
                              .nlink = a->nlink,
                              .size = a->size,
                              .atim = (uint64_t)a->atime_ns,
                              .mtim = (uint64_t)a->mtime_ns,
                              .ctim = (uint64_t)a->ctime_ns};

    return copy_to_guest(t, to, &s, sizeof s);
}

/* fd_filestat_get(fd, &stat) */
int64_t
wasi_fd_filestat_get(struct task *t, const uint64_t *a)
{
    struct attr attr;
    struct file *f;

    int r = wasi_file(t, a[0], RIGHT_FD_FILESTAT_GET, &f);
    if (r == 0)
        r = file_getattr(f, &attr);
    if (r != 0)
        return r;
    uint64_t dev = f->node.mnt ? f->node.mnt->fs->dev : 0;
    return wasi_put_filestat(t, (gaddr)a[1], dev, &attr);
}

/* Times are unsigned in WASI; one beyond the signed range is an error. */
int
wasi_get_times(struct task *t, const uint64_t *a, struct set_times *ret)
{
    int64_t now = clock_real_ns(&t->kernel->clock);
    uint64_t flags = a[2];
    bool a_now = flags & FSTFLAG_ATIM_NOW, m_now = flags & FSTFLAG_MTIM_NOW;

    if (flags & ~(uint64_t)FSTFLAGS_ALL || (a_now && flags & FSTFLAG_ATIM) ||
        (m_now && flags & FSTFLAG_MTIM))
        return -EINVAL;
    if ((flags & FSTFLAG_ATIM && (int64_t)a[0] < 0) ||
        (flags & FSTFLAG_MTIM && (int64_t)a[1] < 0))
        return -EINVAL;
    *ret = (struct set_times){
        .attr.atime_ns = a_now ? now : (int64_t)a[0],
        .attr.mtime_ns = m_now ? now : (int64_t)a[1],
        .what = (flags & (FSTFLAG_ATIM | FSTFLAG_ATIM_NOW) ? ATTR_ATIME : 0) |
                (flags & (FSTFLAG_MTIM | FSTFLAG_MTIM_NOW) ? ATTR_MTIME : 0),
        .now = !(flags & (FSTFLAG_ATIM | FSTFLAG_MTIM)),
    };
    return 0;
}

/* fd_filestat_set_times(fd, atim, mtim, fst_flags) */
int64_t
wasi_fd_filestat_set_times(struct task *t, const uint64_t *a)
{
    struct set_times set;
    struct file *f;

    int r = wasi_file(t, a[0], RIGHT_FD_FILESTAT_SET_TIMES, &f);
    if (r == 0)
        r = wasi_get_times(t, a + 1, &set);
    if (r != 0 || !set.what)
        return r;
    if (!f->node.mnt)
        return -EPERM;
    struct dentry p = file_dentry(f);
    return vfs_setattr(&t->as, &p, &set.attr, set.what, set.now);
}

/* --- preopens */

/* fd_prestat_get(fd, &prestat): EBADF ends a libc's search for preopens. */
int64_t
wasi_fd_prestat_get(struct task *t, const uint64_t *a)
{
    const char *name = rights_preopen(t, (int)a[0]);
    struct wasi_prestat p = {.tag = 0};

    if (!name)
        return -EBADF;
    p.name_len = (uint32_t)strlen(name);
    return copy_to_guest(t, (gaddr)a[1], &p, sizeof p);
}

/* fd_prestat_dir_name(fd, buf, len) */
int64_t
wasi_fd_prestat_dir_name(struct task *t, const uint64_t *a)
{
    const char *name = rights_preopen(t, (int)a[0]);

    if (!name)
        return -EBADF;
    size_t len = strlen(name);
    if (a[2] < len)
        return -ENAMETOOLONG;
    return copy_to_guest(t, (gaddr)a[1], name, len);
}

/* --- directories */

/* The buffer of one fd_readdir. */
struct wasi_listing {
    struct dir_emit emit;
    uint8_t *buf;
    size_t used, size;
};

/* Copies as many of the bytes as fit. */
static void
wasi_fd_put_bytes(struct wasi_listing *l, const void *p, size_t len)
{
    size_t room = l->size - l->used;
    size_t n = len < room ? len : room;

    memcpy(l->buf + l->used, p, n);
    l->used += n;
}

/* Appends an entry. The last one is cut where the buffer ends: a full buffer
 * tells the program that there may be more. */
static bool
wasi_fd_put_entry(struct dir_emit *e, const char *name, size_t len,
                  uint64_t ino, unsigned dtype, uint64_t cookie)
{
    struct wasi_listing *l = CONTAINER_OF(e, struct wasi_listing, emit);
    struct wasi_dirent d = {.next = cookie,
                            .ino = ino,
                            .namlen = (uint32_t)len,
                            .type = (uint8_t)filetype_of(DTTOIF(dtype))};

    wasi_fd_put_bytes(l, &d, sizeof d);
    wasi_fd_put_bytes(l, name, len);
    return l->used < l->size;
}

/* fd_readdir(fd, buf, len, cookie, &used): the cookie is the position of the
 * open directory, so that telldir(3) works. */
int64_t
wasi_fd_readdir(struct task *t, const uint64_t *a)
{
    struct wasi_listing l = {.emit.entry = wasi_fd_put_entry,
                             .size = (size_t)a[2]};
    struct file *f;

    int r = wasi_file(t, a[0], RIGHT_FD_READDIR, &f);
    if (r < 0)
        return r;
    l.buf = guest_out(t, (gaddr)a[1], a[2]);
    if (!l.buf || wasi_check(t, a[4], sizeof(uint32_t)) < 0)
        return -EFAULT;
    f->pos = a[3];
    r = l.size ? dirfile_read(f, &l.emit) : 0;
    if (r < 0)
        return r;
    uint32_t used = (uint32_t)l.used;
    return copy_to_guest(t, (gaddr)a[4], &used, sizeof used);
}
