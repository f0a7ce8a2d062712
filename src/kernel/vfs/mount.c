/* The tree of mounts.
 *
 * Problem: a directory may be covered by a mount, its root by another one, and
 * the same directory again by a later mount. A walk must find the one that is
 * on top, and ".." must lead out of all of them.
 *
 * Idea: a mount names the directory that it covers by the mount and the inode
 * where it was found, never by a path. The walk that finds this directory
 * crosses mounts itself, so a mount on a covered path attaches to the root of
 * the covering one. A directory thus has at most one mount on it. Crossing
 * repeats until nothing covers the result, and going up follows `parent` and
 * `at` back. A rename changes no inode number, so it moves no mount.
 *
 * There are few mounts, and a mount without others inside is marked, so the
 * search in the list costs nothing for most names. */
#include "kernel/vfs/vfs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Returns the mount on *v, or NULL. */
static struct mount *
mount_on(const struct vnode *v)
{
    LIST_FOR_EACH(it, &v->mnt->fs->vfs->mounts) {
        struct mount *m = CONTAINER_OF(it, struct mount, link);
        if (m->parent == v->mnt && m->at == v->ino)
            return m;
    }
    return NULL;
}

/* Something may be mounted on the root of a mount, hence the loop. */
void
mount_cross(struct vnode *v)
{
    struct mount *m;

    while (v->mnt->has_submounts && (m = mount_on(v)))
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

static bool
mount_is_memory(const struct mount *m)
{
    return m->fs->is_memory && !m->is_bind;
}

/* Counts the mounts before `end` that are part of the order. */
static size_t
mount_count_before(const struct vfs *v, const struct list *end)
{
    size_t n = 0;

    LIST_FOR_EACH(it, &v->mounts) {
        if (it == end)
            break;
        n += !mount_is_memory(CONTAINER_OF(it, struct mount, link));
    }
    return n;
}

size_t
mount_number(const struct mount *m)
{
    return mount_is_memory(m) ? MOUNT_MEMORY
                              : mount_count_before(m->fs->vfs, &m->link);
}

struct mount *
mount_nth(const struct vfs *v, size_t n)
{
    LIST_FOR_EACH(it, &v->mounts) {
        struct mount *m = CONTAINER_OF(it, struct mount, link);
        if (mount_number(m) == n)
            return m;
    }
    return NULL;
}

size_t
mount_count(const struct vfs *v)
{
    return mount_count_before(v, NULL);
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
