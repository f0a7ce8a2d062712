/* Places in trees. */
#include "lib/place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The entry for ino in one directory. */
static const struct dir_entry *
entry_in(const struct inode *d, uint64_t ino)
{
    const struct dir_entry *e;

    for (uint64_t seq = 0; (e = dir_next(&d->dir, &seq)); seq++)
        if (e->ino == ino)
            return e;
    return NULL;
}

/* The entry for ino, and the directory it is in: a directory knows its own, for
 * others all must be looked at. */
static const struct dir_entry *
find_entry(const struct tree *t, uint64_t ino, uint64_t *ret_dir)
{
    const struct inode *i = tree_find(t, ino), *d;
    const struct dir_entry *e = NULL;
    uint64_t at = 0;

    if (i && inode_is_dir(i)) {
        *ret_dir = i->parent;
        d = tree_find(t, i->parent);
        return d ? entry_in(d, ino) : NULL;
    }
    for (; (d = (const struct inode *)radix_next(&t->inodes, &at)); at++) {
        e = inode_is_dir(d) ? entry_in(d, ino) : NULL;
        if (e)
            break;
    }
    *ret_dir = at;
    return e;
}

int
place_path(const struct tree *t, uint64_t ino, OWN char **ret)
{
    char *buf = malloc(PATH_BYTES_MAX);

    if (!buf)
        return -ENOMEM;
    char *at = buf + PATH_BYTES_MAX - 1;
    *at = 0;
    while (ino != TREE_ROOT) {
        const struct dir_entry *e = find_entry(t, ino, &ino);
        if (!e || (size_t)(at - buf) < (size_t)e->len + 1) {
            free(buf);
            return -ENOENT;
        }
        at -= e->len;
        memcpy(at, e->name, e->len);
        *--at = '/';
    }
    *ret = strdup(at);
    free(buf);
    return *ret ? 0 : -ENOMEM;
}

uint64_t
place_find(const struct tree *t, const char *path)
{
    uint64_t at = TREE_ROOT;

    while (*(path += strspn(path, "/"))) {
        struct name n = {path, strcspn(path, "/")};
        path += n.len;
        if (n.len > NAME_BYTES_MAX || tree_lookup(t, at, n, &at) < 0)
            return 0;
    }
    return at;
}
