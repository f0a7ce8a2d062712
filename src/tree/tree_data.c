/* Contents of files and symbolic links: chunks by index.
 *
 * Each block is charged 4 KiB, except that the last block is charged only up to
 * the size of the file: the rest is its slack. Slack depends on the size, on
 * whether the last block exists, and on whether it pays. Operations that change
 * one of these follow one rule. tree_data_change_begin charges the slack, so
 * that every block counts in full. Then blocks and size change, and
 * tree_data_change_end credits the new slack. Writes are frequent and compute
 * the difference directly (tree_data_write_cost).
 *
 * Nodes of the radix tree are charged as far as there are more nodes than
 * blocks, which only happens in files with holes. Charges that can fail come
 * before the change; credits come after it. */
#include "tree/tree.h"
#include "tree/tree_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint64_t
tree_data_min_u64(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t
tree_data_blocks_for(uint64_t bytes)
{
    return (bytes + CHUNK_BYTES - 1) / CHUNK_BYTES;
}

static int64_t
tree_data_block_bytes(uint64_t n)
{
    return (int64_t)(n * CHUNK_BYTES);
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
    len = (size_t)tree_data_min_u64(len, i->size - pos);
    for (size_t done = 0; done < len;) {
        size_t off = (pos + done) % CHUNK_BYTES;
        size_t n = (size_t)tree_data_min_u64(CHUNK_BYTES - off, len - done);
        chunk_read(chunk_at(i, (pos + done) / CHUNK_BYTES), off,
                   (char *)buf + done, n);
        done += n;
    }
    return (int64_t)len;
}

/* The block `key` is new, or costs quota from now on. */
static void
tree_data_count(struct inode *i, uint64_t key, bool is_new, bool pays)
{
    if (is_new || pays)
        radix_count(&i->chunks, key, is_new, pays);
}

const void *
inode_content(const struct inode *i)
{
    const uint8_t *start = NULL;

    for (uint64_t at = 0; at < i->size; at += CHUNK_BYTES) {
        const struct chunk *c = chunk_at(i, at / CHUNK_BYTES);
        if (!c || !c->is_foreign ||
            c->cap < tree_data_min_u64(CHUNK_BYTES, i->size - at))
            return NULL;
        if (at == 0)
            start = c->data;
        if (c->data != start + at)
            return NULL;
    }
    return start;
}

/* Charges the slack of a file while its blocks or size change. This never
 * fails: the bytes are credited again, or replaced by those of the new last
 * block. */
static void
tree_data_change_begin(struct tree *t, const struct inode *i)
{
    tree_settle(t, (int64_t)inode_slack(i, i->size));
}

static void
tree_data_change_end(struct tree *t, const struct inode *i)
{
    tree_settle(t, -(int64_t)inode_slack(i, i->size));
}

/* Returns the change in the charge for nodes if the file had further blocks
 * and nodes. The result is negative if new blocks pay for nodes that exist
 * already. */
static int64_t
tree_data_nodes_cost_of(const struct inode *i, uint64_t blocks, uint64_t nodes)
{
    const struct tally *sum = &i->chunks.sum;

    return (
        int64_t)(inode_nodes_cost(i, sum->leaves + blocks, sum->nodes + nodes) -
                 inode_nodes_cost(i, sum->leaves, sum->nodes));
}

/* Returns the change in the charge for nodes if the missing block `key` is
 * added. */
static int64_t
tree_data_nodes_cost_at(const struct inode *i, uint64_t key)
{
    return tree_data_nodes_cost_of(i, 1, radix_missing(&i->chunks, key));
}

/* Returns the quota bytes for a write up to `end`; `pays`: the block was not
 * charged before.
 *
 * Invariant: a file is charged CHUNK_BYTES for each of its paying blocks, minus
 * its slack, the unused end of its last block. A file without holes thus costs
 * exactly its size.
 *
 * A write changes the two terms. A newly paying block adds CHUNK_BYTES. If the
 * write is in the last block of the new size, the slack becomes the distance to
 * the end of the block: -size % CHUNK_BYTES in unsigned arithmetic. Otherwise
 * it stays. The cost is the added block plus the old slack minus the new one.
 * It is negative if the file grows into a block that was already paid and has a
 * longer unused end. */
static int64_t
tree_data_write_cost(const struct inode *i, uint64_t end, bool pays)
{
    if (!pays && end <= i->size)
        return 0;
    uint64_t size = end > i->size ? end : i->size;
    bool is_last = (end - 1) / CHUNK_BYTES == (size - 1) / CHUNK_BYTES;
    uint64_t slack = inode_slack(i, i->size);

    return (int64_t)((pays ? CHUNK_BYTES : 0) + slack -
                     (is_last ? -size % CHUNK_BYTES : slack));
}

/* Writes within one block. The order matters for failures: the nodes, then the
 * charge, then the memory. Each failure undoes the steps before it.
 *
 * Only the first block of a file starts small: other blocks will probably be
 * filled, and growing them would copy. */
static int
tree_data_write_chunk(struct tree *t, struct inode *i, uint64_t pos,
                      const void *buf, size_t len)
{
    uint64_t key = pos / CHUNK_BYTES;
    int64_t cost = chunk_at(i, key) ? 0 : tree_data_nodes_cost_at(i, key);
    struct shared **at = radix_slot(&i->chunks, key);
    if (!at)
        return -ENOMEM;
    struct chunk *c = (struct chunk *)*at;
    bool is_new = !c, pays = !c || c->is_uncharged;
    cost += tree_data_write_cost(i, pos + len, pays);

    int r = cost ? tree_charge(t, cost) : 0;
    if (!r) {
        r = chunk_write(&c, pos % CHUNK_BYTES, buf, len, key ? CHUNK_BYTES : 0);
        if (r < 0)
            tree_settle(t, -cost);
    }
    if (r < 0) {
        if (is_new)
            (void)radix_remove(&i->chunks, &content_ops, key, NULL);
        return r;
    }
    *at = &c->ref;
    tree_data_count(i, key, is_new, pays);
    if (pos + len > i->size)
        i->size = pos + len;
    return 0;
}

/* A write that fails after some blocks is a short write, as POSIX requires
 * it. */
int64_t
tree_write(struct tree *t, uint64_t ino, uint64_t pos, const void *buf,
           size_t len, int64_t now_ns)
{
    struct inode *i;

    if (pos >= FILE_BYTES_MAX)
        return -EFBIG;
    len = (size_t)tree_data_min_u64(len, FILE_BYTES_MAX - pos);
    int r = tree_unshare(t, ino, &i);
    if (r < 0)
        return r;

    size_t done = 0;
    while (done < len) {
        size_t room = CHUNK_BYTES - (pos + done) % CHUNK_BYTES;
        size_t n = (size_t)tree_data_min_u64(room, len - done);
        r = tree_data_write_chunk(t, i, pos + done, (const char *)buf + done,
                                  n);
        if (r < 0)
            break;
        done += n;
    }
    if (!done)
        return r;
    inode_touch_content(i, now_ns);
    return (int64_t)done;
}

/* Drops the blocks first..last. The sums of the radix tree before and after the
 * cut say how much to credit; the blocks are not visited. */
static int
tree_data_cut_blocks(struct tree *t, struct inode *i, uint64_t first,
                     uint64_t last)
{
    const struct tally old = i->chunks.sum, *now = &i->chunks.sum;
    int r = radix_cut(&i->chunks, &content_ops, first, last, &t->deferred);

    tree_settle(t, (int64_t)(inode_nodes_cost(i, now->leaves, now->nodes) -
                             inode_nodes_cost(i, old.leaves, old.nodes)) -
                       tree_data_block_bytes(old.weight - now->weight));
    return r;
}

/* Charges a higher cost before the change and credits a lower one after it. */
static int
tree_data_replace_block(struct tree *t, struct inode *i, uint64_t index,
                        OWN struct chunk *c)
{
    const struct chunk *old = chunk_at(i, index);
    int paid = old && !old->is_uncharged, pays = c && !c->is_uncharged;
    bool is_new = !old;

    if (!c)
        return tree_data_cut_blocks(t, i, index, index);
    int64_t cost = (pays - paid) * (int64_t)CHUNK_BYTES +
                   (is_new ? tree_data_nodes_cost_at(i, index) : 0);
    if (cost > 0 && tree_charge(t, cost) < 0) {
        chunk_put(c);
        return -ENOSPC;
    }
    if (radix_set(&i->chunks, &content_ops, index, &c->ref, &t->deferred) < 0) {
        tree_settle(t, cost > 0 ? -cost : 0);
        return -ENOMEM;
    }
    tree_settle(t, cost < 0 ? cost : 0);
    radix_count(&i->chunks, index, is_new, pays - paid);
    return 0;
}

int
tree_set_block(struct tree *t, struct inode *i, uint64_t index,
               OWN struct chunk *c)
{
    tree_data_change_begin(t, i);
    int r = tree_data_replace_block(t, i, index, c);
    tree_data_change_end(t, i);
    return r;
}

static int
tree_data_map_chunk(struct tree *t, struct inode *i, uint64_t key,
                    const void *data, size_t len)
{
    struct chunk *c = chunk_new_foreign(data, len);

    return c ? tree_set_block(t, i, key, c) : -ENOMEM;
}

int
tree_map(struct tree *t, uint64_t ino, uint64_t pos, const void *data,
         size_t len)
{
    struct inode *i;

    if (pos > FILE_BYTES_MAX || len > FILE_BYTES_MAX - pos)
        return -EFBIG;
    int r = tree_unshare(t, ino, &i);
    for (size_t done = 0; !r && done < len; done += CHUNK_BYTES) {
        size_t n = (size_t)tree_data_min_u64(CHUNK_BYTES, len - done);
        r = tree_data_map_chunk(t, i, (pos + done) / CHUNK_BYTES,
                                (const char *)data + done, n);
    }
    if (r != 0 || pos + len <= i->size)
        return r;
    tree_data_change_begin(t, i);
    i->size = pos + len;
    tree_data_change_end(t, i);
    return 0;
}

/* Makes a part of the block `key` read as zeros. A block of the root image that
 * must be copied for this is charged from now on. */
static int
tree_data_zero_chunk(struct tree *t, struct inode *i, uint64_t key, size_t off,
                     size_t len)
{
    const struct chunk *found = chunk_at(i, key);
    if (!found)
        return 0;
    bool costs = chunk_zero_costs(found, off, len);
    if (costs && tree_charge(t, CHUNK_BYTES) < 0)
        return -ENOSPC;

    int r = -ENOMEM;
    struct shared **at = radix_slot(&i->chunks, key);
    if (at) {
        struct chunk *c = (struct chunk *)*at;
        r = chunk_zero(&c, off, len);
        *at = &c->ref;
    }
    if (r < 0 && costs)
        tree_settle(t, -tree_data_block_bytes(1));
    if (!r)
        tree_data_count(i, key, false, costs);
    return r;
}

/* Drops everything beyond `size`, which is at most the size of the file. The
 * rest of the last block is zeroed, because the file may grow again over it. */
static int
tree_data_cut(struct tree *t, struct inode *i, uint64_t size)
{
    size_t tail = size % CHUNK_BYTES;
    int r = 0;

    tree_data_change_begin(t, i);
    if (tail)
        r = tree_data_zero_chunk(t, i, size / CHUNK_BYTES, tail,
                                 CHUNK_BYTES - tail);
    if (!r)
        r = tree_data_cut_blocks(t, i, tree_data_blocks_for(size), UINT64_MAX);
    if (!r)
        i->size = size;
    tree_data_change_end(t, i);
    return r;
}

/* The former last block is charged in full now; the new end is a hole or a
 * block that was allocated beyond the old end. */
static int
tree_data_extend(struct tree *t, struct inode *i, uint64_t size)
{
    uint64_t slack = inode_slack(i, i->size) - inode_slack(i, size);
    int r = tree_charge(t, (int64_t)slack);

    if (!r)
        i->size = size;
    return r;
}

int
tree_truncate(struct tree *t, uint64_t ino, uint64_t size, int64_t now_ns)
{
    struct inode *i;

    if (size > FILE_BYTES_MAX)
        return -EFBIG;
    int r = tree_unshare(t, ino, &i);
    if (!r)
        r = size <= i->size ? tree_data_cut(t, i, size)
                            : tree_data_extend(t, i, size);
    if (r < 0)
        return r;
    inode_touch_content(i, now_ns);
    return 0;
}

static int
tree_data_allocate_chunk(struct tree *t, struct inode *i, uint64_t key)
{
    if (chunk_at(i, key))
        return 0;
    int64_t cost = CHUNK_BYTES + tree_data_nodes_cost_at(i, key);
    struct shared **at = radix_slot(&i->chunks, key);
    if (!at)
        return -ENOMEM;
    int r = tree_charge(t, cost);
    struct chunk *c = r ? NULL : chunk_new(0);
    if (!c) {
        if (!r)
            tree_settle(t, -cost);
        (void)radix_remove(&i->chunks, &content_ops, key, NULL);
        return r ? r : -ENOMEM;
    }
    *at = &c->ref;
    tree_data_count(i, key, true, true);
    return 0;
}

/* Checks the quota for the missing blocks of first..last. They share nodes: 64
 * blocks share one node, 64 of these share one, and so on. So no more nodes are
 * needed than for the first and the last block, and one for each 32 between
 * them. */
static int
tree_data_check_room(struct tree *t, const struct inode *i, uint64_t first,
                     uint64_t last)
{
    struct tally present = radix_tally(&i->chunks, &content_ops, first, last);
    uint64_t n = last - first + 1 - present.leaves;
    uint64_t nodes =
        radix_missing(&i->chunks, first) +
        (last > first ? radix_missing(&i->chunks, last) + n / 32 : 0);
    int64_t missing =
        tree_data_block_bytes(n) + tree_data_nodes_cost_of(i, n, nodes);
    int r = tree_charge(t, missing);

    if (r == 0)
        tree_settle(t, -missing);
    return r;
}

/* The quota is checked for the whole range, but only a step of it is allocated:
 * the caller continues, and a large fallocate does not block the sandbox. */
static int
tree_data_allocate_chunks(struct tree *t, struct inode *i, uint64_t first,
                          uint64_t last)
{
    int r = tree_data_check_room(t, i, first, last);
    uint64_t most = first + ALLOCATE_STEP_BYTES / CHUNK_BYTES - 1;

    for (uint64_t key = first; !r && key <= last && key <= most; key++)
        r = tree_data_allocate_chunk(t, i, key);
    return r;
}

int64_t
tree_allocate(struct tree *t, uint64_t ino, uint64_t off, uint64_t len,
              bool keep_size, int64_t now_ns)
{
    struct inode *i;

    if (off > FILE_BYTES_MAX || len > FILE_BYTES_MAX - off)
        return -EFBIG;
    int r = tree_unshare(t, ino, &i);
    if (r < 0)
        return r;
    uint64_t first = off / CHUNK_BYTES, end = off + len;
    uint64_t reached = first * CHUNK_BYTES + ALLOCATE_STEP_BYTES;
    tree_data_change_begin(t, i);
    r = tree_data_allocate_chunks(t, i, first, tree_data_blocks_for(end) - 1);
    if (!r && reached >= end && !keep_size && end > i->size) {
        i->size = end;
        inode_touch_content(i, now_ns);
    }
    tree_data_change_end(t, i);
    if (r < 0)
        return r;
    if (reached < end)
        return (int64_t)(reached - off);
    i->ctime_ns = now_ns;
    return (int64_t)len;
}

/* Zeroes what off..end-1 covers of the blocks at its two ends, if only in
 * part, and drops those between. */
static int
tree_data_punch(struct tree *t, struct inode *i, uint64_t off, uint64_t end)
{
    uint64_t first = tree_data_blocks_for(off), last = end / CHUNK_BYTES;
    size_t head = off % CHUNK_BYTES, tail = end % CHUNK_BYTES;
    int r = 0;

    if (first > last)
        return tree_data_zero_chunk(t, i, last, head, (size_t)(end - off));
    if (head)
        r = tree_data_zero_chunk(t, i, first - 1, head, CHUNK_BYTES - head);
    if (!r && tail)
        r = tree_data_zero_chunk(t, i, last, 0, tail);
    return r || first == last ? r : tree_data_cut_blocks(t, i, first, last - 1);
}

int
tree_punch(struct tree *t, uint64_t ino, uint64_t off, uint64_t len,
           int64_t now_ns)
{
    struct inode *i;

    if (off > FILE_BYTES_MAX || len > FILE_BYTES_MAX - off)
        return -EFBIG;
    int r = tree_unshare(t, ino, &i);
    if (r != 0)
        return r;
    tree_data_change_begin(t, i);
    r = tree_data_punch(t, i, off, off + len);
    tree_data_change_end(t, i);
    inode_touch_content(i, now_ns);
    return r;
}

/* One more than SEEK_STEP_BYTES: the first may be begun in its middle. */
enum { SEEK_BLOCKS = SEEK_STEP_BYTES / CHUNK_BYTES + 1 };

/* Blocks that were allocated but never written count as holes. */
static bool
tree_data_is_data(const struct chunk *c)
{
    return c && c->cap;
}

static int64_t
tree_data_seek_data(const struct inode *i, uint64_t pos)
{
    uint64_t key = pos / CHUNK_BYTES;
    unsigned left = SEEK_BLOCKS;
    struct shared *s;

    while ((s = radix_next(&i->chunks, &key)) &&
           !tree_data_is_data((struct chunk *)s)) {
        key++;
        if (!--left)
            return -EAGAIN;
    }
    if (!s || key * CHUNK_BYTES >= i->size)
        return -ENXIO;
    uint64_t start = key * CHUNK_BYTES;
    return (int64_t)(start > pos ? start : pos);
}

static int64_t
tree_data_seek_hole(const struct inode *i, uint64_t pos)
{
    uint64_t key = pos / CHUNK_BYTES, end = key + SEEK_BLOCKS;

    while (key * CHUNK_BYTES < i->size && tree_data_is_data(chunk_at(i, key)))
        if (++key == end)
            return -EAGAIN;
    uint64_t start = key * CHUNK_BYTES > pos ? key * CHUNK_BYTES : pos;
    return (int64_t)tree_data_min_u64(start, i->size);
}

int64_t
inode_seek(const struct inode *i, uint64_t pos, int whence)
{
    if (pos >= i->size)
        return -ENXIO;
    return whence == SEEK_DATA ? tree_data_seek_data(i, pos)
                               : tree_data_seek_hole(i, pos);
}
