/* The tree of mounts, and paths of directories in it.
 *
 * A mount covers a directory of its parent. Walks cross it in both directions:
 * downwards when a name leads to a covered directory (mount_cross), upwards
 * from the root of a mount. There are few mounts, so they are searched in a
 * list. */
#include "kernel/vfs/notify.h"
#include "kernel/vfs/vfs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
vnode_hold(const struct vnode *v)
{
    struct fs *fs = v->mnt->fs;

    if (fs->ops->hold)
        fs->ops->hold(fs, v->ino);
}

/* A released inode may be gone: its watches end then. */
void
vnode_release(const struct vnode *v)
{
    struct fs *fs = v->mnt->fs;

    if (fs->ops->release)
        fs->ops->release(fs, v->ino);
    notify_gone(v);
}

/* Of several mounts on one directory the last one is on top. */
static struct mount *
mount_top(const struct vnode *v)
{
    struct mount *top = NULL;

    LIST_FOR_EACH(it, &v->mnt->fs->vfs->mounts) {
        struct mount *m = CONTAINER_OF(it, struct mount, link);
        if (m->parent == v->mnt && m->at == v->ino)
            top = m;
    }
    return top;
}

/* Something may be mounted on the root of a mount, hence the loop. */
void
mount_cross(struct vnode *v)
{
    struct mount *m;

    while (v->mnt->has_submounts && (m = mount_top(v)))
        *v = (struct vnode){m, m->root};
}

static void
mount_free(struct mount *m)
{
    if (!m)
        return;
    if (m->fs && !m->is_bind)
        m->fs->ops->free(m->fs);
    free(m->path);
    free(m->source);
    free(m);
}
DEFINE_CLEANUP(struct mount *, mount_free)

/* In reverse order, because a mount holds a directory of an earlier one. */
void
mount_free_all(struct vfs *v)
{
    while (!list_is_empty(&v->mounts)) {
        struct mount *m = CONTAINER_OF(v->mounts.prev, struct mount, link);
        list_remove(&m->link);
        if (m->parent && m->parent->fs->ops->release)
            m->parent->fs->ops->release(m->parent->fs, m->at);
        mount_free(m);
    }
}

bool
mount_tidy_all(struct vfs *v, size_t max)
{
    bool is_tidy = true;

    LIST_FOR_EACH(it, &v->mounts) {
        struct fs *fs = CONTAINER_OF(it, struct mount, link)->fs;
        if (fs->ops->tidy && !fs->ops->tidy(fs, max))
            is_tidy = false;
    }
    return is_tidy;
}

struct mount *
mount_root(const struct vfs *v)
{
    return CONTAINER_OF(v->mounts.next, struct mount, link);
}

struct mount *
mount_nth(const struct vfs *v, size_t n)
{
    LIST_FOR_EACH(it, &v->mounts) {
        if (n-- == 0)
            return CONTAINER_OF(it, struct mount, link);
    }
    return NULL;
}

size_t
mount_count(const struct vfs *v)
{
    size_t n = 0;

    LIST_FOR_EACH(it, &v->mounts)
        n++;
    return n;
}

/* Creates the missing directories of `path`. */
static int
mount_make_dirs(struct vfs *v, const char *path, uint32_t uid)
{
    const struct cred owner = cred_of(uid);
    char buf[512];

    if (strlen(path) >= sizeof buf)
        return -ENAMETOOLONG;
    for (const char *end = path; end;) {
        end = strchr(end + 1, '/');
        size_t len = end ? (size_t)(end - path) : strlen(path);
        memcpy(buf, path, len);
        buf[len] = 0;
        struct at at = {.vfs = v, .path = buf, .owner = &owner};
        int r = vfs_make(&at, S_IFDIR | 0755);
        if (r < 0 && r != -EEXIST)
            return r;
    }
    return 0;
}

/* Returns the directory to mount on. It is created if it is missing, even if
 * the root is read-only: the host asks for it, not a guest. */
static int
mount_find_point(struct vfs *v, const char *path, uint32_t uid,
                 struct vnode *ret)
{
    struct at at = {.vfs = v, .path = path};
    struct mount *root = mount_root(v);
    bool read_only = root->read_only;
    struct walk w;

    root->read_only = false;
    int r = mount_make_dirs(v, path, uid);
    root->read_only = read_only;
    if (r == 0)
        r = path_walk(&at, WALK_DIRECTORY, &w);
    if (r == 0)
        *ret = w.node;
    return r;
}

/* The path without symbolic links, as /proc/mounts shows it. */
static int
mount_set_path(struct mount *m, const struct vnode *at)
{
    char *path = malloc(PATH_BYTES_MAX);

    if (!path)
        return -ENOMEM;
    int64_t len = vnode_path(at, path, PATH_BYTES_MAX);
    if (len >= 0)
        m->path = strdup(path);
    free(path);
    if (len < 0)
        return (int)len;
    return m->path ? 0 : -ENOMEM;
}

/* Puts m where `path` leads. A bind mount begins at the directory that it
 * covers. */
static int
mount_attach(struct vfs *v, struct mount *m, const char *path, uint32_t uid)
{
    struct vnode at = {0};

    int r = mount_find_point(v, path, uid, &at);
    if (r == 0)
        r = mount_set_path(m, &at);
    if (r != 0)
        return r;
    if (m->is_bind) {
        m->fs = at.mnt->fs;
        m->root = at.ino;
    }
    vnode_hold(&at);
    at.mnt->has_submounts = true;
    m->parent = at.mnt;
    m->at = at.ino;
    m->uid = uid;
    return 0;
}

static struct mount *
mount_alloc(const char *source)
{
    struct mount *m = calloc(1, sizeof *m);

    if (m && !(m->source = strdup(source)))
        free(STEAL(m));
    return m;
}

