/* Path resolution.
 *
 * Problem: a symbolic link inserts its target into the path, at any depth, and
 * a guest controls all of it.
 *
 * Idea: a loop instead of recursion. The cursor has a current inode and the
 * rest of the path as text. A link replaces the rest by its target followed by
 * the old rest; an absolute target also moves the cursor to the root. The
 * number of links is limited (ELOOP), as is the length of a target, so memory
 * and time are bounded. ".." is resolved by the file system's parent, across
 * mounts, and stops at the task's root. */
#include "kernel/vfs/vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A walk on its way. */
struct cursor {
    const struct at *from;
    const struct caller *as;
    unsigned flags;
    struct vnode at; /* where it is */
    struct attr attr;
    const char *rest; /* what is left of the path */
    char *buf;        /* holds `rest` once a link was followed */
    int links;
    struct walk *ret;
};

static int
path_step_into(struct cursor *c, const struct vnode *v)
{
    c->at = *v;
    return vnode_getattr(v, &c->attr);
}

/* The root directory of the caller, or of the first mount for the host. */
static int
path_go_to_root(struct cursor *c)
{
    struct mount *m = mount_root(c->from->vfs);
    struct vnode root = c->as ? c->as->root : (struct vnode){m, m->root};

    return path_step_into(c, &root);
}

/* Returns true if links may lead anywhere. A walk beneath the root directory
 * itself needs no bound: there is nothing outside. */
static bool
path_is_unbound(const struct cursor *c)
{
    return !(c->flags & WALK_BENEATH) ||
           (c->as && vnode_is_same(c->from->base, &c->as->root));
}

/* The host needs no right to search. */
static int
path_may_search(const struct cursor *c)
{
    if (!S_ISDIR(c->attr.mode))
        return -ENOTDIR;
    return c->as ? vfs_access(&c->as->cred, &c->attr, X_OK) : 0;
}

/* ".." of the root directory is the root directory. At the root of a mount, the
 * directory that it covers is left first. */
static int
path_step_up(struct cursor *c)
{
    struct vnode v = c->at;

    if (c->flags & WALK_BENEATH && vnode_is_same(&v, c->from->base))
        return -EPERM;
    if (c->as && vnode_is_same(&v, &c->as->root))
        return 0;
    while (v.ino == v.mnt->root && v.mnt->parent)
        v = (struct vnode){v.mnt->parent, v.mnt->at};
    int r = v.mnt->fs->ops->parent(v.mnt->fs, v.ino, &v.ino);
    return r < 0 ? r : path_step_into(c, &v);
}

/* Puts the target of the link *v before the rest of the path. The buffer of the
 * last link is replaced, so one buffer exists at a time. */
static int
path_expand_link(struct cursor *c, const struct vnode *v)
{
    struct fs *fs = v->mnt->fs;
    size_t rest = strlen(c->rest) + 1;

    if (!fs->ops->readlink)
        return -EINVAL;
    char *buf = malloc(PATH_BYTES_MAX + rest);
    if (!buf)
        return -ENOMEM;
    int64_t n = fs->ops->readlink(fs, c->as, v->ino, buf, PATH_BYTES_MAX - 1);
    if (n <= 0) {
        free(buf);
        return n < 0 ? (int)n : -ENOENT;
    }
    memcpy(buf + n, c->rest, rest);
    free(c->buf);
    c->buf = buf;
    c->rest = buf;
    if (*buf != '/')
        return 0;
    return path_is_unbound(c) ? path_go_to_root(c) : -EPERM;
}

/* A magic link leads to its object without a path. It could lead out of any
 * directory, so a bounded walk refuses it. */
static int
path_follow_link(struct cursor *c, const struct vnode *v)
{
    struct fs *fs = v->mnt->fs;
    struct file *file = NULL;
    struct vnode to;

    if (++c->links > SYMLINKS_MAX)
        return -ELOOP;
    if (fs->ops->follow) {
        int r = fs->ops->follow(fs, v->ino, &to, &file);
        if (r != -EINVAL && !path_is_unbound(c))
            return -EPERM;
        if (r == 0)
            return path_step_into(c, &to);
        if (r == -ENXIO && *c->rest)
            return -ENOTDIR;
        if (r == -ENXIO)
            c->ret->file = file;
        if (r != -EINVAL)
            return r;
    }
    return path_expand_link(c, v);
}

