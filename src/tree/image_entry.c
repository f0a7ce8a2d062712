/* Entries of a root image: where they go in the tree and what they hold.
 * Symbolic links on the way are never followed. */
#include "base/time.h"
#include "tree/image_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Where an entry goes; a name of length 0 is the root itself. */
struct place {
    uint64_t dir;
    struct name name;
};

/* Errors of the tree that the entry is to blame for. */
static int
refuse_errno(struct indexer *x, const char *path, int r)
{
    if (r == -ENOMEM || r == -ENOSPC)
        return r;
    return image_refuse(x, "%.100s: %s", path, strerror(-r));
}

/* Changes to a directory do not change the time that its entry gave it. */
static int64_t
time_of(const struct indexer *x, uint64_t ino)
{
    const struct inode *i = tree_find(x->tree, ino);
    return i ? i->mtime_ns : 0;
}

/* The directory `name` in *dir; made if it is missing and make is set. */
static int
step_into(struct indexer *x, uint64_t *dir, struct name name, bool make)
{
    static const struct attr a = {.mode = S_IFDIR | 0755};
    uint64_t ino;

    int r = tree_lookup(x->tree, *dir, name, &ino);
    if (r == -ENOENT && make)
        r = tree_create(x->tree, *dir, name, &a, time_of(x, *dir), &ino);
    if (r < 0)
        return r;
    *dir = ino;
    return inode_is_dir(tree_find(x->tree, ino)) ? 0 : -ENOTDIR;
}

int
image_check_path(struct indexer *x, const char *path)
{
    if (!path || !*path)
        return image_refuse(x,
                            "an entry has no name, or one that is not UTF-8");
    if (strlen(path) >= PATH_BYTES_MAX)
        return image_refuse(x, "%.100s...: the name is too long", path);
    for (const char *p = path; *p;) {
        size_t n = strcspn(p, "/");
        if (n == 2 && p[0] == '.' && p[1] == '.')
            return image_refuse(x, "%.100s: the name has a component \"..\"",
                                path);
        if (n > NAME_BYTES_MAX)
            return image_refuse(x, "%.100s...: a component is too long", path);
        p += n + (p[n] == '/');
    }
    return 0;
}

/* Finds the directory that `path` is in, and its last component. */
static int
find_place(struct indexer *x, const char *path, bool make, struct place *ret)
{
    struct place at = {.dir = TREE_ROOT};
    int r = image_check_path(x, path);
    if (r < 0)
        return r;
    for (const char *p = path; *p;) {
        size_t n = strcspn(p, "/");
        struct name name = {p, n};
        p += n + (p[n] == '/');
        if (!n || (n == 1 && name.s[0] == '.'))
            continue;
        if (at.name.len)
            r = step_into(x, &at.dir, at.name, make);
        if (r < 0)
            return refuse_errno(x, path, r);
        at.name = name;
    }
    *ret = at;
    return 0;
}

/* The inode at a place, or 0. */
static uint64_t
ino_at(const struct indexer *x, const struct place *at)
{
    uint64_t ino;

    if (!at->name.len)
        return at->dir;
    return tree_lookup(x->tree, at->dir, at->name, &ino) ? 0 : ino;
}

/* The last entry with a name wins: removes what is there. */
static int
clear_place(struct indexer *x, const struct place *at, const char *path)
{
    uint64_t ino = ino_at(x, at);
    if (!ino)
        return 0;
    if (!at->name.len)
        return image_refuse(x, "%.100s: the root must be a directory", path);
    bool is_dir = inode_is_dir(tree_find(x->tree, ino));
    int r = x->is_layer
                ? image_remove(x->tree, at->dir, at->name)
                : tree_unlink(x->tree, at->dir, at->name,
                              is_dir ? UNLINK_DIR : 0, time_of(x, at->dir));
    return r < 0 ? refuse_errno(x, path, r) : 0;
}

