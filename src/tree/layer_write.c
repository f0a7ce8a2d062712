/* Layers: from the difference of two trees to a tar. */
#include "tree/layer.h"

#include "base/time.h"
#include "record/record.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <locale.h>
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
struct level {
    const struct inode *old, *now; /* old: at the same path, or NULL */
    uint64_t seq;
    size_t path; /* its length, with the slash */
    bool has_whiteouts;
};

/* Where a file with several names was written. */
struct written {
    struct shared ref;
    char path[];
};

struct writer {
    const struct tree *base, *t;
    const struct layer_note *note;
    struct archive *a;
    struct archive_entry *entry;
    struct buf *out;
    struct image_error *err;
    struct radix links; /* inode number -> struct written */
    char path[PATH_BYTES_MAX];
    char data[DATA_BYTES];
    struct level *v;
    size_t n, cap;
};

/* What the tar writer of libarchive says of entries that no tar can have, which
 * are not given to it. The library's own is in one object with the writers of
 * all formats, which need many libraries more; where that is linked, it wins.
 */
void __archive_write_entry_filetype_unsupported(/* NOLINT(bugprone-*) */
                                                struct archive *a,
                                                struct archive_entry *e,
                                                const char *format);
__attribute__((weak)) void
__archive_write_entry_filetype_unsupported(/* NOLINT(bugprone-*) */
                                           struct archive *a,
                                           struct archive_entry *e,
                                           const char *format)
{
    (void)e;
    archive_set_error(a, EINVAL, "%s: an unknown kind of file", format);
}

static void
written_free(struct shared *s, struct grave *g)
{
    (void)g;
    free(s);
}

static const struct radix_ops links_ops = {.free = written_free};

static int
refuse(struct writer *w, const char *why)
{
    (void)snprintf(w->err->reason, sizeof w->err->reason, "/%.100s: %s",
                   w->path, why);
    return -EINVAL;
}

/* --- one member */

static la_ssize_t
on_bytes(struct archive *a, void *arg, const void *p, size_t len)
{
    struct buf *out = arg;

    buf_add(out, p, len);
    if (!out->error)
        return (la_ssize_t)len;
    archive_set_error(a, -out->error, "no room");
    return -1;
}

/* libarchive warns of names that are not UTF-8, and writes them well. */
static int
check(struct writer *w, int r)
{
    if (r >= ARCHIVE_WARN)
        return 0;
    return w->out->error ? w->out->error : -ENOMEM;
}

static void
begin(struct writer *w, const struct inode *i)
{
    struct archive_entry *e = w->entry;
    int64_t s;
    int32_t ns;

    archive_entry_clear(e);
    archive_entry_copy_pathname(e, w->path);
    archive_entry_set_mode(e, i->mode);
    archive_entry_set_uid(e, i->uid);
    archive_entry_set_gid(e, i->gid);
    time_split(i->mtime_ns, &s, &ns);
    archive_entry_set_mtime(e, s, ns);
}

/* As SCHILY.xattr headers, in whose names libarchive puts %XX for what is no
 * plain letter. */
static void
add_xattrs(struct writer *w, const struct xattrs *x)
{
    struct record_attr a;
    char name[256];

    for (size_t at = 0; x && record_attr_get(x->bytes, x->len, &at, &a) > 0;) {
        memcpy(name, a.name, a.name_len);
        name[a.name_len] = 0;
        archive_entry_xattr_add_entry(w->entry, name, a.value, a.value_len);
    }
}

static int
put_bytes(struct writer *w, const char *name, const void *data, size_t len)
{
    static const struct inode file = {.mode = S_IFREG | 0600};

    if (strlen(name) >= sizeof w->path)
        return refuse(w, "the path is too long");
    if (name != w->path)
        (void)snprintf(w->path, sizeof w->path, "%s", name);
    begin(w, &file);
    archive_entry_set_size(w->entry, (int64_t)len);
    int r = check(w, archive_write_header(w->a, w->entry));
    if (r == 0 && len && archive_write_data(w->a, data, len) < 0)
        r = check(w, ARCHIVE_FATAL);
    return r;
}

/* --- contents */

/* The next data or hole, however far it is. -ENXIO */
static int64_t
seek(const struct inode *i, uint64_t pos, int whence)
{
    int64_t at;

    while ((at = inode_seek(i, pos, whence)) == -EAGAIN)
        pos += SEEK_STEP_BYTES;
    return at;
}

