/* Computes records from the difference of trees.
 *
 * An inode of the base stays an overlay as long as it lives: properties that it
 * shares with the base are not recorded. The record of a name or block depends
 * only on the inodes of the base and the tree. It is sent if it differs between
 * the last tree and the current one. Without an inode there are no names, which
 * is recorded if the base has some, and no blocks. */
#include "tree/tree_records.h"

#include <string.h>

static const struct radix none;

/* The state of one comparison. `base`, `last` and `tree` are compared inode by
 * inode; `was`, `now` and `below` are the current inode in `last`, `tree` and
 * `base`. */
struct records_writer {
    const struct tree *base, *last, *tree;
    enum record_type type;
    struct record_key key;
    const struct record_sink *to;
    int error;
    const struct inode *was, *now; /* of what is being compared */
    const struct inode *below;     /* in the base; NULL: none */
    bool has_files;                /* whose places are looked for */
};

static void
tree_records_send(struct records_writer *w, const void *value, size_t len)
{
    if (!w->error)
        w->error = record_send(w->to, &w->key, value, len);
}

/* Sends `now` if it differs from `was`; NULL stands for no record. */
static void
tree_records_send_change(struct records_writer *w, const uint8_t *was,
                         size_t was_len, const uint8_t *now, size_t len)
{
    bool is_same =
        !was == !now && was_len == len && (!len || !memcmp(was, now, len));

    if (!is_same)
        tree_records_send(w, now, len);
}

/* --- inodes */

/* Returns the value of the record of an inode, in buf, or NULL if it has none:
 * the inode is missing, or shared with the base. */
static const uint8_t *
inode_value(const struct records_writer *w, const struct inode *i,
            uint8_t buf[RECORD_FIXED_MAX], size_t *ret_len)
{
    *ret_len = 0;
    if (!i || i == w->below)
        return NULL;
    const struct record_inode r = {.mode = i->mode,
                                   .uid = i->uid,
                                   .gid = i->gid,
                                   .size = inode_is_dir(i) ? 0 : i->size,
                                   .atime_ns = i->atime_ns,
                                   .mtime_ns = i->mtime_ns,
                                   .ctime_ns = i->ctime_ns};
    *ret_len = record_inode_put(&r, buf);
    return buf;
}

static void
tree_records_send_inode(struct records_writer *w)
{
    uint8_t a[RECORD_FIXED_MAX], b[RECORD_FIXED_MAX];
    size_t was_len, len;
    const uint8_t *was = inode_value(w, w->was, a, &was_len);
    const uint8_t *now = inode_value(w, w->now, b, &len);

    tree_records_send_change(w, was, was_len, now, len);
}

/* --- extended attributes */

/* NULL: no record. */
static const uint8_t *
tree_records_attrs_value(const struct records_writer *w, const struct inode *i,
                         size_t *ret_len)
{
    const struct xattrs *below = w->below ? w->below->xattrs : NULL;

    *ret_len = 0;
    if (!i || i->xattrs == below)
        return NULL;
    *ret_len = i->xattrs ? i->xattrs->len : 0;
    return i->xattrs ? i->xattrs->bytes : (const uint8_t *)"";
}

static void
tree_records_send_attrs(struct records_writer *w)
{
    size_t was_len, len;
    const uint8_t *was = tree_records_attrs_value(w, w->was, &was_len);
    const uint8_t *now = tree_records_attrs_value(w, w->now, &len);

    tree_records_send_change(w, was, was_len, now, len);
}

/* --- names */

static const struct dir_entry *
entry_in(const struct inode *i, struct name name)
{
    return i && inode_is_dir(i) ? dir_find(&i->dir, name) : NULL;
}

static const uint8_t *
tree_records_name_value(const struct dir_entry *below,
                        const struct dir_entry *e,
                        uint8_t buf[RECORD_FIXED_MAX], size_t *ret_len)
{
    *ret_len = 0;
    if (e == below)
        return NULL;
    const struct record_name r = {.inode = e ? e->ino : 0,
                                  .seq = e ? e->seq : 0};
    *ret_len = record_name_put(&r, buf);
    return buf;
}

static void
tree_records_send_name(struct records_writer *w, struct name name)
{
    uint8_t a[RECORD_FIXED_MAX], b[RECORD_FIXED_MAX];
    const struct dir_entry *below = entry_in(w->below, name);
    size_t was_len, len;
    const uint8_t *was =
        tree_records_name_value(below, entry_in(w->was, name), a, &was_len);
    const uint8_t *now =
        tree_records_name_value(below, entry_in(w->now, name), b, &len);

    w->key.name = name.s;
    w->key.name_len = name.len;
    tree_records_send_change(w, was, was_len, now, len);
}

static const struct radix *
tree_records_order_of(const struct inode *i)
{
    return i && inode_is_dir(i) ? &i->dir.order : &none;
}

/* Reports one position at which the directories differ. A name that has moved
 * to another position differs there too, and is reported there. */
static void
tree_records_on_entry(void *arg, uint64_t seq, struct shared *a,
                      struct shared *b)
{
    const struct dir_entry *was = (struct dir_entry *)a;
    const struct dir_entry *now = (struct dir_entry *)b;
    struct records_writer *w = arg;

    (void)seq;
    if (was && !entry_in(w->now, (struct name){was->name, was->len}))
        tree_records_send_name(w, (struct name){was->name, was->len});
    if (now)
        tree_records_send_name(w, (struct name){now->name, now->len});
}

/* --- blocks */

