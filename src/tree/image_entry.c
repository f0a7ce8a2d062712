/* Entries of a root image or layer: their place in the tree, and their content.
 *
 * The archive is trusted no more than its source. Paths are walked inside the
 * tree, with ".." refused and symbolic links never followed: an entry below a
 * link is an error and cannot end up elsewhere.
 *
 * Times come from the entries. Every change to a directory passes the time that
 * the directory has already, so that adding files to it leaves no trace of the
 * clock. The tree then depends on the archive alone. */
#include "base/time.h"
#include "tree/image_impl.h"

#include <errno.h>
#include <string.h>

/* The position of an entry; a name of length 0 is the root itself. */
struct image_place {
    uint64_t dir;
    struct name name;
};

/* Reports an error of the tree that is the fault of the entry; -ENOMEM and
 * -ENOSPC are not. */
static int
image_entry_refuse_errno(struct indexer *x, const char *path, int r)
{
    if (r == -ENOMEM || r == -ENOSPC)
        return r;
    return image_refuse(x, "%.100s: %s", path, strerror(-r));
}

/* Changes to a directory do not change the time that its entry gave it. */
static int64_t
image_entry_time_of(const struct indexer *x, uint64_t ino)
{
    const struct inode *i = tree_find(x->tree, ino);
    return i ? i->mtime_ns : 0;
}

/* Replaces *dir by the directory `name` in it. `make`: creates it if it is
 * missing, since archives may leave out parents. */
static int
image_entry_step_into(struct indexer *x, uint64_t *dir, struct name name,
                      bool make)
{
    static const struct attr a = {.mode = S_IFDIR | 0755};
    uint64_t ino;

    int r = tree_lookup(x->tree, *dir, name, &ino);
    if (r == -ENOENT && make)
        r = tree_create(x->tree, *dir, name, &a, image_entry_time_of(x, *dir),
                        &ino);
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
image_entry_find_place(struct indexer *x, const char *path, bool make,
                       struct image_place *ret)
{
    struct image_place at = {.dir = TREE_ROOT};
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
            r = image_entry_step_into(x, &at.dir, at.name, make);
        if (r < 0)
            return image_entry_refuse_errno(x, path, r);
        at.name = name;
    }
    *ret = at;
    return 0;
}

/* The inode at a place, or 0. */
static uint64_t
image_entry_ino_at(const struct indexer *x, const struct image_place *at)
{
    uint64_t ino;

    if (!at->name.len)
        return at->dir;
    return tree_lookup(x->tree, at->dir, at->name, &ino) ? 0 : ino;
}

/* Removes what has the name of the current entry: the last entry with a name
 * wins. An image only replaces files and empty directories; a layer may replace
 * a whole subtree. */
static int
image_entry_clear_place(struct indexer *x, const struct image_place *at,
                        const char *path)
{
    uint64_t ino = image_entry_ino_at(x, at);
    if (!ino)
        return 0;
    if (!at->name.len)
        return image_refuse(x, "%.100s: the root must be a directory", path);
    bool is_dir = inode_is_dir(tree_find(x->tree, ino));
    int r = x->is_layer ? layer_remove(x->tree, at->dir, at->name)
                        : tree_unlink(x->tree, at->dir, at->name,
                                      is_dir ? UNLINK_DIR : 0,
                                      image_entry_time_of(x, at->dir));
    return r < 0 ? image_entry_refuse_errno(x, path, r) : 0;
}

/* Owner, mode and times of the entry. */
static int
image_entry_read_attr(struct indexer *x, const char *path, struct attr *ret)
{
    const struct entry *e = &x->entry;

    if (e->mtime_s < -TIME_S_MAX || e->mtime_s > TIME_S_MAX)
        return image_refuse(x, "%.100s: the time is out of range", path);
    if (e->uid < 0 || e->uid > UINT32_MAX || e->gid < 0 || e->gid > UINT32_MAX)
        return image_refuse(x, "%.100s: the owner is out of range", path);
    int64_t mtime_ns = time_join(e->mtime_s, e->mtime_ns);
    *ret = (struct attr){
        .mode = e->mode,
        .uid = (uint32_t)e->uid,
        .gid = (uint32_t)e->gid,
        .atime_ns = mtime_ns,
        .mtime_ns = mtime_ns,
    };
    return 0;
}

static int
image_entry_set_attr(struct indexer *x, uint64_t ino, const struct attr *a)
{
    return tree_setattr(
        x->tree, ino, a,
        ATTR_MODE | ATTR_UID | ATTR_GID | ATTR_ATIME | ATTR_MTIME, a->mtime_ns);
}

/* Lasting memory at a block boundary is referred to, not copied: the content of
 * a root image stays in the mapped tar. Layers are copied, because their source
 * goes. */
static int
image_entry_add_piece(struct indexer *x, uint64_t ino, struct piece b)
{
    if (!x->is_layer && b.is_lasting && b.at % CHUNK_BYTES == 0)
        return tree_map(x->tree, ino, b.at, b.p, b.len);
    while (b.len) {
        int64_t r = tree_write(x->tree, ino, b.at, b.p, b.len, 0);
        if (r < 0)
            return (int)r;
        b.p = (const char *)b.p + r;
        b.len -= (size_t)r;
        b.at += (uint64_t)r;
    }
    return 0;
}

