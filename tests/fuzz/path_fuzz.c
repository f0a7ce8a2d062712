/* Fuzzes path walks: over a tree of directories, files, links and mounts that
 * the input describes, each walk agrees with a simple model, and none leaves
 * the root of its task. */
#include "../unit/world.h"
#include "kernel/vfs/tmpfs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { NODES_MAX = 32, WALKS_MAX = 64, PATH_MAX_BYTES = 4000 };

/* A node of the model. */
struct node {
    enum { DIRECTORY, PLAIN, LINK } kind;
    int parent;
    char name[NAME_BYTES_MAX + 1];
    char target[PATH_MAX_BYTES]; /* of a link */
    struct vnode vnode;
};

struct input {
    const uint8_t *p;
    size_t left;
};

struct model {
    struct node nodes[NODES_MAX];
    int n, root; /* root: of the task */
    int links;   /* followed in this walk */
};

static uint32_t
take(struct input *in)
{
    if (!in->left)
        return 0;
    in->left--;
    return *in->p++;
}

/* --- names and paths */

static void
add_name(struct input *in, char *to)
{
    static const char *const names[] = {"a", "b", "c", "d", "..", "..", "."};
    uint32_t b = take(in);

    if (b == 255)
        memset(to, 'n', NAME_BYTES_MAX + 1), to[NAME_BYTES_MAX + 1] = 0;
    else if (b == 254)
        memset(to, 'n', NAME_BYTES_MAX), to[NAME_BYTES_MAX] = 0;
    else if (b == 253)
        strcpy(to, "...");
    else
        strcpy(to, names[b % 7]);
}

static void
make_path(struct input *in, char *path)
{
    uint32_t shape = take(in), n = shape % 8;
    size_t len = 0;

    path[0] = 0;
    if (shape & 128)
        path[len++] = '/';
    for (uint32_t i = 0; i <= n; i++) {
        add_name(in, path + len);
        len += strlen(path + len);
        if (i < n || shape & 64)
            path[len++] = '/';
        if (shape & 32 && i < n)
            path[len++] = '/';
    }
    path[len] = 0;
}

/* --- the model */

static int
model_find(const struct model *m, int dir, const char *name)
{
    for (int i = 1; i < m->n; i++)
        if (m->nodes[i].parent == dir && !strcmp(m->nodes[i].name, name))
            return i;
    return -ENOENT;
}

static int model_walk(struct model *m, int base, const char *path, bool follow);

/* One name in `at`: a node, or -errno. */
static int
model_step(struct model *m, int at, const char *name, bool follow)
{
    if (m->nodes[at].kind != DIRECTORY)
        return -ENOTDIR;
    if (!strcmp(name, "."))
        return at;
    if (!strcmp(name, ".."))
        return at == m->root ? at : m->nodes[at].parent;
    if (strlen(name) > NAME_BYTES_MAX)
        return -ENAMETOOLONG;
    int next = model_find(m, at, name);
    if (next < 0 || m->nodes[next].kind != LINK || !follow)
        return next;
    if (++m->links > SYMLINKS_MAX)
        return -ELOOP;
    return model_walk(m, at, m->nodes[next].target, true);
}

static int
model_walk(struct model *m, int base, const char *path, bool follow)
{
    int at = *path == '/' ? m->root : base;
    char name[NAME_BYTES_MAX + 2];

    while (*(path += strspn(path, "/")) && at >= 0) {
        size_t len = strcspn(path, "/");
        memcpy(name, path, len);
        name[len] = 0;
        path += len;
        at = model_step(m, at, name, *path || follow);
        if (at >= 0 && *path && m->nodes[at].kind != DIRECTORY)
            return -ENOTDIR;
    }
    return at;
}

/* --- the tree */

static void
path_of(const struct model *m, int i, char *path)
{
    if (!i) {
        path[0] = 0;
        return;
    }
    path_of(m, m->nodes[i].parent, path);
    strcat(path, "/");
    strcat(path, m->nodes[i].name);
}

static void
find_vnode(struct kernel *k, struct model *m, int i)
{
    struct vnode root = world_root(k);
    char path[NODES_MAX * (NAME_BYTES_MAX + 1) + 2];
    struct walk w;

    path_of(m, i, path);
    if (world_walk(k, NULL, &root, i ? path : "/", WALK_NOFOLLOW, &w) < 0)
        abort();
    m->nodes[i].vnode = w.node;
}

