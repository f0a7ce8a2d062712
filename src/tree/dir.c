/* Directories.
 *
 * Problem: a directory must support lookup by name, a stable readdir position,
 * and O(1) clones with cheap changes afterwards.
 *
 * Idea: two persistent radix trees. `order` maps sequence numbers to entries
 * and owns them; a position in readdir is a sequence number, which stays valid
 * whatever is added or removed. `buckets` is a linear hash table: it grows by
 * splitting one bucket at a time, so an insertion copies one bucket and never
 * the whole table. Buckets borrow the entries, which is safe because a
 * directory and each of its clones change both trees together. */
#include "tree/dir.h"

#include "record/record.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BUCKET_LOAD 8 /* entries per bucket before one is split */

/* A bucket of the hash table. The hash is beside the pointer, so that a search
 * follows a pointer only to a probable match. */
struct bucket {
    struct shared ref;
    uint32_t n, cap;
    struct bucket_slot {
        uint32_t hash;
        struct dir_entry *entry;
    } slot[];
};

static void
shared_free(struct shared *s, struct free_list *g)
{
    (void)g;
    free(s);
}

/* Entries and buckets are plain memory. */
static const struct radix_ops plain_ops = {.free = shared_free};

/* Names are chosen by the guest; one that makes all of its names collide
 * slows down its own directory, bounded by its inode quota. */
static uint32_t
name_hash(struct name name)
{
    const uint64_t m = UINT64_C(0x9E3779B97F4A7C15);
    uint64_t h = name.len * m, w;
    size_t i = 0;

    for (; i + 8 <= name.len; i += 8) {
        memcpy(&w, name.s + i, 8);
        h = (h ^ w) * m;
        h ^= h >> 29;
    }
    w = 0;
    memcpy(&w, name.s + i, name.len - i);
    h = (h ^ w) * m;
    h ^= h >> 32;
    h *= m;
    return (uint32_t)(h >> 32);
}

void
dir_defer_free(struct dir *d, struct free_list *g)
{
    radix_defer_free(&d->buckets, &plain_ops, g);
    radix_defer_free(&d->order, &plain_ops, g);
    *d = (struct dir){0};
}

void
dir_clone(const struct dir *d, struct dir *ret)
{
    *ret = *d;
    radix_clone(&d->order, &ret->order);
    radix_clone(&d->buckets, &ret->buckets);
}

/* Largest power of two that is not above n_buckets, which is at least 1. */
static uint32_t
dir_base_of(uint32_t n_buckets)
{
    return UINT32_C(1) << (31 - __builtin_clz(n_buckets));
}

/* Linear hashing, with 2^k <= n < 2^(k+1) buckets. The buckets below n - 2^k
 * are already split and use k + 1 bits of the hash; the others below 2^k still
 * use k bits. A number that is not yet a bucket loses its highest bit. */
static uint32_t
bucket_index(const struct dir *d, uint32_t hash)
{
    if (d->n_buckets <= 1)
        return 0;
    uint32_t base = dir_base_of(d->n_buckets);
    uint32_t i = hash & (2 * base - 1);
    return i < d->n_buckets ? i : i & (base - 1);
}

static struct bucket *
bucket_find(const struct dir *d, uint32_t index)
{
    return (struct bucket *)radix_find(&d->buckets, index);
}

static struct bucket_slot *
bucket_lookup(struct bucket *b, uint32_t hash, struct name name)
{
    if (!b)
        return NULL;
    for (struct bucket_slot *s = b->slot; s < b->slot + b->n; s++)
        if (s->hash == hash && s->entry->len == name.len &&
            !memcmp(s->entry->name, name.s, name.len))
            return s;
    return NULL;
}

const struct dir_entry *
dir_find(const struct dir *d, struct name name)
{
    uint32_t hash = name_hash(name);
    struct bucket *b = bucket_find(d, bucket_index(d, hash));
    struct bucket_slot *s = bucket_lookup(b, hash, name);

    return s ? s->entry : NULL;
}

const struct dir_entry *
dir_next(const struct dir *d, uint64_t *seq)
{
    return (const struct dir_entry *)radix_next(&d->order, seq);
}

/* Returns the bucket, with one owner and space for `room` more. NULL: no
 * memory. */
static struct bucket *
bucket_unshare(struct dir *d, uint32_t index, uint32_t room)
{
    struct shared **at = radix_slot(&d->buckets, index);
    if (!at)
        return NULL;
    struct bucket *old = (struct bucket *)*at;
    if (old && shared_is_single(&old->ref) && old->n + room <= old->cap)
        return old;

    uint32_t n = old ? old->n : 0, cap = 4;
    while (cap < n + room)
        cap *= 2;
    struct bucket *b = malloc(sizeof *b + cap * sizeof b->slot[0]);
    if (!b) {
        if (!old)
            (void)radix_remove(&d->buckets, &plain_ops, index, NULL);
        return NULL;
    }
    shared_init(&b->ref);
    b->n = n;
    b->cap = cap;
    if (old)
        memcpy(b->slot, old->slot, n * sizeof b->slot[0]);
    *at = &b->ref;
    if (old && shared_put(&old->ref))
        free(old);
    return b;
}

/* Moves what belongs to bucket `to` from `from`; both have one owner. */
static void
bucket_move(struct bucket *from, struct bucket *to, uint32_t mask,
            uint32_t index)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < from->n; i++) {
        if ((from->slot[i].hash & mask) == index)
            to->slot[to->n++] = from->slot[i];
        else
            from->slot[kept++] = from->slot[i];
    }
    from->n = kept;
}

