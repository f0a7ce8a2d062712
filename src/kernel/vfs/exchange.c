/* Exchanging the tree of a file system in use.
 *
 * Mounts refer to inodes of the old tree by number. The new tree may lack these
 * directories, or have them under other numbers. prepare therefore creates a
 * clone of the new tree with all needed directories, which is the only part
 * that can fail. commit then only replaces numbers. */
#include "kernel/vfs/exchange.h"

#include "kernel/vfs/tmpfs.h"
#include "kernel/vfs/vfs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The future position of a mount. */
struct point {
    struct mount *m;
    uint64_t ino;
};

/* Enters the directory `name` of *dir. A missing one is created, with the time
 * of its parent, so that the time of the exchange leaves no trace. */
static int
exchange_step(struct tree *t, struct name name, const struct attr *a,
              uint64_t *dir)
{
    const struct inode *up = tree_find(t, *dir);
    int64_t now_ns = up->mtime_ns;
    uint64_t ino = 0;

    int r = tree_lookup(t, *dir, name, &ino);
    if (r == -ENOENT)
        r = tree_create(t, *dir, name, a, now_ns, &ino);
    if (r < 0)
        return r;
    *dir = ino;
    return inode_is_dir(tree_find(t, ino)) ? 0 : -ENOTDIR;
}

/* The path of a mount below its file system; its last folder may have an
 * owner. */
static int
exchange_find_point(struct tree *t, const char *path, uint32_t uid,
                    uint64_t *ret)
{
    const struct attr a = {.mode = S_IFDIR | 0755, .uid = uid, .gid = uid};
    uint64_t dir = TREE_ROOT;
    int r = 0;

    while (r == 0 && *(path += strspn(path, "/"))) {
        struct name n = {path, strcspn(path, "/")};
        path += n.len;
        r = exchange_step(t, n, &a, &dir);
    }
    *ret = dir;
    return r;
}

/* Finds the new position of every mount whose parent is the file system. */
static int
exchange_find_points(struct exchange *x)
{
    size_t skip = x->top->parent ? strlen(x->top->path) : 0;

    LIST_FOR_EACH(it, &x->top->fs->vfs->mounts) {
        struct mount *m = CONTAINER_OF(it, struct mount, link);
        struct point *p = &x->points[x->n];
        if (!m->parent || m->parent->fs != x->top->fs)
            continue;
        x->culprit = p->m = m;
        int r = exchange_find_point(&x->now, m->path + skip, m->uid, &p->ino);
        if (r < 0)
            return r;
        x->n++;
    }
    return 0;
}

/* The quota is not applied while mount points are created: they must exist. */
int
exchange_prepare(struct mount *top, const struct tree *from,
                 struct exchange *ret)
{
    struct exchange x = {.top = top};

    x.points = calloc(mount_count(top->fs->vfs) + 1, sizeof *x.points);
    int r = x.points ? tree_clone(from, &x.now) : -ENOMEM;
    if (r == 0) {
        x.now.max = (struct quota){UINT64_MAX, UINT64_MAX};
        r = exchange_find_points(&x);
    }
    if (r < 0) {
        ret->culprit = x.culprit;
        exchange_fini(&x);
        return r;
    }
    *ret = x;
    return 0;
}

/* Holds move from the old inodes to the new ones. Nothing here can fail. */
void
exchange_commit(struct exchange *x)
{
    struct fs *fs = x->top->fs;

    for (size_t i = 0; i < x->n; i++)
        fs->ops->release(fs, x->points[i].m->at);
    tmpfs_set_tree(fs, &x->now);
    for (size_t i = 0; i < x->n; i++) {
        struct point *p = &x->points[i];
        p->m->at = p->ino;
        if (p->m->is_bind)
            p->m->root = p->ino;
        fs->ops->hold(fs, p->ino);
    }
}

void
exchange_fini(struct exchange *x)
{
    tree_fini(&x->now);
    free(x->points);
    *x = (struct exchange){0};
}
