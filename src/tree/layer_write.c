/* Layers: from the difference of two trees to entries.
 *
 * The walk is over the names of the new tree. Both trees share the inodes that
 * did not change, so an inode with the same address at the same path is
 * skipped. A directory is always entered, even if it is shared: inodes are
 * found by number, so a change to a file leaves the directories above it as
 * they were.
 *
 * The stack of directories is on the heap, because a guest chooses its depth.
 * Each directory sends its whiteouts before its names. */
#include "tree/layer.h"

#include "base/time.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WHITEOUT ".wh."

enum {
    DATA_BYTES = 1 << 16,
    HOLE_BYTES_MIN = 1 << 16, /* less is not worth a map of holes */
};

/* A directory on the way: the walk is at `seq`. */
struct layer_level {
    const struct inode *old, *now; /* old: at the same path, or NULL */
    uint64_t seq;
    size_t path; /* its length, with the slash */
    bool has_whiteouts;
};

/* The path under which a file with several names was written first. */
struct written {
    struct shared ref;
    char path[];
};

struct layer_writer {
    const struct tree *base, *t;
    const struct layer_manifest *manifest;
    struct entry_sink *to;
    struct entry entry;
    struct extent *data; /* of the entry */
    size_t n_data, data_cap;
    struct image_error *err;
    struct radix links; /* inode number -> struct written */
    char path[PATH_BYTES_MAX];
    char bytes[DATA_BYTES];
    struct layer_level *v;
    size_t n, cap;
};

static void
layer_write_written_free(struct shared *s, struct free_list *g)
{
    (void)g;
    free(s);
}

static const struct radix_ops links_ops = {.free = layer_write_written_free};

static int
layer_write_refuse(struct layer_writer *w, const char *why)
{
    (void)snprintf(w->err->reason, sizeof w->err->reason, "/%.100s: %s",
                   w->path, why);
    return -EINVAL;
}

/* --- one member */

static void
layer_write_begin(struct layer_writer *w, const struct inode *i)
{
    int32_t ns;

    w->entry = (struct entry){
        .path = w->path, .mode = i->mode, .uid = i->uid, .gid = i->gid};
    time_split(i->mtime_ns, &w->entry.mtime_s, &ns);
    w->entry.mtime_ns = ns;
}

static int
layer_write_put_entry(struct layer_writer *w)
{
    return w->to->begin(w->to, &w->entry);
}

static int
layer_write_put_bytes(struct layer_writer *w, const char *name,
                      const void *data, size_t len)
{
    static const struct inode file = {.mode = S_IFREG | 0600};

    if (strlen(name) >= sizeof w->path)
        return layer_write_refuse(w, "the path is too long");
    if (name != w->path)
        (void)snprintf(w->path, sizeof w->path, "%s", name);
    layer_write_begin(w, &file);
    w->entry.size = (int64_t)len;
    int r = layer_write_put_entry(w);
    return r == 0 && len ? w->to->write(w->to, data, len) : r;
}

/* --- contents */

/* Returns the next data or hole, however far it is. -ENXIO: there is none. */
static int64_t
layer_write_seek(const struct inode *i, uint64_t pos, int whence)
{
    int64_t at;

    while ((at = inode_seek(i, pos, whence)) == -EAGAIN)
        pos += SEEK_STEP_BYTES;
    return at;
}

static int
layer_write_add_extent(struct layer_writer *w, uint64_t at, uint64_t len)
{
    if (w->n_data == w->data_cap) {
        size_t cap = w->data_cap ? 2 * w->data_cap : 16;
        struct extent *v = realloc(w->data, cap * sizeof *v);
        if (!v)
            return -ENOMEM;
        w->data = v;
        w->data_cap = cap;
    }
    w->data[w->n_data++] = (struct extent){at, len};
    return 0;
}

/* Finds the parts of a file that have data. If all holes together are too small
 * to be worth a map, the whole file is one part. */
static int
layer_write_find_data(struct layer_writer *w, const struct inode *i)
{
    uint64_t pos = 0, data = 0;
    int64_t from, to;
    int r = 0;

    w->n_data = 0;
    while (r == 0 && pos < i->size &&
           (from = layer_write_seek(i, pos, SEEK_DATA)) >= 0) {
        to = layer_write_seek(i, (uint64_t)from, SEEK_HOLE);
        r = layer_write_add_extent(w, (uint64_t)from, (uint64_t)(to - from));
        data += (uint64_t)(to - from);
        pos = (uint64_t)to;
    }
    if (r < 0 || i->size - data >= HOLE_BYTES_MIN)
        return r;
    w->n_data = 0;
    return i->size ? layer_write_add_extent(w, 0, i->size) : 0;
}

