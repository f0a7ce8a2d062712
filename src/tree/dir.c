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
 * directory and each of its clones change both trees together.
 *
 * Names are hashed with a seed, which a guest does not know (name_hash.c). Only
 * the buckets depend on it: entries, their order and readdir do not. The root
 * image has a seed of its own, because all sandboxes share it. A sandbox that
 * adds a name to a directory of the image therefore builds the buckets of that
 * directory again with its own seed. This happens once for each directory. */
#include "tree/dir.h"

#include "record/record.h"
#include "tree/name_hash.h"

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
dir_bucket_index(const struct dir *d, uint32_t hash)
{
    if (d->n_buckets <= 1)
        return 0;
    uint32_t base = dir_base_of(d->n_buckets);
    uint32_t i = hash & (2 * base - 1);
    return i < d->n_buckets ? i : i & (base - 1);
}

/* A small directory has one bucket, whatever the hash is. */
static uint32_t
dir_bucket_index_of(const struct dir *d, struct name name)
{
    return d->n_buckets <= 1 ? 0
                             : dir_bucket_index(d, name_hash(d->seed, name));
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
    uint32_t hash = name_hash(d->seed, name);
    struct bucket *b = bucket_find(d, dir_bucket_index(d, hash));
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

/* -ENOMEM. */
static int
dir_bucket_add(struct dir *d, struct dir_entry *e)
{
    const struct name name = {e->name, e->len};
    uint32_t hash = name_hash(d->seed, name);
    struct bucket *b = bucket_unshare(d, dir_bucket_index(d, hash), 1);

    if (!b)
        return -ENOMEM;
    b->slot[b->n++] = (struct bucket_slot){hash, e};
    return 0;
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

/* Builds the buckets again. Each has one owner then, so an entry for which
 * dir_unshare was called can still be removed without memory. -ENOMEM: nothing
 * has changed. */
static int
dir_reseed(struct dir *d, uint64_t seed)
{
    struct dir now = {.seed = seed, .n_buckets = d->n_buckets};
    struct dir_entry *e;
    int r = 0;

    for (uint64_t seq = 0;
         r == 0 && (e = (struct dir_entry *)radix_next(&d->order, &seq)); seq++)
        r = dir_bucket_add(&now, e);
    radix_fini(r == 0 ? &d->buckets : &now.buckets, &plain_ops);
    if (r < 0)
        return r;
    d->buckets = now.buckets;
    d->seed = seed;
    return 0;
}

static struct dir_entry *
entry_new(struct name name, uint64_t seq)
{
    struct dir_entry *e = malloc(sizeof *e + name.len);
    if (!e)
        return NULL;
    shared_init(&e->ref);
    e->seq = seq;
    e->len = (uint8_t)name.len;
    memcpy(e->name, name.s, name.len);
    return e;
}

/* The entry is in `order` before it is in a bucket. If the bucket cannot be
 * copied, the entry is removed again, and the directory is as before. */
int
dir_insert_at(struct dir *d, uint64_t seed, struct name name, uint64_t ino,
              uint8_t type, uint64_t seq)
{
    if (seq >= RECORD_INODE_MAX)
        return -ENOSPC;
    if (radix_find(&d->order, seq))
        return -EEXIST;
    if (d->seed != seed && dir_reseed(d, seed) < 0)
        return -ENOMEM;
    struct dir_entry *e = entry_new(name, seq);
    if (!e)
        return -ENOMEM;
    e->ino = ino;
    e->type = type;
    if (radix_set(&d->order, &plain_ops, e->seq, &e->ref, NULL) < 0)
        return -ENOMEM;

    if (dir_bucket_add(d, e) < 0) {
        (void)radix_remove(&d->order, &plain_ops, e->seq, NULL);
        return -ENOMEM;
    }
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
dir_insert(struct dir *d, uint64_t seed, struct name name, uint64_t ino,
           uint8_t type)
{
    return dir_insert_at(d, seed, name, ino, type, d->next_seq);
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
    struct dir_entry *e = entry_new(name, old->seq);
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
    uint32_t hash = name_hash(d->seed, name), index = dir_bucket_index(d, hash);

    if (!bucket_lookup(bucket_find(d, index), hash, name))
        return -ENOENT;
    struct bucket *b = bucket_unshare(d, index, 0);
    if (!b)
        return -ENOMEM;
    struct bucket_slot *s = bucket_lookup(b, hash, name);
    assert(s);
    struct shared **at = radix_slot(&d->order, s->entry->seq);
    struct dir_entry *e = at ? entry_unshare(at) : NULL;
    if (!e)
        return -ENOMEM;
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
    uint32_t index =
        dir_bucket_index_of(d, (struct name){owned->name, owned->len});
    struct bucket *b = bucket_find(d, index);

    assert(b);
    struct bucket_slot *s = b->slot;
    while (s->entry != owned)
        s++;
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
