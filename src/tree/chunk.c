/* Chunks of file content. A chunk smaller than CHUNK_BYTES grows geometrically,
 * so that appending in small pieces costs amortised O(1) copies. Bytes that
 * were never written are zero. */
#include "tree/chunk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static size_t
chunk_min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns the smallest capacity that we allocate for `need` bytes: powers of
 * two with the head of the chunk, from 128 bytes on. Small files cost little,
 * and a file that grows is copied a few times only. */
static size_t
chunk_cap_for(size_t need)
{
    size_t total = 128;

    while (total - sizeof(struct chunk) < need && total < CHUNK_BYTES)
        total *= 2;
    return total < CHUNK_BYTES ? total - sizeof(struct chunk) : CHUNK_BYTES;
}

/* The bytes are not initialised. */
static struct chunk *
chunk_alloc(size_t cap)
{
    struct chunk *c = malloc(sizeof *c + cap);
    if (!c)
        return NULL;
    shared_init(&c->ref);
    c->cap = (uint16_t)cap;
    c->is_uncharged = c->is_foreign = false;
    c->data = c->bytes;
    return c;
}

struct chunk *
chunk_new(size_t cap)
{
    struct chunk *c = chunk_alloc(cap);
    if (c)
        memset(c->bytes, 0, cap);
    return c;
}

struct chunk *
chunk_new_foreign(const void *data, size_t len)
{
    struct chunk *c = chunk_alloc(0);
    if (!c)
        return NULL;
    c->is_foreign = true;
    c->cap = (uint16_t)len;
    c->data = data;
    return c;
}

void
chunk_put(OWN struct chunk *c)
{
    if (c && shared_put(&c->ref))
        free(c);
}

void
chunk_read(const struct chunk *c, size_t off, void *buf, size_t len)
{
    size_t cap = c ? c->cap : 0;
    size_t n = off < cap ? chunk_min_size(len, cap - off) : 0;

    if (n)
        memcpy(buf, c->data + off, n);
    if (n < len)
        memset((char *)buf + n, 0, len - n);
}

/* A new chunk with the content of c, except for off..end, which the caller
 * fills. */
static struct chunk *
chunk_copy(const struct chunk *c, size_t off, size_t end, size_t cap)
{
    struct chunk *n = chunk_alloc(cap);
    if (!n)
        return NULL;
    chunk_read(c, 0, n->bytes, off);
    if (end < cap)
        chunk_read(c, end, n->bytes + end, cap - end);
    return n;
}

/* A chunk that is shared, foreign or too short is replaced by a copy; the bytes
 * that are about to be overwritten are not copied. After this, the chunk has
 * one owner and is changed in place. */
int
chunk_write(struct chunk **at, size_t off, const void *buf, size_t len,
            size_t cap)
{
    struct chunk *c = *at;
    size_t end = off + len;

    if (!c || c->is_foreign || end > c->cap || !shared_is_single(&c->ref)) {
        size_t need = c && c->cap > end ? c->cap : end;
        need = chunk_cap_for(need > cap ? need : cap);
        struct chunk *n = chunk_copy(c, off, end, need);
        if (!n)
            return -ENOMEM;
        *at = n;
        chunk_put(c);
        c = n;
    }
    c->is_uncharged = false;
    memcpy(c->bytes + off, buf, len);
    return 0;
}

/* Replaces the chunk by a shorter one over the same foreign memory. Nothing is
 * copied, and the block still costs no quota. */
static int
chunk_foreign_cut(struct chunk **at, size_t len)
{
    struct chunk *n = chunk_new_foreign((*at)->data, len);
    if (!n)
        return -ENOMEM;
    n->is_uncharged = (*at)->is_uncharged;
    chunk_put(*at);
    *at = n;
    return 0;
}

bool
chunk_zero_costs(const struct chunk *c, size_t off, size_t len)
{
    return c->is_uncharged && off < c->cap && off + len < c->cap;
}

/* There are three cases. A range beyond the stored bytes needs nothing. If the
 * chunk ends in the range, it becomes shorter. Otherwise zeros are written, in
 * a copy if somebody else uses the chunk. */
int
chunk_zero(struct chunk **at, size_t off, size_t len)
{
    struct chunk *c = *at;

    if (off >= c->cap)
        return 0;
    size_t end = chunk_min_size(off + len, c->cap);
    if (c->is_foreign && end == c->cap)
        return chunk_foreign_cut(at, off);

    bool is_cut = end == c->cap, is_uncharged = c->is_uncharged && is_cut;
    size_t cap = is_cut ? chunk_min_size(chunk_cap_for(off), c->cap) : c->cap;
    if (c->is_foreign || cap < c->cap || !shared_is_single(&c->ref)) {
        struct chunk *n = chunk_copy(c, off, end, cap);
        if (!n)
            return -ENOMEM;
        *at = n;
        chunk_put(c);
        c = n;
    }
    c->is_uncharged = is_uncharged;
    memset(c->bytes + off, 0, chunk_min_size(end, cap) - off);
    return 0;
}