static int
layer_write_put_data(struct layer_writer *w, const struct inode *i,
                     const struct extent *x)
{
    uint64_t pos = x->at, end = x->at + x->len;
    int r = 0;

    while (r == 0 && pos < end) {
        size_t n = end - pos < DATA_BYTES ? (size_t)(end - pos) : DATA_BYTES;
        (void)inode_read(i, pos, w->bytes, n);
        r = w->to->write(w->to, w->bytes, n);
        pos += n;
    }
    return r;
}

static int
layer_write_put_regular(struct layer_writer *w, const struct inode *i)
{
    int r = layer_write_find_data(w, i);
    if (r < 0)
        return r;
    bool is_whole = w->n_data == 1 && w->data->len == i->size;
    w->entry.size = (int64_t)i->size;
    if (i->size && !is_whole) {
        w->entry.data = w->data;
        w->entry.n_data = w->n_data;
        w->entry.is_sparse = true;
    }
    r = layer_write_put_entry(w);
    for (size_t n = 0; r == 0 && n < w->n_data; n++)
        r = layer_write_put_data(w, i, &w->data[n]);
    return r;
}

/* --- inodes */

static int
layer_write_put_link(struct layer_writer *w, const struct inode *i)
{
    char *target = malloc(i->size + 1);

    if (!target)
        return -ENOMEM;
    int64_t n = inode_read(i, 0, target, i->size);
    target[n > 0 ? n : 0] = 0;
    w->entry.target = target;
    int r = layer_write_put_entry(w);
    free(target);
    return r;
}

/* Handles a file with several names. Returns 1 if it was sent before under
 * another name, and is sent as a hard link now; 0 if this is the first name.
 * -ENOMEM, or an error of the sink. */
static int
layer_write_put_again(struct layer_writer *w, uint64_t ino)
{
    struct written *first = (struct written *)radix_find(&w->links, ino);
    struct free_list none = {0}; /* nothing is replaced */

    if (first) {
        w->entry.hardlink = first->path;
        int r = layer_write_put_entry(w);
        return r < 0 ? r : 1;
    }
    size_t len = strlen(w->path) + 1;
    first = malloc(sizeof *first + len);
    if (!first)
        return -ENOMEM;
    shared_init(&first->ref);
    memcpy(first->path, w->path, len);
    return radix_set(&w->links, &links_ops, ino, &first->ref, &none);
}

static int
layer_write_put_inode(struct layer_writer *w, const struct inode *i,
                      uint64_t ino)
{
    int r = 0;

    layer_write_begin(w, i);
    if (!inode_is_dir(i) && i->nlink > 1)
        r = layer_write_put_again(w, ino);
    if (r != 0)
        return r < 0 ? r : 0;
    w->entry.xattrs = i->xattrs;
    if (S_ISREG(i->mode))
        return layer_write_put_regular(w, i);
    if (S_ISLNK(i->mode))
        return layer_write_put_link(w, i);
    return layer_write_put_entry(w);
}

/* --- the walk */

static int
layer_write_push(struct layer_writer *w, const struct inode *old,
                 const struct inode *now, size_t path)
{
    if (w->n == w->cap) {
        size_t cap = w->cap ? 2 * w->cap : 32;
        struct layer_level *v = realloc(w->v, cap * sizeof *v);
        if (!v)
            return -ENOMEM;
        w->v = v;
        w->cap = cap;
    }
    w->v[w->n++] = (struct layer_level){.old = old, .now = now, .path = path};
    return 0;
}

/* Sets the path to that of a name in the directory of l. Space for a slash and
 * the NUL must be left. */
static int
layer_write_set_path(struct layer_writer *w, const struct layer_level *l,
                     const char *prefix, struct name n)
{
    int len = snprintf(w->path + l->path, sizeof w->path - l->path, "%s%.*s",
                       prefix, (int)n.len, n.s);

    w->path[l->path +
            (l->path + (size_t)len < sizeof w->path ? (size_t)len : 0)] = 0;
    if (l->path + (size_t)len + 2 > sizeof w->path)
        return layer_write_refuse(w, "the path is too long");
    return 0;
}

/* Names that have a meaning in layers cannot be stored. Only changed files are
 * checked: the image itself may contain such names. */
