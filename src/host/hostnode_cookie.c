/* Positions in directories of a host folder.
 *
 * Problem: the host's positions can use all 63 bits, while 32-bit programs
 * store them in a long.
 *
 * Idea: positions that fit are used as they are. Others are numbered in the
 * order in which they are given out, from COOKIE_BASE on. A node stores them
 * until it is freed, or until others need the memory. A directory that has
 * changed gives out new ones. */
#include "host/hostfs_impl.h"

#include <errno.h>
#include <stdlib.h>

enum { COOKIE_BASE = 1 << 30, COOKIES_FIRST = 64 };

int64_t
hostnode_offset(const struct hostnode *dir, uint64_t cookie)
{
    if (cookie < COOKIE_BASE)
        return (int64_t)cookie;
    uint64_t i = cookie - COOKIE_BASE;
    return i < dir->n_offsets ? dir->offsets[i] : -1;
}

/* Drops the positions of directories that are not open. */
static void
hostnode_cookie_forget_idle(struct hostfs *h)
{
    LIST_FOR_EACH(it, &h->idle)
        hostnode_forget_offsets(h, CONTAINER_OF(it, struct hostnode, idle));
}

void
hostnode_begin_offsets(struct hostfs *h, struct hostnode *dir)
{
    if (dir->cap_offsets >= HOSTFS_OFFSETS / 2)
        hostnode_forget_offsets(h, dir);
}

static size_t
hostnode_cookie_larger_cap(const struct hostnode *dir)
{
    return dir->cap_offsets ? 2 * dir->cap_offsets : COOKIES_FIRST;
}

/* Makes space for one more position. The memory for all directories together
 * is bounded. If it is short, directories that nobody has open lose theirs
 * first. */
static int
hostnode_cookie_grow_offsets(struct hostfs *h, struct hostnode *dir)
{
    if (dir->n_offsets < dir->cap_offsets)
        return 0;
    if (hostnode_cookie_larger_cap(dir) - dir->cap_offsets >
        HOSTFS_OFFSETS - h->n_offsets)
        hostnode_cookie_forget_idle(h);
    size_t cap = hostnode_cookie_larger_cap(dir), more = cap - dir->cap_offsets;
    if (more > HOSTFS_OFFSETS - h->n_offsets)
        return -ENOMEM;
    int64_t *p = realloc(dir->offsets, cap * sizeof *p);
    if (!p)
        return -ENOMEM;
    dir->offsets = p;
    dir->cap_offsets = cap;
    h->n_offsets += more;
    return 0;
}

void
hostnode_forget_offsets(struct hostfs *h, struct hostnode *n)
{
    h->n_offsets -= n->cap_offsets;
    free(n->offsets);
    n->offsets = NULL;
    n->n_offsets = n->cap_offsets = 0;
}

/* A position that was given out before gets the same cookie, if the directory
 * is read again from its start: `last` tells where to expect it. */
int
hostnode_cookie(struct hostfs *h, struct hostnode *dir, uint64_t last,
                int64_t off, uint64_t *ret)
{
    if (off >= 0 && off < COOKIE_BASE) {
        *ret = (uint64_t)off;
        return 0;
    }
    uint64_t next = last < COOKIE_BASE ? 0 : last + 1 - COOKIE_BASE;
    if (next >= dir->n_offsets || dir->offsets[next] != off) {
        int r = hostnode_cookie_grow_offsets(h, dir);
        if (r < 0)
            return r;
        next = dir->n_offsets++;
        dir->offsets[next] = off;
    }
    *ret = COOKIE_BASE + next;
    return 0;
}