static uint32_t
bucket_count(const struct bucket *b, uint32_t mask, uint32_t index)
{
    uint32_t n = 0;

    for (uint32_t i = 0; b && i < b->n; i++)
        n += (b->slot[i].hash & mask) == index;
    return n;
}

/* Adds one bucket, number n, and moves to it the entries of bucket n - 2^k
 * whose hash has bit k. Only that bucket is copied. Without memory, nothing is
 * split and the buckets become longer. */
static void
dir_split(struct dir *d)
{
    uint32_t index = d->n_buckets, base = dir_base_of(index);
    uint32_t mask = 2 * base - 1;
    uint32_t n = bucket_count(bucket_find(d, index - base), mask, index);

    if (n) {
        struct bucket *to = bucket_unshare(d, index, n);
        if (!to)
            return;
        struct bucket *from = bucket_unshare(d, index - base, 0);
        if (!from) {
            (void)radix_remove(&d->buckets, &plain_ops, index, NULL);
            return;
        }
        bucket_move(from, to, mask, index);
        if (!from->n)
            (void)radix_remove(&d->buckets, &plain_ops, index - base, NULL);
    }
    d->n_buckets++;
}

static struct dir_entry *
entry_new(struct name name, uint32_t hash, uint64_t seq)
{
    struct dir_entry *e = malloc(sizeof *e + name.len);
    if (!e)
        return NULL;
    shared_init(&e->ref);
    e->hash = hash;
    e->seq = seq;
    e->len = (uint8_t)name.len;
    memcpy(e->name, name.s, name.len);
    return e;
}

/* The entry is in `order` before it is in a bucket. If the bucket cannot be
 * copied, the entry is removed again, and the directory is as before. */
int
dir_insert_at(struct dir *d, struct name name, uint64_t ino, uint8_t type,
              uint64_t seq)
{
    if (seq >= RECORD_INODE_MAX)
        return -ENOSPC;
    if (radix_find(&d->order, seq))
        return -EEXIST;
    uint32_t hash = name_hash(name);
    struct dir_entry *e = entry_new(name, hash, seq);
    if (!e)
        return -ENOMEM;
    e->ino = ino;
    e->type = type;
    if (radix_set(&d->order, &plain_ops, e->seq, &e->ref, NULL) < 0)
        return -ENOMEM;

    struct bucket *b = bucket_unshare(d, bucket_index(d, hash), 1);
    if (!b) {
        (void)radix_remove(&d->order, &plain_ops, e->seq, NULL);
        return -ENOMEM;
    }
    b->slot[b->n++] = (struct bucket_slot){e->hash, e};
    if (seq >= d->next_seq)
        d->next_seq = seq + 1;
    d->n++;
    if (!d->n_buckets)
        d->n_buckets = 1;
    if (d->n > d->n_buckets * BUCKET_LOAD)
        dir_split(d);
    return 0;
}

int
dir_insert(struct dir *d, struct name name, uint64_t ino, uint8_t type)
{
    return dir_insert_at(d, name, ino, type, d->next_seq);
}

/* Returns the entry at *at with one owner, a copy if it was shared. The bucket
 * that borrowed the old one must be changed by the caller. NULL: no memory. */
static struct dir_entry *
entry_unshare(struct shared **at)
{
    struct dir_entry *old = (struct dir_entry *)*at;
    if (shared_is_single(&old->ref))
        return old;
    struct name name = {old->name, old->len};
    struct dir_entry *e = entry_new(name, old->hash, old->seq);
    if (!e)
        return NULL;
    e->ino = old->ino;
    e->type = old->type;
    *at = &e->ref;
    if (shared_put(&old->ref))
        free(old);
    return e;
}

/* The bucket and the path in `order` are made exclusive as well. dir_remove
 * then needs no memory, and rename can check everything before its first
 * change. */
int
dir_unshare(struct dir *d, struct name name, struct dir_entry **ret)
{
    const struct dir_entry *found = dir_find(d, name);
    if (!found)
        return -ENOENT;
    struct bucket *b = bucket_unshare(d, bucket_index(d, found->hash), 0);
    if (!b)
        return -ENOMEM;
    struct shared **at = radix_slot(&d->order, found->seq);
    if (!at)
        return -ENOMEM;

    struct bucket_slot *s = bucket_lookup(b, found->hash, name);
    struct dir_entry *e = entry_unshare(at);
    if (!e)
        return -ENOMEM;
    assert(s);
    s->entry = e;
    *ret = e;
    return 0;
}

/* The number of the last entry is reused, so that short-lived files do not
 * spread over ever new nodes. A reader that has passed it may miss the new
 * entry, as POSIX allows for entries created in the meantime. */
void
dir_remove(struct dir *d, struct dir_entry *owned)
{
    struct name name = {owned->name, owned->len};
    uint32_t index = bucket_index(d, owned->hash);
    struct bucket *b = bucket_find(d, index);
    struct bucket_slot *s = bucket_lookup(b, owned->hash, name);

    assert(b && s);
    *s = b->slot[--b->n];
    if (!b->n)
        (void)radix_remove(&d->buckets, &plain_ops, index, NULL);
    if (owned->seq >= d->first_seq && owned->seq + 1 == d->next_seq)
        d->next_seq--;
    (void)radix_remove(&d->order, &plain_ops, owned->seq, NULL);
    if (!--d->n) {
        d->n_buckets = 0;
        d->next_seq = d->first_seq;
    }
}