/* The holes of a file; false: too few to be noted. */
static bool
note_holes(struct writer *w, const struct inode *i)
{
    uint64_t pos = 0, data = 0;
    int64_t from, to;

    while (pos < i->size && (from = seek(i, pos, SEEK_DATA)) >= 0) {
        to = seek(i, (uint64_t)from, SEEK_HOLE);
        archive_entry_sparse_add_entry(w->entry, from, to - from);
        data += (uint64_t)(to - from);
        pos = (uint64_t)to;
    }
    if (i->size - data >= HOLE_BYTES_MIN) {
        if (!data)
            archive_entry_sparse_add_entry(w->entry, 0, 0);
        return true;
    }
    archive_entry_sparse_clear(w->entry);
    return false;
}

static int
put_data(struct writer *w, const struct inode *i, uint64_t pos, uint64_t end)
{
    while (pos < end) {
        size_t n = end - pos < DATA_BYTES ? (size_t)(end - pos) : DATA_BYTES;
        (void)inode_read(i, pos, w->data, n);
        if (archive_write_data(w->a, w->data, n) < 0)
            return check(w, ARCHIVE_FATAL);
        pos += n;
    }
    return 0;
}

/* libarchive only counts the bytes of a hole, it does not read them. */
static int
skip_hole(struct writer *w, uint64_t len)
{
    while (len) {
        size_t n = len < INT32_MAX ? (size_t)len : INT32_MAX;
        la_ssize_t done = archive_write_data(w->a, w->data, n);
        if (done <= 0)
            return check(w, ARCHIVE_FATAL);
        len -= (uint64_t)done;
    }
    return 0;
}

static int
put_sparse(struct writer *w, const struct inode *i)
{
    uint64_t pos = 0;
    int r = 0;

    while (r == 0 && pos < i->size) {
        int64_t from = seek(i, pos, SEEK_DATA);
        if (from < 0)
            return skip_hole(w, i->size - pos);
        int64_t to = seek(i, (uint64_t)from, SEEK_HOLE);
        r = skip_hole(w, (uint64_t)from - pos);
        if (r == 0)
            r = put_data(w, i, (uint64_t)from, (uint64_t)to);
        pos = (uint64_t)to;
    }
    return r;
}

static int
put_regular(struct writer *w, const struct inode *i)
{
    archive_entry_set_size(w->entry, (int64_t)i->size);
    bool is_sparse = note_holes(w, i);
    int r = check(w, archive_write_header(w->a, w->entry));
    if (r < 0)
        return r;
    return is_sparse ? put_sparse(w, i) : put_data(w, i, 0, i->size);
}

/* --- inodes */

static int
put_link(struct writer *w, const struct inode *i)
{
    char *target = malloc(i->size + 1);

    if (!target)
        return -ENOMEM;
    int64_t n = inode_read(i, 0, target, i->size);
    target[n > 0 ? n : 0] = 0;
    archive_entry_copy_symlink(w->entry, target);
    free(target);
    return check(w, archive_write_header(w->a, w->entry));
}