/* Owner, mode and times of the entry. */
static int
read_attr(struct indexer *x, const char *path, struct attr *ret)
{
    struct archive_entry *e = x->entry;
    int64_t s = archive_entry_mtime(e), uid = archive_entry_uid(e);
    int64_t gid = archive_entry_gid(e);

    if (s < -TIME_S_MAX || s > TIME_S_MAX)
        return image_refuse(x, "%.100s: the time is out of range", path);
    if (uid < 0 || uid > UINT32_MAX || gid < 0 || gid > UINT32_MAX)
        return image_refuse(x, "%.100s: the owner is out of range", path);
    int64_t mtime_ns = time_join(s, archive_entry_mtime_nsec(e));
    *ret = (struct attr){
        .mode = archive_entry_filetype(e) | archive_entry_perm(e),
        .uid = (uint32_t)uid,
        .gid = (uint32_t)gid,
        .atime_ns = mtime_ns,
        .mtime_ns = mtime_ns,
    };
    return 0;
}

static int
set_attr(struct indexer *x, uint64_t ino, const struct attr *a)
{
    return tree_setattr(
        x->tree, ino, a,
        ATTR_MODE | ATTR_UID | ATTR_GID | ATTR_ATIME | ATTR_MTIME, a->mtime_ns);
}

static bool
is_in_map(const struct indexer *x, const void *p, size_t n)
{
    uintptr_t at = (uintptr_t)p, map = (uintptr_t)x->map;

    return at >= map && at - map <= x->len && n <= x->len - (at - map);
}

static int
add_block(struct indexer *x, uint64_t ino, const void *p, size_t n,
          uint64_t off)
{
    if (!x->is_layer && is_in_map(x, p, n) && off % CHUNK_BYTES == 0)
        return tree_map(x->tree, ino, off, p, n);
    while (n) {
        int64_t r = tree_write(x->tree, ino, off, p, n, 0);
        if (r < 0)
            return (int)r;
        p = (const char *)p + r;
        n -= (size_t)r;
        off += (uint64_t)r;
    }
    return 0;
}

static int
add_content(struct indexer *x, uint64_t ino, const char *path)
{
    int64_t size = archive_entry_size(x->entry), off;
    const void *p;
    size_t n;
    int r;

    if (size < 0 || (uint64_t)size > FILE_BYTES_MAX)
        return image_refuse(x, "%.100s: the size is out of range", path);
    while (!(r = archive_read_data_block(x->archive, &p, &n, &off))) {
        if (off < 0 || off > size || n > (uint64_t)(size - off))
            return image_refuse(x, "%.100s: content beyond its size", path);
        r = add_block(x, ino, p, n, (uint64_t)off);
        if (r < 0)
            return refuse_errno(x, path, r);
    }
    if (r != ARCHIVE_EOF)
        return image_refuse_archive(x);
    r = tree_truncate(x->tree, ino, (uint64_t)size, 0);
    return r < 0 ? refuse_errno(x, path, r) : 0;
}

/* A name of SCHILY.xattr as it was: GNU tar and libarchive write what the
 * header cannot hold as %XX. */
static void
decode_name(const char *in, char *out, size_t size)
{
    size_t n = 0;

    while (*in && n + 1 < size) {
        const char hex[3] = {in[1], in[1] ? in[2] : '\0'};
        char *end = NULL;
        unsigned long c = *in == '%' ? strtoul(hex, &end, 16) : 0;
        bool is_code = c && end == hex + 2;
        out[n++] = (char)(is_code ? c : (unsigned char)*in);
        in += is_code ? 3 : 1;
    }
    out[n] = 0;
}

/* The attributes of the entry, and no others; those of the system's own name
 * spaces are left out. */
static int
set_xattrs(struct indexer *x, uint64_t ino)
{
    const char *name;
    const void *value;
    size_t len;

    int r = tree_find(x->tree, ino)->xattrs
                ? tree_put_xattrs(x->tree, ino, NULL)
                : 0;
    (void)archive_entry_xattr_reset(x->entry);
    while (r == 0 && archive_entry_xattr_next(x->entry, &name, &value, &len) ==
                         ARCHIVE_OK) {
        int64_t ctime_ns = tree_find(x->tree, ino)->ctime_ns;
        char plain[XATTR_NAME_BYTES + 1];
        decode_name(name, plain, sizeof plain);
        struct xattr_name n = {plain, strlen(plain)};
        if (xattr_check_name(plain) == 0)
            r = tree_set_xattr(x->tree, ino, n, value ? value : "", len,
                               ctime_ns);
    }
    return r;
}