/* A directory, now and then with a file system of its own. */
static int
add_directory(struct kernel *k, const char *path, bool is_mount)
{
    struct fs *fs;

    if (!is_mount || strlen(path) >= 500)
        return world_make(k, NULL, path, S_IFDIR | 0777);
    if (tmpfs_new(&k->vfs, NULL, 1 << 20, 100, &fs) < 0 ||
        world_mount(k, path, fs) < 0)
        abort();
    return 0;
}

static void
add_node(struct kernel *k, struct model *m, struct input *in)
{
    struct node *node = &m->nodes[m->n];
    char path[NODES_MAX * (NAME_BYTES_MAX + 1) + 2], name[NAME_BYTES_MAX + 2];
    uint32_t kind = take(in);
    int parent = (int)(take(in) % (uint32_t)m->n);

    add_name(in, name);
    if (m->nodes[parent].kind != DIRECTORY || strlen(name) > NAME_BYTES_MAX ||
        !strcmp(name, ".") || !strcmp(name, "..") ||
        model_find(m, parent, name) >= 0)
        return;
    strcpy(node->name, name);
    node->parent = parent;
    m->n++;
    path_of(m, m->n - 1, path);
    struct vnode root = world_root(k);
    struct at at = {.vfs = &k->vfs, .base = &root, .path = path};
    int r;
    if (kind % 4 == 0) {
        node->kind = PLAIN;
        r = world_make(k, NULL, path, S_IFREG | 0666);
    } else if (kind % 4 == 1) {
        node->kind = LINK;
        make_path(in, node->target);
        r = vfs_symlink(&at, node->target);
    } else {
        node->kind = DIRECTORY;
        r = add_directory(k, path, kind >= 224);
    }
    if (r < 0)
        abort();
    find_vnode(k, m, m->n - 1);
}

/* --- checks */

static void
fail(const char *path, int got, int want)
{
    fprintf(stderr, "walk of \"%s\": %d, model: %d\n", path, got, want);
    abort();
}

static void
check_inside(const struct vnode *dir, const struct vnode *top)
{
    char path[PATH_BYTES_MAX * 4], above[PATH_BYTES_MAX * 4];

    int64_t n = vnode_path(dir, path, sizeof path);
    int64_t len = vnode_path(top, above, sizeof above);
    if (n < 0 || len < 0)
        abort();
    if (len > 1 && (strncmp(path, above, (size_t)len) != 0 ||
                    (path[len] && path[len] != '/')))
        abort();
}

/* Is node i the directory `top` or in it? */
static bool
is_under(const struct model *m, int i, int top)
{
    for (; i; i = m->nodes[i].parent)
        if (i == top)
            return true;
    return !top;
}

static void
check_walk(struct kernel *k, struct task *t, struct model *m, struct input *in)
{
    char path[PATH_MAX_BYTES];
    uint32_t flags = take(in) % 32;
    int base = (int)(take(in) % (uint32_t)m->n);
    struct walk w;

    make_path(in, path);
    if (m->nodes[base].kind != DIRECTORY || !is_under(m, base, m->root))
        base = m->root;
    int r = world_walk(k, t, &m->nodes[base].vnode, path, flags, &w);
    if (r == 0)
        check_inside(&w.dir, &t->as.root);
    if (flags & ~(unsigned)WALK_NOFOLLOW)
        return;
    m->links = 0;
    bool follow = !(flags & WALK_NOFOLLOW);
    int want = model_walk(m, base, path, follow);
    if (want < 0 ? r != want
                 : r < 0 || !vnode_is_same(&w.node, &m->nodes[want].vnode))
        fail(path, r, want);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct model m;
    struct input in = {data, size};
    struct kernel *k = world_new();
    struct task *t = world_task(k);

    m.n = 1;
    m.root = 0;
    m.nodes[0].parent = 0;
    find_vnode(k, &m, 0);
    for (uint32_t n = 4 + take(&in) % (NODES_MAX - 4); n; n--)
        add_node(k, &m, &in);
    struct vnode old_root = t->as.root;
    int root = (int)(take(&in) % (uint32_t)m.n);
    if (m.nodes[root].kind == DIRECTORY)
        m.root = root;
    t->as.root = m.nodes[m.root].vnode;
    for (int i = 0; i < WALKS_MAX && in.left; i++)
        check_walk(k, t, &m, &in);
    t->as.root = old_root;
    kernel_free(k);
    return 0;
}
