/* Inodes: creating, copying and freeing them, and their charge.
 *
 * The charge of an inode is always computed from its content, never stored. So
 * the same sum can be released when the inode goes, whatever happened in
 * between. tree.h explains the rules of the quotas. */
#include "tree/inode.h"

#include <stdlib.h>
#include <string.h>

/* Runs on any thread that drops the last reference, possibly long after the
 * inode was removed. Contents are not walked here but moved to the deferred
 * free list. */
static void
inode_free(struct shared *s, struct free_list *g)
{
    struct inode *i = (struct inode *)s;

    if (inode_is_dir(i))
        dir_defer_free(&i->dir, g);
    else
        radix_defer_free(&i->chunks, &content_ops, g);
    counted_put(atomic_load_explicit(&i->attached, memory_order_relaxed));
    xattrs_put(i->xattrs);
    free(i);
}

const struct radix_ops inode_ops = {.free = inode_free};

static void
inode_content_free(struct shared *s, struct free_list *g)
{
    (void)g;
    free(s);
}

static bool
inode_content_weighs(const struct shared *s)
{
    return !((const struct chunk *)s)->is_uncharged;
}

const struct radix_ops content_ops = {inode_content_free, inode_content_weighs};

struct inode *
inode_new(uint32_t mode, int64_t now_ns)
{
    struct inode *i = calloc(1, sizeof *i);
    if (!i)
        return NULL;
    shared_init(&i->ref);
    i->mode = mode;
    i->nlink = S_ISDIR(mode) ? 2 : 1;
    i->atime_ns = i->mtime_ns = i->ctime_ns = now_ns;
    return i;
}

/* Another thread may be attaching an object to `from`: it alone is read
 * atomically. */
struct inode *
inode_copy(const struct inode *from)
{
    struct inode *i = malloc(sizeof *i);
    if (!i)
        return NULL;
    const size_t plain = offsetof(struct inode, mode);

    shared_init(&i->ref);
    memcpy((char *)i + plain, (const char *)from + plain, sizeof *i - plain);
    if (inode_is_dir(i))
        dir_clone(&from->dir, &i->dir);
    else
        radix_clone(&from->chunks, &i->chunks);
    (void)xattrs_get(i->xattrs);
    struct counted *c =
        atomic_load_explicit(&from->attached, memory_order_acquire);
    atomic_init(&i->attached, c ? counted_get(c) : NULL);
    return i;
}

uint64_t
inode_slack(const struct inode *i, uint64_t size)
{
    unsigned tail = size % CHUNK_BYTES;
    if (!tail || inode_is_dir(i))
        return 0;
    const struct shared *s = radix_find(&i->chunks, size / CHUNK_BYTES);
    return s && inode_content_weighs(s) ? CHUNK_BYTES - tail : 0;
}

uint64_t
inode_nodes_cost(const struct inode *i, uint64_t blocks, uint64_t nodes)
{
    uint64_t paid = blocks + i->uncharged_nodes;

    return nodes > paid ? (nodes - paid) * RADIX_NODE_BYTES : 0;
}

uint64_t
inode_bytes(const struct inode *i)
{
    struct tally sum = inode_blocks(i);

    return sum.weight * CHUNK_BYTES - inode_slack(i, i->size) +
           inode_nodes_cost(i, sum.leaves, sum.nodes) + xattrs_cost(i->xattrs);
}

/* An inode without a name is open or about to be named; it still counts as
 * one. */
uint64_t
inode_units(const struct inode *i)
{
    return inode_is_dir(i) || !i->nlink ? 1 : i->nlink;
}

uint64_t
inode_cost(const struct inode *i)
{
    uint64_t units = inode_units(i);

    return units > i->uncharged_units ? units - i->uncharged_units : 0;
}

void
inode_detach(struct inode *i)
{
    struct counted *c =
        atomic_load_explicit(&i->attached, memory_order_relaxed);

    if (c) {
        atomic_store_explicit(&i->attached, NULL, memory_order_relaxed);
        counted_put(c);
    }
}

/* A write clears the set-id bits, as Linux does. Set-group-ID without group
 * execute is a mark of mandatory locking and stays. */
void
inode_touch_content(struct inode *i, int64_t now_ns)
{
    i->mtime_ns = i->ctime_ns = now_ns;
    i->mode &= ~(uint32_t)S_ISUID;
    if (i->mode & S_IXGRP)
        i->mode &= ~(uint32_t)S_ISGID;
    inode_detach(i);
}

void
inode_touch_dir(struct inode *i, int64_t now_ns)
{
    i->mtime_ns = i->ctime_ns = now_ns;
}
