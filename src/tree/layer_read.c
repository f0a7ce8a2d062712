/* Layers: from entries to a changed tree.
 *
 * The source is read twice: first all whiteouts are applied, then all other
 * entries. In one pass, a whiteout that comes late would remove files that the
 * same layer has added. */
#include "tree/image_impl.h"
#include "tree/layer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WHITEOUT ".wh."
#define OPAQUE   ".wh..wh..opq"

enum { MANIFEST_BYTES_MAX = 64 << 20 };

/* The indexer is the first member, so that its call-backs can be cast back. */
struct layer_reader {
    struct indexer x;
    struct layer_manifest *manifest;
};

static struct name
layer_read_last_name(const char *path)
{
    size_t end = strlen(path), at;

    while (end && path[end - 1] == '/')
        end--;
    for (at = end; at && path[at - 1] != '/';)
        at--;
    return (struct name){path + at, end - at};
}

static bool
layer_read_is_whiteout(struct name n)
{
    return n.len >= strlen(WHITEOUT) &&
           !memcmp(n.s, WHITEOUT, strlen(WHITEOUT));
}

static bool
name_is(struct name n, const char *s)
{
    return n.len == strlen(s) && !memcmp(n.s, s, n.len);
}

static bool
layer_read_is_manifest(const struct layer_reader *l, const char *path)
{
    return l->manifest && !strcmp(path, l->manifest->name);
}

/* --- removing */

/* Removes everything in a directory, without recursion and without memory.
 *
 * The walk always removes the first entry of the directory that it is in. If
 * that entry is a directory with entries, the walk enters it; when a directory
 * is empty, the walk returns to its parent. Every step removes an entry or
 * descends, so the walk ends. */
static int
layer_read_empty_dir(struct tree *t, uint64_t top)
{
    uint64_t at = top;
    int r = 0;

    while (r == 0) {
        const struct inode *d = tree_find(t, at);
        uint64_t seq = 0;
        const struct dir_entry *e = dir_next(&d->dir, &seq);
        char name[NAME_BYTES_MAX];
        if (!e && at == top)
            break;
        if (!e) {
            at = d->parent;
            continue;
        }
        const struct inode *i = tree_find(t, e->ino);
        bool is_dir = inode_is_dir(i);
        if (is_dir && i->dir.n) {
            at = e->ino;
            continue;
        }
        memcpy(name, e->name, e->len);
        r = tree_unlink(t, at, (struct name){name, e->len},
                        is_dir ? UNLINK_DIR : 0, d->mtime_ns);
    }
    return r;
}

int
layer_remove(struct tree *t, uint64_t dir, struct name name)
{
    uint64_t ino;

    int r = tree_lookup(t, dir, name, &ino);
    if (r < 0)
        return r == -ENOENT ? 0 : r;
    bool is_dir = inode_is_dir(tree_find(t, ino));
    if (is_dir)
        r = layer_read_empty_dir(t, ino);
    int64_t time_ns = tree_find(t, dir)->mtime_ns;
    return r < 0 ? r
                 : tree_unlink(t, dir, name, is_dir ? UNLINK_DIR : 0, time_ns);
}

/* --- whiteouts */

/* Returns the directory that the first bytes of a path lead to, or 0. A
 * whiteout in a missing directory is not an error: there is nothing to
 * remove. */
static uint64_t
layer_read_find_dir(const struct tree *t, const char *path, size_t len)
{
    uint64_t at = TREE_ROOT;

    for (const char *p = path; p < path + len;) {
        struct name n = {p, strcspn(p, "/")};
        p += n.len + 1;
        if (n.len && !name_is(n, ".") && tree_lookup(t, at, n, &at) < 0)
            return 0;
    }
    return inode_is_dir(tree_find(t, at)) ? at : 0;
}

/* The opaque marker empties its directory; `.wh.NAME` removes one name. Other
 * names with that prefix are reserved and refused. */
static int
layer_read_apply_whiteout(struct indexer *x)
{
    struct layer_reader *l = (struct layer_reader *)x;
    const char *path = x->entry.path;

    int r = image_check_path(x, path);
    if (r < 0)
        return r;
    if (*path == '/')
        return image_refuse(x, "%.100s: an absolute path", path);
    struct name n = layer_read_last_name(path);
    if (!layer_read_is_whiteout(n) || layer_read_is_manifest(l, path))
        return 0;
    uint64_t dir = layer_read_find_dir(x->tree, path, (size_t)(n.s - path));
    struct name victim = {n.s + strlen(WHITEOUT), n.len - strlen(WHITEOUT)};
    if (name_is(n, OPAQUE))
        return dir ? layer_read_empty_dir(x->tree, dir) : 0;
    if (!victim.len || name_is(victim, ".") || name_is(victim, "..") ||
        layer_read_is_whiteout(victim))
        return image_refuse(x, "%.100s: an unknown whiteout", path);
    return dir ? layer_remove(x->tree, dir, victim) : 0;
}

/* --- the rest */

/* The content of the current entry; holes read as zeros. */
static int
layer_read_all(struct indexer *x, char *data, size_t size)
{
    struct piece b;
    int r;

    while ((r = x->from->read(x->from, &b)) > 0) {
        if (b.at > size || b.len > size - b.at)
            return image_refuse(x, "%.100s: content beyond its size",
                                x->entry.path);
        memcpy(data + b.at, b.p, b.len);
    }
    return r;
}

static int
layer_read_manifest(struct layer_reader *l)
{
    struct indexer *x = &l->x;
    int64_t size = x->entry.size;

    if (!S_ISREG(x->entry.mode) || size < 0 || size > MANIFEST_BYTES_MAX ||
        x->entry.hardlink)
        return image_refuse(x, "%s: too large, or no file", l->manifest->name);
    char *data = calloc(1, (size_t)size + 1);
    if (!data)
        return -ENOMEM;
    int r = layer_read_all(x, data, (size_t)size);
    if (r < 0) {
        free(data);
        return r;
    }
    free(l->manifest->data);
    l->manifest->data = data;
    l->manifest->len = (size_t)size;
    return 0;
}

static int
layer_read_apply_entry(struct indexer *x)
{
    struct layer_reader *l = (struct layer_reader *)x;
    const char *path = x->entry.path;

    if (layer_read_is_manifest(l, path))
        return layer_read_manifest(l);
    return layer_read_is_whiteout(layer_read_last_name(path))
               ? 0
               : image_add_entry(x);
}

int
layer_apply(struct entry_source *from, struct tree *t,
            struct layer_manifest *manifest, struct image_error *err)
{
    struct layer_reader l = {
        .x = {.from = from, .tree = t, .err = err, .is_layer = true},
        .manifest = manifest};

    int r = image_read(&l.x, layer_read_apply_whiteout);
    return r < 0 ? r : image_read(&l.x, layer_read_apply_entry);
}