/* Returns the blocks of an inode. A missing inode has no records of blocks, and
 * neither has one that equals the base: both compare as the base's blocks. */
static const struct radix *
tree_records_chunks_of(const struct inode *i, const struct inode *below)
{
    if (!i)
        i = below;
    return i && !inode_is_dir(i) ? &i->chunks : &none;
}

/* Returns the number of bytes to record: those before the end of the file. In
 * an inode of the base an empty value means a hole, so a block that was only
 * allocated is recorded as one zero. */
static size_t
tree_records_block_bytes(const struct records_writer *w, const struct chunk *c)
{
    uint64_t at = w->key.index * CHUNK_BYTES;
    uint64_t left = w->now->size > at ? w->now->size - at : 0;
    size_t n = left < c->cap ? (size_t)left : c->cap;

    return w->below && !n ? 1 : n;
}

static void
tree_records_send_block(struct records_writer *w, const struct chunk *c)
{
    static const uint8_t zero[1];
    size_t n = tree_records_block_bytes(w, c);

    tree_records_send(w, n > c->cap ? zero : c->data, n);
}

/* A block that is back to that of the base loses its record. A block that is
 * gone is recorded as a hole if the base has one there. */
static void
tree_records_on_chunk(void *arg, uint64_t index, struct shared *was,
                      struct shared *now)
{
    struct records_writer *w = arg;
    const struct shared *below =
        radix_find(tree_records_chunks_of(w->below, NULL), index);

    (void)was;
    w->key.index = index;
    if (now && now != below)
        tree_records_send_block(w, (const struct chunk *)now);
    else
        tree_records_send(w, now == below ? NULL : "", 0);
}

/* --- places */

static void
tree_records_send_place(struct records_writer *w, uint64_t ino, uint64_t dir,
                        const struct dir_entry *e)
{
    const struct record_place r = {dir, e->name, e->len};
    uint8_t value[RECORD_PLACE_BYTES];

    w->key.inode = ino;
    tree_records_send(w, value, record_place_put(&r, value));
}

/* Sends the places of a directory of the base, and of those above it. */
static void
tree_records_send_dir_places(struct records_writer *w, uint64_t ino)
{
    while (ino != TREE_ROOT && !w->error) {
        const struct inode *i = tree_find(w->base, ino);
        const struct inode *dir = tree_find(w->base, i->parent);
        tree_records_send_place(
            w, ino, i->parent,
            (struct dir_entry *)radix_find(&dir->dir.order, i->seq));
        ino = i->parent;
    }
}

/* Is it recorded for the first time? */
static bool
tree_records_is_new(const struct inode *below, const struct inode *was,
                    const struct inode *now)
{
    return below && was == below && now && now != below;
}

/* An inode of the base that is recorded from now on. A file does not know where
 * it is. */
static void
tree_records_send_new_place(struct records_writer *w, uint64_t ino)
{
    if (!tree_records_is_new(w->below, w->was, w->now))
        return;
    if (inode_is_dir(w->below))
        tree_records_send_dir_places(w, ino);
    else
        w->has_files = true;
}

/* Hard links make several names for one file; each is sent, and the last one
 * stays. */
static void
tree_records_send_places_in(struct records_writer *w, uint64_t ino,
                            const struct inode *dir)
{
    const struct dir_entry *e;

    for (uint64_t seq = 0; (e = dir_next(&dir->dir, &seq)); seq++) {
        const struct inode *below = tree_find(w->base, e->ino);
        if (inode_is_dir(below) ||
            !tree_records_is_new(below, tree_find(w->last, e->ino),
                                 tree_find(w->tree, e->ino)))
            continue;
        tree_records_send_place(w, e->ino, ino, e);
        tree_records_send_dir_places(w, ino);
    }
}

static void
tree_records_send_file_places(struct records_writer *w)
{
    const struct inode *i;

    for (uint64_t ino = 0;
         (i = (struct inode *)radix_next(&w->base->inodes, &ino)); ino++)
        if (inode_is_dir(i))
            tree_records_send_places_in(w, ino, i);
}

/* --- all */

static void
tree_records_on_inode(void *arg, uint64_t ino, struct shared *was,
                      struct shared *now)
{
    struct records_writer *w = arg;

    w->key.inode = ino;
    w->was = (const struct inode *)was;
    w->now = (const struct inode *)now;
    w->below = tree_find(w->base, ino);
    if (w->type == RECORD_INODE)
        tree_records_send_inode(w);
    else if (w->type == RECORD_ATTRS)
        tree_records_send_attrs(w);
    else if (w->type == RECORD_PLACE)
        tree_records_send_new_place(w, ino);
    else if (w->type == RECORD_BLOCK)
        radix_diff(tree_records_chunks_of(w->was, w->below),
                   tree_records_chunks_of(w->now, w->below),
                   tree_records_on_chunk, w);
    else
        radix_diff(tree_records_order_of(w->was), tree_records_order_of(w->now),
                   tree_records_on_entry, w);
}

int
tree_records(const struct tree *base, const struct tree *last,
             const struct tree *now, enum record_type type, uint32_t mount,
             const struct record_sink *to)
{
    struct records_writer w = {.base = base,
                               .last = last,
                               .tree = now,
                               .type = type,
                               .key = {.type = type, .mount = mount},
                               .to = to};

    radix_diff(&last->inodes, &now->inodes, tree_records_on_inode, &w);
    if (w.has_files)
        tree_records_send_file_places(&w);
    return w.error;
}
