/* Contents of files and symbolic links: chunks by index, charged by block. */
#include "kernel/vfs/tree.h"
#include "kernel/vfs/tree_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t
min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static const struct chunk *
chunk_at(const struct inode *i, uint64_t key)
{
    return (const struct chunk *)radix_find(&i->chunks, key);
}

int64_t
inode_read(const struct inode *i, uint64_t pos, void *buf, size_t len)
{
    if (pos >= i->size)
        return 0;
    len = (size_t)min_u64(len, i->size - pos);
    for (size_t done = 0; done < len;) {
        size_t off = (pos + done) % CHUNK_BYTES;
        size_t n = (size_t)min_u64(CHUNK_BYTES - off, len - done);
        chunk_read(chunk_at(i, (pos + done) / CHUNK_BYTES), off,
                   (char *)buf + done, n);
        done += n;
    }
    return (int64_t)len;
}

const void *
inode_content(const struct inode *i)
{
    const uint8_t *start = NULL;

    for (uint64_t at = 0; at < i->size; at += CHUNK_BYTES) {
        const struct chunk *c = chunk_at(i, at / CHUNK_BYTES);
        if (!c || !c->is_foreign || c->cap < min_u64(CHUNK_BYTES, i->size - at))
            return NULL;
        if (at == 0)
            start = c->data;
        if (c->data != start + at)
            return NULL;
    }
    return start;
}

/* Writes within one chunk. Only the first one of a file begins small. */
static int
write_chunk(struct tree *t, struct inode *i, uint64_t pos, const void *buf,
            size_t len)
{
    uint64_t key = pos / CHUNK_BYTES;
    struct shared **at = radix_slot(&i->chunks, &content_ops, key);
    if (!at)
        return -ENOMEM;
    struct chunk *c = (struct chunk *)*at;
    bool is_new = !c, pays = !c || c->is_free;

    int r = pays ? tree_charge_blocks(t, 1) : 0;
    if (!r) {
        r = chunk_write(&c, pos % CHUNK_BYTES, buf, len, key ? CHUNK_BYTES : 0);
        if (r < 0 && pays)
            tree_uncharge_blocks(t, 1);
    }
    if (r < 0) {
        if (is_new)
            (void)radix_remove(&i->chunks, &content_ops, key);
        return r;
    }
    *at = &c->ref;
    i->blocks += is_new;
    i->charged += pays;
    return 0;
}

int64_t
tree_write(struct tree *t, uint64_t ino, uint64_t pos, const void *buf,
           size_t len, int64_t now_ns)
{
    struct inode *i;

    if (pos >= FILE_BYTES_MAX)
        return -EFBIG;
    len = (size_t)min_u64(len, FILE_BYTES_MAX - pos);
    int r = tree_own(t, ino, &i);
    if (r < 0)
        return r;

    size_t done = 0;
    while (done < len) {
        size_t room = CHUNK_BYTES - (pos + done) % CHUNK_BYTES;
        size_t n = (size_t)min_u64(room, len - done);
        r = write_chunk(t, i, pos + done, (const char *)buf + done, n);
        if (r < 0)
            break;
        done += n;
    }
    if (!done)
        return r;
    if (pos + done > i->size)
        i->size = pos + done;
    inode_touch_content(i, now_ns);
    return (int64_t)done;
}

static int
map_chunk(struct tree *t, struct inode *i, uint64_t key, const void *data,
          size_t len)
{
    const struct chunk *old = chunk_at(i, key);
    bool is_new = !old, pays = !old || old->is_free;

    if (pays && tree_charge_blocks(t, 1) < 0)
        return -ENOSPC;
    struct chunk *c = chunk_new_foreign(data, len);
    if (!c || radix_set(&i->chunks, &content_ops, key, &c->ref) < 0) {
        if (pays)
            tree_uncharge_blocks(t, 1);
        return -ENOMEM;
    }
    i->blocks += is_new;
    i->charged += pays;
    return 0;
}