/* A mount that stays last keeps its place at the end. */
static void
mount_link(struct vfs *v, struct mount *m)
{
    struct list *end = &v->mounts;

    if (!list_is_empty(end) &&
        CONTAINER_OF(end->prev, struct mount, link)->is_last)
        end = end->prev;
    list_push_back(end, &m->link);
}

void
mount_keep_last(struct vfs *v)
{
    CONTAINER_OF(v->mounts.prev, struct mount, link)->is_last = true;
}

int
mount_add(struct vfs *v, const char *path, const char *source,
          OWN struct fs *fs, bool read_only)
{
    CLEANUP(mount_freep) struct mount *m = mount_alloc(source);

    if (!m) {
        fs->ops->free(fs);
        return -ENOMEM;
    }
    m->fs = fs;
    m->root = fs->root;
    m->read_only = read_only;
    int r = 0;
    if (!list_is_empty(&v->mounts))
        r = mount_attach(v, m, path, ROOT_ID);
    else if (!(m->path = strdup(path)))
        r = -ENOMEM;
    if (r != 0)
        return r;
    mount_link(v, m);
    m = NULL; /* the list has it */
    return 0;
}

int
mount_bind(struct vfs *v, const char *path, uint32_t uid)
{
    CLEANUP(mount_freep) struct mount *m = mount_alloc(mount_root(v)->source);

    if (!m)
        return -ENOMEM;
    m->is_bind = true;
    int r = mount_attach(v, m, path, uid);
    if (r != 0)
        return r;
    mount_link(v, m);
    m = NULL; /* the list has it */
    return 0;
}

/* --- paths of directories */

/* A search for the name of an inode in its directory. */
struct find_name {
    struct dir_emit emit;
    uint64_t ino;
    char name[NAME_BYTES_MAX + 1];
    bool found;
};

static bool
mount_emit_name(struct dir_emit *e, const char *name, size_t len, uint64_t ino,
                unsigned dtype, uint64_t cookie)
{
    struct find_name *f = CONTAINER_OF(e, struct find_name, emit);

    (void)dtype;
    (void)cookie;
    if (ino != f->ino)
        return true;
    memcpy(f->name, name, len);
    f->name[len] = 0;
    f->found = true;
    return false;
}

/* Moves *v to its parent, and stores its name there in f->name.
 *
 * Inodes do not know their names. The parent is read instead, from the position
 * that the file system remembers, so that a name is usually found at the first
 * entry. */
static int
vnode_go_up(struct vnode *v, struct find_name *f)
{
    while (v->ino == v->mnt->root && v->mnt->parent)
        *v = (struct vnode){v->mnt->parent, v->mnt->at};
    struct fs *fs = v->mnt->fs;
    uint64_t up;
    int r = fs->ops->parent(fs, v->ino, &up);
    if (r < 0)
        return r;
    f->ino = v->ino;
    f->found = false;
    uint64_t from = fs->ops->position ? fs->ops->position(fs, v->ino) : 0;
    r = fs->ops->readdir(fs, up, from, &f->emit);
    if (r < 0)
        return r;
    v->ino = up;
    return f->found ? 0 : -ENOENT;
}

/* The root of the first mount, whatever the root of a task is. */
static bool
vnode_is_top(const struct vnode *v)
{
    return !v->mnt->parent && v->ino == v->mnt->root;
}

/* The path is built from its end: names are put before each other while going
 * up. */
int64_t
vnode_path(const struct vnode *dir, char *buf, size_t size)
{
    struct find_name f = {.emit.entry = mount_emit_name};
    struct vnode v = *dir;
    size_t at = size;

    if (size < 2)
        return -ERANGE;
    buf[--at] = 0;
    if (vnode_is_top(&v))
        buf[--at] = '/';
    while (!vnode_is_top(&v)) {
        int r = vnode_go_up(&v, &f);
        if (r < 0)
            return r;
        size_t len = strlen(f.name);
        if (len + 1 > at)
            return -ERANGE;
        at -= len;
        memcpy(buf + at, f.name, len);
        buf[--at] = '/';
    }
    memmove(buf, buf + at, size - at);
    return (int64_t)(size - at - 1);
}

/* Finds the name that leads from dir to node now: `name`, or another one if it
 * was renamed. Returns false if there is none. */
static bool
vnode_find_name(const struct vnode *dir, const char *name,
                const struct vnode *node, struct find_name *f)
{
    struct fs *fs = dir->mnt->fs;
    struct name n = {name, strlen(name)};
    struct vnode now = {dir->mnt, dir->ino};

    memcpy(f->name, name, n.len + 1);
    if (n.len && fs->ops->lookup(fs, dir->ino, n, &now.ino) < 0)
        now.ino = 0;
    mount_cross(&now);
    if (vnode_is_same(&now, node))
        return true;
    f->ino = node->ino;
    f->found = false;
    if (node->mnt == dir->mnt)
        (void)fs->ops->readdir(fs, dir->ino, 0, &f->emit);
    return f->found;
}

int64_t
vnode_path_in(const struct vnode *dir, const char *name,
              const struct vnode *node, char *buf, size_t size)
{
    struct find_name f = {.emit.entry = mount_emit_name};
    bool found = vnode_find_name(dir, name, node, &f);

    int64_t len = vnode_path(dir, buf, size);
    if (len < 0)
        return len;
    int n = snprintf(buf + len, size - (size_t)len, "%s%s%s",
                     f.name[0] && len > 1 ? "/" : "", f.name,
                     found ? "" : " (deleted)");
    len += n;
    return (size_t)len < size ? len : -ERANGE;
}