/* Names point into the path, and are not terminated. */
static struct name
path_take_name(struct cursor *c)
{
    struct name n = {c->rest, strcspn(c->rest, "/")};

    c->rest += n.len;
    return n;
}

static bool
path_is_slashes(const char *s)
{
    return s[strspn(s, "/")] == 0;
}

/* Stores the result: the last name leads to *v, or to nothing (v NULL) in the
 * directory. */
static void
path_finish(struct cursor *c, struct name n, const struct vnode *v)
{
    struct walk *w = c->ret;

    w->dir = c->at;
    memcpy(w->name, n.s, n.len);
    w->name[n.len] = 0;
    w->len = n.len;
    w->slash = *c->rest == '/';
    w->node = v ? *v : (struct vnode){0};
}

/* A name may be missing at the end only, and only if the caller wants to create
 * it. */
static int
path_missing(struct cursor *c, struct name n)
{
    if (!(c->flags & WALK_PARENT) || !path_is_slashes(c->rest))
        return -ENOENT;
    path_finish(c, n, NULL);
    return 1;
}

/* Returns true if a symbolic link at the end is what the walk is for. A slash
 * after it makes it a directory that is meant. */
static bool
path_is_result(const struct cursor *c)
{
    return c->flags & WALK_NAME || (c->flags & WALK_NOFOLLOW && !*c->rest);
}

/* Walks one name other than "." and "..". Returns 1 if the walk is done. */
static int
path_step_name(struct cursor *c, struct name n)
{
    struct fs *fs = c->at.mnt->fs;
    struct vnode v = {c->at.mnt, 0};
    struct attr attr;

    if (n.len > NAME_BYTES_MAX)
        return -ENAMETOOLONG;
    int r = fs->ops->lookup(fs, c->at.ino, n, &v.ino);
    if (r == -ENOENT)
        return path_missing(c, n);
    if (r < 0)
        return r;
    mount_cross(&v);
    r = vnode_getattr(&v, &attr);
    if (r < 0)
        return r;
    bool last = path_is_slashes(c->rest);
    if (S_ISLNK(attr.mode) && (!last || !path_is_result(c)))
        return path_follow_link(c, &v);
    if (last) {
        path_finish(c, n, &v);
        if (c->flags & WALK_NAME)
            return 1;
        if ((*c->rest || c->flags & WALK_DIRECTORY) && !S_ISDIR(attr.mode))
            return -ENOTDIR;
        return 1;
    }
    c->at = v;
    c->attr = attr;
    return 0;
}

static bool
path_is_dot(struct name n)
{
    return n.len == 1 && n.s[0] == '.';
}

static bool
path_is_dot_dot(struct name n)
{
    return n.len == 2 && n.s[0] == '.' && n.s[1] == '.';
}

/* Walks one component. Returns 1 if the walk is done. */
static int
path_step(struct cursor *c)
{
    c->rest += strspn(c->rest, "/");
    if (!*c->rest) { /* ends in a slash, "." or "..", or is the root */
        c->ret->dir = c->ret->node = c->at;
        c->ret->len = 0;
        c->ret->slash = true;
        if (c->flags & WALK_DIRECTORY && !S_ISDIR(c->attr.mode))
            return -ENOTDIR;
        return 1;
    }
    int r = path_may_search(c);
    if (r < 0)
        return r;
    struct name n = path_take_name(c);
    if (path_is_dot(n))
        return 0;
    return path_is_dot_dot(n) ? path_step_up(c) : path_step_name(c, n);
}

int
path_walk(const struct at *at, unsigned flags, struct walk *ret)
{
    const char *path = at->path;
    struct cursor c = {.from = at,
                       .as = at->as,
                       .flags = flags | at->walk,
                       .rest = path,
                       .ret = ret};

    if (!*path)
        return -ENOENT;
    if (*path == '/' && c.flags & WALK_BENEATH)
        return -EPERM;
    ret->name[0] = 0;
    ret->file = NULL;
    int r = *path == '/' ? path_go_to_root(&c) : path_step_into(&c, at->base);
    while (r == 0)
        r = path_step(&c);
    free(c.buf);
    return r < 0 ? r : 0;
}