static int
add_directory(struct indexer *x, const struct place *at, const char *path,
              const struct attr *a)
{
    uint64_t ino = ino_at(x, at);
    int r = 0;

    if (!ino || !inode_is_dir(tree_find(x->tree, ino))) {
        r = clear_place(x, at, path);
        if (r < 0)
            return r;
        r = tree_create(x->tree, at->dir, at->name, a, time_of(x, at->dir),
                        &ino);
    }
    if (!r)
        r = set_attr(x, ino, a);
    if (!r)
        r = set_xattrs(x, ino);
    return r < 0 ? refuse_errno(x, path, r) : 0;
}

static int
add_symlink(struct indexer *x, const struct place *at, const char *path,
            const struct attr *a)
{
    const char *target = archive_entry_symlink(x->entry);
    uint64_t ino;

    if (!target)
        return image_refuse(x, "%.100s: a link without a target", path);
    int r = tree_symlink(x->tree, at->dir, at->name, target, strlen(target), a,
                         time_of(x, at->dir), &ino);
    if (r < 0)
        return refuse_errno(x, path, r);
    struct attr all = *a;
    all.mode = 0777;
    r = set_attr(x, ino, &all);
    return r < 0 ? refuse_errno(x, path, r) : 0;
}

static int
add_file(struct indexer *x, const struct place *at, const char *path,
         const struct attr *a)
{
    uint64_t ino;

    int r =
        tree_create(x->tree, at->dir, at->name, a, time_of(x, at->dir), &ino);
    if (r < 0)
        return refuse_errno(x, path, r);
    r = S_ISREG(a->mode) ? add_content(x, ino, path) : 0;
    if (r < 0)
        return r;
    r = set_attr(x, ino, a);
    if (r == 0 && S_ISREG(a->mode))
        r = set_xattrs(x, ino);
    return r < 0 ? refuse_errno(x, path, r) : 0;
}

static int
add_hardlink(struct indexer *x, const struct place *at, const char *path,
             const char *target)
{
    struct place to = {0};

    int r = find_place(x, target, false, &to);
    if (r < 0)
        return r;
    uint64_t ino = ino_at(x, &to);
    if (!ino || inode_is_dir(tree_find(x->tree, ino)))
        return image_refuse(x, "%.80s: hard link to %.80s, which is no file",
                            path, target);
    if (ino == ino_at(x, at))
        return 0;
    int64_t ctime_ns = time_of(x, ino);
    r = clear_place(x, at, path);
    if (r < 0)
        return r;
    r = tree_link(x->tree, at->dir, at->name, ino, time_of(x, at->dir));
    if (r < 0)
        return refuse_errno(x, path, r);
    struct attr none = {0};
    return tree_setattr(x->tree, ino, &none, 0, ctime_ns);
}

int
image_add_entry(struct indexer *x)
{
    const char *path = archive_entry_pathname(x->entry);
    const char *hardlink = archive_entry_hardlink(x->entry);
    struct place at = {0};
    struct attr a = {0};

    int r = find_place(x, path, true, &at);
    if (!r)
        r = read_attr(x, path, &a);
    if (r)
        return r;
    if (hardlink)
        return add_hardlink(x, &at, path, hardlink);
    if (S_ISDIR(a.mode))
        return add_directory(x, &at, path, &a);
    if (!S_ISREG(a.mode) && !S_ISLNK(a.mode) && !S_ISFIFO(a.mode))
        return image_refuse(x, "%.100s: a device, or an unknown kind of file",
                            path);
    r = clear_place(x, &at, path);
    if (r < 0)
        return r;
    return S_ISLNK(a.mode) ? add_symlink(x, &at, path, &a)
                           : add_file(x, &at, path, &a);
}