/* 1: it was written under another name, and is a hard link now. */
static int
put_again(struct writer *w, uint64_t ino)
{
    struct written *first = (struct written *)radix_find(&w->links, ino);
    struct grave none = {0}; /* nothing is replaced */

    if (first) {
        archive_entry_copy_hardlink(w->entry, first->path);
        int r = check(w, archive_write_header(w->a, w->entry));
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
put_inode(struct writer *w, const struct inode *i, uint64_t ino)
{
    int r = 0;

    begin(w, i);
    if (!inode_is_dir(i) && i->nlink > 1)
        r = put_again(w, ino);
    if (r != 0)
        return r < 0 ? r : 0;
    add_xattrs(w, i->xattrs);
    if (S_ISREG(i->mode))
        return put_regular(w, i);
    if (S_ISLNK(i->mode))
        return put_link(w, i);
    return check(w, archive_write_header(w->a, w->entry));
}

/* --- the walk */

static int
push(struct writer *w, const struct inode *old, const struct inode *now,
     size_t path)
{
    if (w->n == w->cap) {
        size_t cap = w->cap ? 2 * w->cap : 32;
        struct level *v = realloc(w->v, cap * sizeof *v);
        if (!v)
            return -ENOMEM;
        w->v = v;
        w->cap = cap;
    }
    w->v[w->n++] = (struct level){.old = old, .now = now, .path = path};
    return 0;
}

/* The path of a name in the directory of l. */
static int
set_path(struct writer *w, const struct level *l, const char *prefix,
         struct name n)
{
    int len = snprintf(w->path + l->path, sizeof w->path - l->path, "%s%.*s",
                       prefix, (int)n.len, n.s);

    w->path[l->path +
            (l->path + (size_t)len < sizeof w->path ? (size_t)len : 0)] = 0;
    if (l->path + (size_t)len + 2 > sizeof w->path)
        return refuse(w, "the path is too long");
    return 0;
}

static int
check_name(struct writer *w, const struct level *l, struct name n)
{
    if (n.len >= strlen(WHITEOUT) && !memcmp(n.s, WHITEOUT, strlen(WHITEOUT)))
        return refuse(w, "such a name cannot be exported");
    if (!l->path && w->note && strlen(w->note->name) == n.len &&
        !memcmp(n.s, w->note->name, n.len))
        return refuse(w, "such a name cannot be exported");
    return 0;
}

static const struct inode *
old_inode(const struct writer *w, const struct level *l, struct name n)
{
    const struct dir_entry *e = l->old ? dir_find(&l->old->dir, n) : NULL;

    return e ? tree_find(w->base, e->ino) : NULL;
}

static int
put_name(struct writer *w, const struct level *l, const struct dir_entry *e)
{
    struct name n = {e->name, e->len};
    const struct inode *now = tree_find(w->t, e->ino), *old;

    old = old_inode(w, l, n);
    bool is_dir = inode_is_dir(now);
    if (S_ISSOCK(now->mode) || (!is_dir && now == old))
        return 0;
    int r = set_path(w, l, "", n);
    if (r == 0 && now != old)
        r = check_name(w, l, n);
    if (r < 0)
        return r;
    if (!is_dir)
        return put_inode(w, now, e->ino);
    size_t path = strlen(w->path) + 1;
    memcpy(w->path + path - 1, "/", 2);
    if (now != old)
        r = put_inode(w, now, e->ino);
    return r < 0 ? r
                 : push(w, old && inode_is_dir(old) ? old : NULL, now, path);
}

static bool
is_gone(const struct writer *w, const struct level *l, struct name n)
{
    const struct dir_entry *e = dir_find(&l->now->dir, n);

    return !e || S_ISSOCK(tree_find(w->t, e->ino)->mode);
}

static int
put_whiteouts(struct writer *w, const struct level *l)
{
    const struct dir_entry *e;
    int r = 0;

    if (!l->old || l->old == l->now)
        return 0;
    for (uint64_t seq = 0; r == 0 && (e = dir_next(&l->old->dir, &seq));
         seq++) {
        struct name n = {e->name, e->len};
        if (!is_gone(w, l, n))
            continue;
        r = set_path(w, l, WHITEOUT, n);
        if (r == 0)
            r = put_bytes(w, w->path, NULL, 0);
    }
    return r;
}

/* The next name of the innermost directory. */
static int
step(struct writer *w)
{
    struct level *top = &w->v[w->n - 1];
    const struct level l = *top;

    if (!l.has_whiteouts) {
        top->has_whiteouts = true;
        return put_whiteouts(w, &l);
    }
    const struct dir_entry *e = dir_next(&l.now->dir, &top->seq);
    if (!e) {
        w->n--;
        return 0;
    }
    top->seq++;
    return put_name(w, &l, e);
}

static int
put_all(struct writer *w)
{
    const struct inode *old = tree_find(w->base, TREE_ROOT);
    const struct inode *now = tree_find(w->t, TREE_ROOT);
    int r = 0;

    if (w->note)
        r = put_bytes(w, w->note->name, w->note->data, w->note->len);
    if (r == 0 && old != now) {
        memcpy(w->path, "./", 3);
        r = put_inode(w, now, TREE_ROOT);
    }
    if (r == 0)
        r = push(w, old, now, 0);
    while (r == 0 && w->n)
        r = step(w);
    return r;
}

static int
write_archive(struct writer *w)
{
    w->a = archive_write_new();
    w->entry = archive_entry_new();
    int r = w->a && w->entry ? 0 : -ENOMEM;
    if (r == 0) {
        (void)archive_write_set_format_pax(w->a);
        (void)archive_write_set_format_option(w->a, "pax", "xattrheader",
                                              "SCHILY");
        (void)archive_write_set_bytes_in_last_block(w->a, 1);
        r = check(w, archive_write_open(w->a, w->out, NULL, on_bytes, NULL));
    }
    if (r == 0)
        r = put_all(w);
    if (r == 0)
        r = check(w, archive_write_close(w->a));
    archive_entry_free(w->entry);
    archive_write_free(w->a);
    return r;
}

int
layer_write(const struct tree *base, const struct tree *t,
            const struct layer_note *note, struct buf *out,
            struct image_error *err)
{
    struct writer *w = calloc(1, sizeof *w);

    if (!w)
        return -ENOMEM;
    w->base = base;
    w->t = t;
    w->note = note;
    w->out = out;
    w->err = err;
    locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
    locale_t old = utf8 ? uselocale(utf8) : (locale_t)0;
    int r = write_archive(w);
    if (utf8) {
        (void)uselocale(old);
        freelocale(utf8);
    }
    radix_fini(&w->links, &links_ops);
    free(w->v);
    free(w);
    return r;
}