int
tree_map(struct tree *t, uint64_t ino, uint64_t pos, const void *data,
         size_t len)
{
    struct inode *i;

    if (pos > FILE_BYTES_MAX || len > FILE_BYTES_MAX - pos)
        return -EFBIG;
    int r = tree_own(t, ino, &i);
    for (size_t done = 0; !r && done < len; done += CHUNK_BYTES) {
        size_t n = (size_t)min_u64(CHUNK_BYTES, len - done);
        r = map_chunk(t, i, (pos + done) / CHUNK_BYTES,
                      (const char *)data + done, n);
    }
    if (!r && pos + len > i->size)
        i->size = pos + len;
    return r;
}

/* Makes a part of the chunk `key` read as zeros. */
static int
zero_chunk(struct tree *t, struct inode *i, uint64_t key, size_t off,
           size_t len)
{
    const struct chunk *found = chunk_at(i, key);
    if (!found)
        return 0;
    bool costs = chunk_zero_costs(found, off, len);
    if (costs && tree_charge_blocks(t, 1) < 0)
        return -ENOSPC;

    int r = -ENOMEM;
    struct shared **at = radix_slot(&i->chunks, &content_ops, key);
    if (at) {
        struct chunk *c = (struct chunk *)*at;
        r = chunk_zero(&c, off, len);
        *at = &c->ref;
    }
    if (r < 0 && costs)
        tree_uncharge_blocks(t, 1);
    if (!r)
        i->charged += costs;
    return r;
}

/* Counts the chunks with keys first..end-1. */
static void
count_chunks(const struct inode *i, uint64_t first, uint64_t end,
             uint64_t *ret_present, uint64_t *ret_charged)
{
    uint64_t present = 0, charged = 0, key = first;
    struct shared *s;

    for (; (s = radix_next(&i->chunks, &key)) && key < end; key++) {
        present++;
        charged += !((struct chunk *)s)->is_free;
    }
    *ret_present = present;
    *ret_charged = charged;
}

/* Drops the chunks from `first` on. */
static int
cut_chunks(struct tree *t, struct inode *i, uint64_t first)
{
    uint64_t present = i->blocks, charged = i->charged;

    if (first) {
        count_chunks(i, first, UINT64_MAX, &present, &charged);
        int r = present ? radix_cut(&i->chunks, &content_ops, first) : 0;
        if (r < 0)
            return r;
    } else {
        radix_fini(&i->chunks, &content_ops);
    }
    i->blocks -= present;
    i->charged -= charged;
    tree_uncharge_blocks(t, charged);
    return 0;
}

int
tree_truncate(struct tree *t, uint64_t ino, uint64_t size, int64_t now_ns)
{
    struct inode *i;

    if (size > FILE_BYTES_MAX)
        return -EFBIG;
    int r = tree_own(t, ino, &i);
    if (r < 0)
        return r;
    size_t tail = size % CHUNK_BYTES;
    if (size <= i->size) {
        r = tail
                ? zero_chunk(t, i, size / CHUNK_BYTES, tail, CHUNK_BYTES - tail)
                : 0;
        if (!r)
            r = cut_chunks(t, i, (size + CHUNK_BYTES - 1) / CHUNK_BYTES);
    }
    if (r < 0)
        return r;
    i->size = size;
    inode_touch_content(i, now_ns);
    return 0;
}

static int
allocate_chunk(struct inode *i, uint64_t key)
{
    struct shared **at = radix_slot(&i->chunks, &content_ops, key);
    if (!at)
        return -ENOMEM;
    if (*at)
        return 0;
    struct chunk *c = chunk_new(0);
    if (!c) {
        (void)radix_remove(&i->chunks, &content_ops, key);
        return -ENOMEM;
    }
    *at = &c->ref;
    i->blocks++;
    i->charged++;
    return 0;
}