/* tree_truncate sets the size, as the last bytes of a file may be a hole. */
static int
image_entry_add_content(struct indexer *x, uint64_t ino, const char *path)
{
    int64_t size = x->entry.size;
    struct piece b;
    int r;

    if (size < 0 || (uint64_t)size > FILE_BYTES_MAX)
        return image_refuse(x, "%.100s: the size is out of range", path);
    while ((r = x->from->read(x->from, &b)) > 0) {
        if (b.at > (uint64_t)size || b.len > (uint64_t)size - b.at)
            return image_refuse(x, "%.100s: content beyond its size", path);
        r = image_entry_add_piece(x, ino, b);
        if (r < 0)
            return image_entry_refuse_errno(x, path, r);
    }
    if (r < 0)
        return r;
    r = tree_truncate(x->tree, ino, (uint64_t)size, 0);
    return r < 0 ? image_entry_refuse_errno(x, path, r) : 0;
}

/* Replaces all extended attributes by those of the entry. */
static int
image_entry_set_xattrs(struct indexer *x, uint64_t ino)
{
    const struct xattrs *new = x->entry.xattrs;
    struct xattrs *copy = NULL;

    if (!new && !tree_find(x->tree, ino)->xattrs)
        return 0;
    if (new && !(copy = xattrs_new(new->bytes, new->len)))
        return -ENOMEM;
    return tree_put_xattrs(x->tree, ino, copy);
}

/* An existing directory keeps its entries and gets the new attributes: archives
 * may list a directory after its files. */
static int
image_entry_add_directory(struct indexer *x, const struct image_place *at,
                          const char *path, const struct attr *a)
{
    uint64_t ino = image_entry_ino_at(x, at);
    int r = 0;

    if (!ino || !inode_is_dir(tree_find(x->tree, ino))) {
        r = image_entry_clear_place(x, at, path);
        if (r < 0)
            return r;
        r = tree_create(x->tree, at->dir, at->name, a,
                        image_entry_time_of(x, at->dir), &ino);
    }
    if (!r)
        r = image_entry_set_attr(x, ino, a);
    if (!r)
        r = image_entry_set_xattrs(x, ino);
    return r < 0 ? image_entry_refuse_errno(x, path, r) : 0;
}

/* The mode of a symbolic link is always 0777, as on Linux. */
static int
image_entry_add_symlink(struct indexer *x, const struct image_place *at,
                        const char *path, const struct attr *a)
{
    const char *target = x->entry.target;
    uint64_t ino;

    if (!target)
        return image_refuse(x, "%.100s: a link without a target", path);
    int r = tree_symlink(x->tree, at->dir, at->name, target, strlen(target), a,
                         image_entry_time_of(x, at->dir), &ino);
    if (r < 0)
        return image_entry_refuse_errno(x, path, r);
    struct attr all = *a;
    all.mode = 0777;
    r = image_entry_set_attr(x, ino, &all);
    return r < 0 ? image_entry_refuse_errno(x, path, r) : 0;
}

static int
image_entry_add_file(struct indexer *x, const struct image_place *at,
                     const char *path, const struct attr *a)
{
    uint64_t ino;

    int r = tree_create(x->tree, at->dir, at->name, a,
                        image_entry_time_of(x, at->dir), &ino);
    if (r < 0)
        return image_entry_refuse_errno(x, path, r);
    r = S_ISREG(a->mode) ? image_entry_add_content(x, ino, path) : 0;
    if (r < 0)
        return r;
    r = image_entry_set_attr(x, ino, a);
    if (r == 0 && S_ISREG(a->mode))
        r = image_entry_set_xattrs(x, ino);
    return r < 0 ? image_entry_refuse_errno(x, path, r) : 0;
}

/* The target must be there already, as tar requires it. A further name would
 * set the ctime of the file to that of the directory; it is set back to the
 * time of the entry. */
static int
image_entry_add_hardlink(struct indexer *x, const struct image_place *at,
                         const char *path, const char *target)
{
    struct image_place to = {0};

    int r = image_entry_find_place(x, target, false, &to);
    if (r < 0)
        return r;
    uint64_t ino = image_entry_ino_at(x, &to);
    if (!ino || inode_is_dir(tree_find(x->tree, ino)))
        return image_refuse(x, "%.80s: hard link to %.80s, which is not a file",
                            path, target);
    if (ino == image_entry_ino_at(x, at))
        return 0;
    int64_t ctime_ns = image_entry_time_of(x, ino);
    r = image_entry_clear_place(x, at, path);
    if (r < 0)
        return r;
    r = tree_link(x->tree, at->dir, at->name, ino,
                  image_entry_time_of(x, at->dir));
    if (r < 0)
        return image_entry_refuse_errno(x, path, r);
    struct attr none = {0};
    return tree_setattr(x->tree, ino, &none, 0, ctime_ns);
}

int
image_add_entry(struct indexer *x)
{
    const char *path = x->entry.path;
    const char *hardlink = x->entry.hardlink;
    struct image_place at = {0};
    struct attr a = {0};

    int r = image_entry_find_place(x, path, true, &at);
    if (!r)
        r = image_entry_read_attr(x, path, &a);
    if (r)
        return r;
    if (hardlink)
        return image_entry_add_hardlink(x, &at, path, hardlink);
    if (S_ISDIR(a.mode))
        return image_entry_add_directory(x, &at, path, &a);
    if (!S_ISREG(a.mode) && !S_ISLNK(a.mode) && !S_ISFIFO(a.mode))
        return image_refuse(x, "%.100s: a device, or an unknown kind of file",
                            path);
    r = image_entry_clear_place(x, &at, path);
    if (r < 0)
        return r;
    return S_ISLNK(a.mode) ? image_entry_add_symlink(x, &at, path, &a)
                           : image_entry_add_file(x, &at, path, &a);
}
