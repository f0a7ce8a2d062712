#include "random_tree.h"
#include "../unit/test.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIR_ATTR                                         \
    &(struct attr)                                       \
    {                                                    \
        .mode = S_IFDIR | 0755, .uid = 1000, .gid = 1000 \
    }

static struct name
name_of(const char *s)
{
    return (struct name){s, strlen(s)};
}

void
check_used(const struct tree *t)
{
    struct quota q;

    tree_recount(t, &q);
    CHECK_EQ(t->used.bytes, q.bytes);
    CHECK_EQ(t->used.inodes, q.inodes);
}

unsigned
dice(unsigned *seed, unsigned n)
{
    return (unsigned)rand_r(seed) % n;
}

static const char *const names[] = {"a", "b", "c", "d", "e", "f"};

static struct name
any_name(unsigned *seed)
{
    return name_of(names[dice(seed, 6)]);
}

uint64_t
any_ino(const struct tree *t, unsigned *seed)
{
    uint64_t ino = dice(seed, (unsigned)t->next_ino + 1);
    return radix_next(&t->inodes, &ino) ? ino : TREE_ROOT;
}

void
random_content(struct tree *t, unsigned *seed)
{
    static const char buf[20000] = "content";
    uint64_t ino = any_ino(t, seed);
    uint64_t off = (uint64_t)dice(seed, 600000) << 9 * dice(seed, 4);
    size_t len = dice(seed, sizeof buf) + 1;

    if (!S_ISREG(tree_find(t, ino)->mode))
        return;
    switch (dice(seed, 5)) {
    case 0:
        (void)tree_truncate(t, ino, off, 1);
        break;
    case 1:
        (void)tree_punch(t, ino, off, len, 1);
        break;
    case 2:
        (void)tree_allocate(t, ino, off, len, dice(seed, 2), 1);
        break;
    default:
        (void)tree_write(t, ino, off, buf, len, 1);
    }
}

void
random_name(struct tree *t, unsigned *seed)
{
    uint64_t dir = any_ino(t, seed), ino = any_ino(t, seed);
    static const unsigned flags[] = {0, 0, RENAME_NOREPLACE, RENAME_EXCHANGE};
    struct name name = any_name(seed);

    switch (dice(seed, 8)) {
    case 0:
        (void)tree_create(t, dir, name, DIR_ATTR, 1, &ino);
        break;
    case 1:
        (void)tree_create(t, dir, name, FILE_ATTR, 1, &ino);
        break;
    case 2:
        (void)tree_symlink(t, dir, name, "to", 2, FILE_ATTR, 1, &ino);
        break;
    case 3:
        (void)tree_link(t, dir, name, ino, 1);
        break;
    case 4:
    case 5:
        (void)tree_unlink(t, dir, name, (int)dice(seed, 2), 1);
        break;
    default:
        (void)tree_rename(t, dir, name, any_ino(t, seed), any_name(seed),
                          flags[dice(seed, 4)], 1);
    }
}

void
random_xattr(struct tree *t, unsigned *seed)
{
    static const char *const attrs[] = {"user.a", "user.b", "user.long"};
    static const char value[300] = "value";
    const char *name = attrs[dice(seed, 3)];
    struct xattr_name n = {name, strlen(name)};

    (void)tree_set_xattr(t, any_ino(t, seed), n, dice(seed, 3) ? value : NULL,
                         dice(seed, sizeof value), 1);
}

void
random_hold(struct world *w, unsigned *seed)
{
    uint64_t *h = &w->held[dice(seed, 8)];

    if (*h) {
        tree_release(&w->t, *h);
        *h = 0;
    } else if (dice(seed, 4) == 0) {
        (void)tree_tmpfile(&w->t, FILE_ATTR, true, 1, h);
    } else {
        *h = any_ino(&w->t, seed);
        tree_hold(&w->t, *h);
    }
}

static void
check_sums(const struct inode *i, uint64_t first, uint64_t last)
{
    struct tally sum = radix_tally(&i->chunks, &content_ops, first, last);
    struct shared *s;

    for (uint64_t key = first;
         (s = radix_next(&i->chunks, &key)) && key <= last; key++) {
        sum.leaves--;
        sum.weight -= !((struct chunk *)s)->is_uncharged;
    }
    CHECK_EQ(sum.leaves, 0);
    CHECK_EQ(sum.weight, 0);
}

void
check_blocks(const struct tree *t)
{
    uint64_t ino = 0;
    const struct inode *i;

    for (; (i = (const struct inode *)radix_next(&t->inodes, &ino)); ino++) {
        if (inode_is_dir(i))
            continue;
        check_sums(i, 0, UINT64_MAX);
        check_sums(i, ino % 8, 8 + ino % 64);
        CHECK_EQ(i->chunks.sum.leaves,
                 radix_tally(&i->chunks, &content_ops, 0, UINT64_MAX).leaves);
    }
}

void
check_links(const struct tree *t)
{
    uint64_t ino = 0, links = 0, names_seen = 0;
    const struct inode *i;

    for (; (i = (const struct inode *)radix_next(&t->inodes, &ino)); ino++) {
        if (!inode_is_dir(i)) {
            links += i->nlink;
            continue;
        }
        uint64_t seq = 0, subdirs = 0;
        const struct dir_entry *e;
        for (; (e = dir_next(&i->dir, &seq)); seq++) {
            const struct inode *child = tree_find(t, e->ino);
            CHECK(child && child->mode >> 12 == e->type);
            bool is_dir = child && inode_is_dir(child);
            CHECK(!is_dir || (child->parent == ino && child->seq == e->seq));
            subdirs += is_dir;
            names_seen += !is_dir;
        }
        CHECK(i->nlink == 0 || i->nlink == 2 + subdirs);
    }
    CHECK_EQ(links, names_seen);
}