static int
layer_write_check_name(struct layer_writer *w, const struct layer_level *l,
                       struct name n)
{
    if (n.len >= strlen(WHITEOUT) && !memcmp(n.s, WHITEOUT, strlen(WHITEOUT)))
        return layer_write_refuse(w, "such a name cannot be exported");
    if (!l->path && w->manifest && strlen(w->manifest->name) == n.len &&
        !memcmp(n.s, w->manifest->name, n.len))
        return layer_write_refuse(w, "such a name cannot be exported");
    return 0;
}

static const struct inode *
layer_write_old_inode(const struct layer_writer *w, const struct layer_level *l,
                      struct name n)
{
    const struct dir_entry *e = l->old ? dir_find(&l->old->dir, n) : NULL;

    return e ? tree_find(w->base, e->ino) : NULL;
}

static int
layer_write_put_name(struct layer_writer *w, const struct layer_level *l,
                     const struct dir_entry *e)
{
    struct name n = {e->name, e->len};
    const struct inode *now = tree_find(w->t, e->ino), *old;

    old = layer_write_old_inode(w, l, n);
    bool is_dir = inode_is_dir(now);
    if (S_ISSOCK(now->mode) || (!is_dir && now == old))
        return 0;
    int r = layer_write_set_path(w, l, "", n);
    if (r == 0 && now != old)
        r = layer_write_check_name(w, l, n);
    if (r < 0)
        return r;
    if (!is_dir)
        return layer_write_put_inode(w, now, e->ino);
    size_t path = strlen(w->path) + 1;
    memcpy(w->path + path - 1, "/", 2);
    if (now != old)
        r = layer_write_put_inode(w, now, e->ino);
    return r < 0 ? r
                 : layer_write_push(w, old && inode_is_dir(old) ? old : NULL,
                                    now, path);
}

/* Sockets are not exported, so a socket counts as a removed name. */
static bool
layer_write_is_gone(const struct layer_writer *w, const struct layer_level *l,
                    struct name n)
{
    const struct dir_entry *e = dir_find(&l->now->dir, n);

    return !e || S_ISSOCK(tree_find(w->t, e->ino)->mode);
}

static int
layer_write_put_whiteouts(struct layer_writer *w, const struct layer_level *l)
{
    const struct dir_entry *e;
    int r = 0;

    if (!l->old || l->old == l->now)
        return 0;
    for (uint64_t seq = 0; r == 0 && (e = dir_next(&l->old->dir, &seq));
         seq++) {
        struct name n = {e->name, e->len};
        if (!layer_write_is_gone(w, l, n))
            continue;
        r = layer_write_set_path(w, l, WHITEOUT, n);
        if (r == 0)
            r = layer_write_put_bytes(w, w->path, NULL, 0);
    }
    return r;
}

/* Sends the whiteouts or the next name of the innermost directory. A
 * directory that has been entered is pushed, and its parent continues when it
 * is popped. */
static int
layer_write_step(struct layer_writer *w)
{
    struct layer_level *top = &w->v[w->n - 1];
    const struct layer_level l = *top;

    if (!l.has_whiteouts) {
        top->has_whiteouts = true;
        return layer_write_put_whiteouts(w, &l);
    }
    const struct dir_entry *e = dir_next(&l.now->dir, &top->seq);
    if (!e) {
        w->n--;
        return 0;
    }
    top->seq++;
    return layer_write_put_name(w, &l, e);
}

static int
layer_write_put_all(struct layer_writer *w)
{
    const struct inode *old = tree_find(w->base, TREE_ROOT);
    const struct inode *now = tree_find(w->t, TREE_ROOT);
    int r = 0;

    if (w->manifest)
        r = layer_write_put_bytes(w, w->manifest->name, w->manifest->data,
                                  w->manifest->len);
    if (r == 0 && old != now) {
        memcpy(w->path, "./", 3);
        r = layer_write_put_inode(w, now, TREE_ROOT);
    }
    if (r == 0)
        r = layer_write_push(w, old, now, 0);
    while (r == 0 && w->n)
        r = layer_write_step(w);
    return r;
}

int
layer_write(const struct tree *base, const struct tree *t,
            const struct layer_manifest *manifest, struct entry_sink *to,
            struct image_error *err)
{
    struct layer_writer *w = calloc(1, sizeof *w);

    if (!w)
        return -ENOMEM;
    w->base = base;
    w->t = t;
    w->manifest = manifest;
    w->to = to;
    w->err = err;
    int r = layer_write_put_all(w);
    radix_fini(&w->links, &links_ops);
    free(w->data);
    free(w->v);
    free(w);
    return r;
}