static int
allocate_chunks(struct tree *t, struct inode *i, uint64_t first, uint64_t end)
{
    uint64_t present, charged, before = i->charged;
    int r;

    count_chunks(i, first, end, &present, &charged);
    uint64_t missing = end - first - present;
    r = tree_charge_blocks(t, missing);
    if (r < 0)
        return r;
    for (uint64_t key = first; !r && missing && key < end; key++)
        r = allocate_chunk(i, key);
    tree_uncharge_blocks(t, missing - (i->charged - before));
    return r;
}

int
tree_allocate(struct tree *t, uint64_t ino, uint64_t off, uint64_t len,
              bool keep_size, int64_t now_ns)
{
    struct inode *i;

    if (off > FILE_BYTES_MAX || len > FILE_BYTES_MAX - off)
        return -EFBIG;
    int r = tree_own(t, ino, &i);
    if (r < 0)
        return r;
    uint64_t end = off + len;
    r = allocate_chunks(t, i, off / CHUNK_BYTES,
                        (end + CHUNK_BYTES - 1) / CHUNK_BYTES);
    if (r < 0)
        return r;
    if (!keep_size && end > i->size) {
        i->size = end;
        inode_touch_content(i, now_ns);
    }
    i->ctime_ns = now_ns;
    return 0;
}

static int
drop_chunk(struct tree *t, struct inode *i, uint64_t key)
{
    bool paid = !chunk_at(i, key)->is_free;
    int r = radix_remove(&i->chunks, &content_ops, key);
    if (r < 0)
        return r;
    i->blocks--;
    i->charged -= paid;
    tree_uncharge_blocks(t, paid);
    return 0;
}

int
tree_punch(struct tree *t, uint64_t ino, uint64_t off, uint64_t len,
           int64_t now_ns)
{
    struct inode *i;

    if (off > FILE_BYTES_MAX || len > FILE_BYTES_MAX - off)
        return -EFBIG;
    int r = tree_own(t, ino, &i);
    if (r < 0)
        return r;
    uint64_t key = off / CHUNK_BYTES, end = off + len;
    for (; !r && radix_next(&i->chunks, &key); key++) {
        uint64_t start = key * CHUNK_BYTES;
        if (start >= end)
            break;
        uint64_t from = off > start ? off - start : 0;
        uint64_t to = min_u64(end - start, CHUNK_BYTES);
        if (to - from == CHUNK_BYTES)
            r = drop_chunk(t, i, key);
        else
            r = zero_chunk(t, i, key, (size_t)from, (size_t)(to - from));
    }
    inode_touch_content(i, now_ns);
    return r;
}

/* Blocks that were allocated but never written count as holes. */
static bool
is_data(const struct chunk *c)
{
    return c && c->cap;
}

static int64_t
seek_data(const struct inode *i, uint64_t pos)
{
    uint64_t key = pos / CHUNK_BYTES;
    struct shared *s;

    while ((s = radix_next(&i->chunks, &key)) && !is_data((struct chunk *)s))
        key++;
    if (!s || key * CHUNK_BYTES >= i->size)
        return -ENXIO;
    uint64_t start = key * CHUNK_BYTES;
    return (int64_t)(start > pos ? start : pos);
}

static int64_t
seek_hole(const struct inode *i, uint64_t pos)
{
    uint64_t key = pos / CHUNK_BYTES;

    while (key * CHUNK_BYTES < i->size && is_data(chunk_at(i, key)))
        key++;
    uint64_t start = key * CHUNK_BYTES > pos ? key * CHUNK_BYTES : pos;
    return (int64_t)min_u64(start, i->size);
}

int64_t
inode_seek(const struct inode *i, uint64_t pos, int whence)
{
    if (pos >= i->size)
        return -ENXIO;
    return whence == SEEK_DATA ? seek_data(i, pos) : seek_hole(i, pos);
}
