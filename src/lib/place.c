/* Positions in trees. The parent of a directory is known. A file may have
 * several names, and does not know any of them, so finding one means searching
 * all directories. This happens only for the few open files of a loaded
 * state. */
#include "lib/place.h"

static bool
place_has_entry(const struct inode *d, uint64_t ino)
{
    const struct dir_entry *e;

    for (uint64_t seq = 0; (e = dir_next(&d->dir, &seq)); seq++)
        if (e->ino == ino)
            return true;
    return false;
}

static bool
place_dir_is_below(const struct tree *t, uint64_t dir, uint64_t top)
{
    while (dir != top && dir != TREE_ROOT)
        dir = tree_find(t, dir)->parent;
    return dir == top;
}

/* For a file, any name below `top` is enough. */
bool
place_is_below(const struct tree *t, uint64_t ino, uint64_t top)
{
    const struct inode *i = tree_find(t, ino), *d;
    uint64_t at = 0;

    if (!i || top == TREE_ROOT)
        return i;
    if (inode_is_dir(i))
        return place_dir_is_below(t, ino, top);
    for (; (d = (const struct inode *)radix_next(&t->inodes, &at)); at++)
        if (inode_is_dir(d) && place_has_entry(d, ino) &&
            place_dir_is_below(t, at, top))
            return true;
    return false;
}
