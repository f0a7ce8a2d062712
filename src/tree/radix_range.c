/* Ranges of a radix tree, by the sums that its nodes keep.
 *
 * Problem: truncating a file of a million blocks must release its quota at
 * once, without visiting the blocks.
 *
 * Idea: each node stores the number of leaves below it, of those that weigh,
 * and of the nodes that lead to them. A range is covered by a few whole
 * subtrees, whose sums are read, and two paths at its ends. Only these paths
 * are walked, so a range costs O(height * fan-out), whatever its length.
 *
 * Recursion is as deep as the tree is high: 11 at most. */
#include "tree/radix_impl.h"

#include <errno.h>
#include <stdlib.h>

/* The last key of a subtree whose first is 0. */
static uint64_t
radix_range_last_of(unsigned height)
{
    return height >= HEIGHT_MAX ? UINT64_MAX
                                : (UINT64_C(1) << (BITS * height)) - 1;
}

static struct tally
radix_range_sum_of(struct shared *s, unsigned height,
                   const struct radix_ops *ops)
{
    if (height)
        return node_of(s)->sum;
    return (struct tally){!!ops->weighs, ops->weighs && ops->weighs(s), 0};
}

static void
radix_range_add(struct tally *to, const struct tally *t)
{
    to->leaves += t->leaves;
    to->weight += t->weight;
    to->nodes += t->nodes;
}

static void
radix_range_subtract(struct tally *from, const struct tally *t)
{
    from->leaves -= t->leaves;
    from->weight -= t->weight;
    from->nodes -= t->nodes;
}

/* Returns the number of nodes on the way to `key` that have no counted leaf
 * yet. They are at the lower end of the path: all nodes below the first one of
 * them lead to the new leaf only. */
static unsigned
radix_new_nodes(const struct radix *r, uint64_t key)
{
    struct shared *s = r->root;

    for (unsigned h = r->height; h; h--) {
        if (!node_of(s)->sum.leaves)
            return h;
        s = node_of(s)->slot[index_at(key, h - 1)];
    }
    return 0;
}

/* Adds to the sums along the path. A new node at height h has itself and h - 1
 * new nodes below it; an older one above them gets all of the new nodes. */
void
radix_count(struct radix *r, uint64_t key, int leaves, int weight)
{
    unsigned added = leaves > 0 ? radix_new_nodes(r, key) : 0;
    struct tally t = {(uint64_t)(int64_t)leaves, (uint64_t)(int64_t)weight,
                      added};
    struct shared *s = r->root;

    radix_range_add(&r->sum, &t);
    for (unsigned h = r->height; h; h--) {
        t.nodes = h < added ? h : added; /* a new node of height h counts h */
        radix_range_add(&node_of(s)->sum, &t);
        s = node_of(s)->slot[index_at(key, h - 1)];
    }
}

/* If the tree must become higher, each level adds a new root on top. The path
 * to the new key then shares only the highest of them with the old tree. */
unsigned
radix_missing(const struct radix *r, uint64_t key)
{
    struct shared *s = r->root;
    unsigned height = 0;

    while (!key_fits(key, height))
        height++;
    if (!s)
        return height;
    if (height > r->height) /* new tops, and all below the highest of them */
        return height - r->height + height - 1;
    for (height = r->height; height && s; height--)
        s = node_of(s)->slot[index_at(key, height - 1)];
    return s ? 0 : height;
}

static uint64_t
radix_range_node_recount(const struct shared *s, unsigned height)
{
    uint64_t n = 1;

    if (!s || !height)
        return 0;
    for (unsigned i = 0; i < FANOUT; i++)
        n += radix_range_node_recount(((const struct radix_node *)s)->slot[i],
                                      height - 1);
    return n;
}

uint64_t
radix_count_nodes(const struct radix *r)
{
    return radix_range_node_recount(r->root, r->height);
}

/* A part of a subtree: keys count from its first. */
struct range {
    uint64_t first, last;
};

/* The part of it that is in child `i` of a node of that height. */
static struct range
range_in(const struct range *p, unsigned i, unsigned height)
{
    uint64_t end = radix_range_last_of(height - 1);

    return (struct range){
        i == index_at(p->first, height - 1) ? p->first & end : 0,
        i == index_at(p->last, height - 1) ? p->last & end : end,
    };
}

static struct tally
tally_part(struct shared *s, unsigned height, const struct radix_ops *ops,
           struct range p)
{
    struct tally sum = {0};

    if (!s)
        return sum;
    if (p.first == 0 && p.last == radix_range_last_of(height))
        return radix_range_sum_of(s, height, ops);
    unsigned end = index_at(p.last, height - 1);
    for (unsigned i = index_at(p.first, height - 1); i <= end; i++) {
        struct tally t = tally_part(node_of(s)->slot[i], height - 1, ops,
                                    range_in(&p, i, height));
        radix_range_add(&sum, &t);
    }
    return sum;
}

/* The range as far as the tree has keys; false: it has none there. */
static bool
radix_range_clamp(const struct radix *r, uint64_t first, uint64_t last,
                  struct range *ret)
{
    uint64_t end = radix_range_last_of(r->height);

    *ret = (struct range){first, last < end ? last : end};
    return r->root && first <= ret->last;
}

struct tally
radix_tally(const struct radix *r, const struct radix_ops *ops, uint64_t first,
            uint64_t last)
{
    struct range p;

    if (!radix_range_clamp(r, first, last, &p))
        return (struct tally){0};
    return tally_part(r->root, r->height, ops, p);
}

static bool
radix_range_is_empty(const struct radix_node *n)
{
    for (unsigned i = 0; i < FANOUT; i++)
        if (n->slot[i])
            return false;
    return true;
}

/* Partly cut nodes have one owner. Returns the tally of the removed part. */
static struct tally
radix_range_cut_part(struct shared **at, unsigned height,
                     const struct radix_ops *ops, struct range p,
                     struct free_list *g)
{
    struct tally sum = {0};

    if (!*at)
        return sum;
    if (p.first == 0 && p.last == radix_range_last_of(height)) {
        sum = radix_range_sum_of(*at, height, ops);
        radix_put(STEAL(*at), height, ops, g);
        return sum;
    }
    struct radix_node *n = node_of(*at);
    unsigned end = index_at(p.last, height - 1);
    for (unsigned i = index_at(p.first, height - 1); i <= end; i++) {
        struct tally t = radix_range_cut_part(&n->slot[i], height - 1, ops,
                                              range_in(&p, i, height), g);
        radix_range_add(&sum, &t);
    }
    radix_range_subtract(&n->sum, &sum);
    if (radix_range_is_empty(n)) {
        sum.nodes++;
        *at = NULL;
        free(n);
    }
    return sum;
}

/* The two paths at the ends are made exclusive first, which is all that can
 * fail. Everything between them is dropped as whole subtrees. */
int
radix_cut(struct radix *r, const struct radix_ops *ops, uint64_t first,
          uint64_t last, struct free_list *g)
{
    struct shared **path[HEIGHT_MAX + 1];
    struct range p;

    if (!radix_range_clamp(r, first, last, &p))
        return 0;
    bool is_all = p.first == 0 && p.last == radix_range_last_of(r->height);
    if (!is_all && (radix_path_unshare(r, p.first, path) < 0 ||
                    radix_path_unshare(r, p.last, path) < 0))
        return -ENOMEM;
    struct tally t = radix_range_cut_part(&r->root, r->height, ops, p, g);
    radix_range_subtract(&r->sum, &t);
    radix_shrink(r);
    return 0;
}
