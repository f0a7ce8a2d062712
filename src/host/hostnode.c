/* Nodes of a host folder: the inodes that the guest has seen, and the way to
 * reach them again.
 *
 * Problem: the guest names inodes by number, but the host has no call to open
 * an inode by its number, and its files may change at any time.
 *
 * Idea: a node stores its parent and its last name, and is reached by walking
 * down from the nearest open directory. The result is compared with the node's
 * inode. A change on the host can therefore make a node unreachable, but never
 * turn it into another file. */
#include "host/hostfs_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TRIES_MAX = 16 };

int
hostnode_set_name(struct hostname *n, struct name name)
{
    if (name.len == 0 || name.len > NAME_BYTES_MAX ||
        memchr(name.s, '/', name.len) || memchr(name.s, 0, name.len))
        return -EACCES;
    memcpy(n->s, name.s, name.len);
    n->s[name.len] = 0;
    return !strcmp(n->s, ".") || !strcmp(n->s, "..") ? -EACCES : 0;
}

/* The limit on descriptors belongs to the whole server, not to one guest
 * process: ENFILE says so. */
static int
host_error(int err)
{
    return err == EMFILE ? -ENFILE : -err;
}

/* openat2 fails with EAGAIN if a rename elsewhere might have led the walk out
 * of the folder. A few more tries succeed, unless the host renames all the
 * time. */
int
host_open(int dir_hfd, const char *name, uint64_t flags, uint64_t mode)
{
    struct open_how how = {
        .flags = flags | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY,
        .mode = mode,
        .resolve =
            RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
    };

    if (flags & O_PATH)
        how.flags &= ~(uint64_t)O_NOCTTY;
    for (int i = 0; i < TRIES_MAX; i++) {
        long hfd = syscall(SYS_openat2, dir_hfd, name, &how, sizeof how);
        if (hfd >= 0)
            return (int)hfd;
        if (errno != EAGAIN && errno != EINTR)
            return host_error(errno);
    }
    return -EIO;
}

/* --- the table of nodes */

/* Numbers of the folder's own file system are shown as they are. Those of file
 * systems mounted within it are hashed with their device, and get a high bit
 * that numbers of the first usually do not have. hostnode_look_up rejects a
 * collision. */
uint64_t
hostfs_ino(const struct hostfs *h, dev_t dev, ino_t host_ino)
{
    uint64_t x = host_ino;

    if (h->root && dev == h->root->dev)
        return x;
    /* Another file system mounted within the folder. */
    x = (x ^ dev << 40) * UINT64_C(0x9e3779b97f4a7c15);
    return (x ^ x >> 32) | UINT64_C(1) << 63;
}

static struct list *
hostnode_bucket_of(struct hostfs *h, uint64_t ino)
{
    return &h->buckets[(ino ^ ino >> 32) % HOSTFS_BUCKETS];
}

struct hostnode *
hostnode_find(struct hostfs *h, uint64_t ino)
{
    LIST_FOR_EACH(it, hostnode_bucket_of(h, ino)) {
        struct hostnode *n = CONTAINER_OF(it, struct hostnode, hash);
        if (n->ino == ino)
            return n;
    }
    return NULL;
}

static bool
hostnode_is(const struct hostnode *n, const struct stat *st)
{
    return n->dev == st->st_dev && n->host_ino == st->st_ino;
}

static void
hostnode_drop_dir_hfd(struct hostfs *h, struct hostnode *n)
{
    if (n->dir_hfd < 0)
        return;
    (void)close(n->dir_hfd);
    n->dir_hfd = -1;
    if (n != h->root) {
        list_remove(&n->fds);
        h->n_fds--;
    }
}

static void hostnode_update_idle(struct hostfs *h, struct hostnode *n);

/* A node with children is not idle: they are reached through it. */
static void
hostnode_set_parent(struct hostfs *h, struct hostnode *n,
                    struct hostnode *parent)
{
    struct hostnode *old = n->parent;

    if (old == parent)
        return;
    n->parent = parent;
    if (parent) {
        parent->children++;
        hostnode_update_idle(h, parent);
    }
    if (old) {
        old->children--;
        hostnode_update_idle(h, old);
    }
}

static void
hostnode_take_off_idle(struct hostfs *h, struct hostnode *n)
{
    if (list_is_empty(&n->idle))
        return;
    list_remove(&n->idle);
    h->n_idle--;
}

/* Puts the node at the end of the idle list if nothing refers to it, or takes
 * it off. An idle node is kept for a while, because it will probably be used
 * again. */
static void
hostnode_update_idle(struct hostfs *h, struct hostnode *n)
{
    hostnode_take_off_idle(h, n);
    if (n->holds || n->children || n == h->root)
        return;
    list_push_back(&h->idle, &n->idle);
    h->n_idle++;
}

static void
hostnode_node_free(struct hostfs *h, struct hostnode *n)
{
    hostnode_take_off_idle(h, n);
    hostnode_drop_dir_hfd(h, n);
    hostnode_forget_offsets(h, n);
    list_remove(&n->hash);
    hostnode_set_parent(h, n, NULL);
    h->n_nodes--;
    free(n->name);
    free(n);
}

/* Frees the oldest idle node if there are too many. Called whenever a node
 * becomes idle, so one goes when one comes. */
static void
hostnode_trim_idle(struct hostfs *h)
{
    if (h->n_idle > HOSTFS_IDLE)
        hostnode_node_free(h,
                           CONTAINER_OF(h->idle.next, struct hostnode, idle));
}

void
hostnode_hold(struct hostfs *h, struct hostnode *n)
{
    n->holds++;
    hostnode_take_off_idle(h, n);
}

void
hostnode_release(struct hostfs *h, struct hostnode *n)
{
    n->holds--;
    hostnode_update_idle(h, n);
    hostnode_trim_idle(h);
}

void
hostnode_forget_name(struct hostnode *n)
{
    free(n->name);
    n->name = NULL;
}

static struct hostnode *
hostnode_new(struct hostfs *h, const struct stat *st)
{
    struct hostnode *n = calloc(1, sizeof *n);

    if (!n)
        return NULL;
    n->dev = st->st_dev;
    n->host_ino = st->st_ino;
    n->ino = hostfs_ino(h, st->st_dev, st->st_ino);
    n->dir_hfd = -1;
    list_init(&n->idle);
    list_init(&n->fds);
    list_init(&n->files);
    list_push_front(hostnode_bucket_of(h, n->ino), &n->hash);
    h->n_nodes++;
    return n;
}

/* The number of the root is known only after it exists: hostfs_ino compares
 * with the device of the root. The node is therefore put into its bucket
 * again. */
int
hostnode_new_root(struct hostfs *h, OWN int hfd)
{
    struct stat st;

    int r = fstat(hfd, &st) < 0 ? -errno : 0;
    if (r == 0 && !S_ISDIR(st.st_mode))
        r = -ENOTDIR;
    if (r == 0 && !(h->root = hostnode_new(h, &st)))
        r = -ENOMEM;
    if (r < 0) {
        (void)close(hfd);
        return r;
    }
    h->root->dir_hfd = hfd;
    list_remove(&h->root->hash);
    h->root->ino = st.st_ino;
    list_push_front(hostnode_bucket_of(h, h->root->ino), &h->root->hash);
    return 0;
}

/* The parents are cleared first, so that nodes can be freed in any order. */
void
hostnode_free_all(struct hostfs *h)
{
    for (size_t i = 0; i < HOSTFS_BUCKETS; i++)
        LIST_FOR_EACH(it, &h->buckets[i])
            CONTAINER_OF(it, struct hostnode, hash)->parent = NULL;
    for (size_t i = 0; i < HOSTFS_BUCKETS; i++)
        while (!list_is_empty(&h->buckets[i]))
            hostnode_node_free(
                h, CONTAINER_OF(h->buckets[i].next, struct hostnode, hash));
}

/* --- reaching a node */

/* Takes a slot of the cache of descriptors from the directory that was used
 * longest ago. */
static void
hostnode_keep_dir_hfd(struct hostfs *h, struct hostnode *n, OWN int hfd)
{
    if (h->n_fds >= HOSTFS_DIR_HFDS)
        hostnode_drop_dir_hfd(h,
                              CONTAINER_OF(h->fds.next, struct hostnode, fds));
    n->dir_hfd = hfd;
    list_push_back(&h->fds, &n->fds);
    h->n_fds++;
}

/* Opens the directory n in its parent, whose descriptor is open. -ENOENT if the
 * name leads to another inode by now. */
static int
hostnode_open_step(struct hostfs *h, struct hostnode *n)
{
    struct stat st;
    int hfd = host_open(n->parent->dir_hfd, n->name, O_PATH | O_DIRECTORY, 0);

    if (hfd < 0)
        return hfd;
    if (fstat(hfd, &st) < 0 || !hostnode_is(n, &st)) {
        (void)close(hfd);
        return -ENOENT;
    }
    hostnode_keep_dir_hfd(h, n, hfd);
    return 0;
}

/* Walks up to the nearest directory that is open, then down again, opening each
 * step. The way down is stored in the nodes, so a deep folder needs no
 * recursion. */
int
hostnode_dir_hfd(struct hostfs *h, struct hostnode *n)
{
    struct hostnode *at = n;

    while (at->dir_hfd < 0) {
        if (!at->parent || !at->name)
            return -ENOENT;
        at->parent->down = at;
        at = at->parent;
    }
    while (at != n) {
        at = at->down;
        int r = hostnode_open_step(h, at);
        if (r < 0)
            return r;
    }
    if (n != h->root) {
        list_remove(&n->fds);
        list_push_back(&h->fds, &n->fds);
    }
    return n->dir_hfd;
}

int
hostnode_open(struct hostfs *h, struct hostnode *n, uint64_t flags)
{
    struct stat st;

    bool is_root = n == h->root;
    if (!is_root && (!n->parent || !n->name))
        return -ENOENT;
    int dir = hostnode_dir_hfd(h, is_root ? n : n->parent);
    if (dir < 0)
        return dir;
    int hfd = host_open(dir, is_root ? "." : n->name, flags, 0);
    if (hfd < 0)
        return hfd;
    if (fstat(hfd, &st) < 0 || !hostnode_is(n, &st)) {
        (void)close(hfd);
        return -ENOENT;
    }
    return hfd;
}

/* The descriptor takes a slot of the cache of directories, for files too: it is
 * closed like those when the cache is full, and the node is gone then. */
void
hostnode_keep(struct hostfs *h, struct hostnode *n)
{
    if (!n || !n->holds || n->dir_hfd >= 0 || !list_is_empty(&n->files))
        return;
    int hfd = hostnode_open(h, n, O_PATH);
    if (hfd >= 0)
        hostnode_keep_dir_hfd(h, n, hfd);
}

/* An open file or a descriptor is preferred; by name, the result is compared
 * with the node. */
int
hostnode_stat(struct hostfs *h, struct hostnode *n, struct stat *ret)
{
    int hfd = n->dir_hfd;

    if (!list_is_empty(&n->files))
        hfd = CONTAINER_OF(n->files.next, struct hostopen, link)->hfd;
    if (hfd >= 0)
        return fstat(hfd, ret) < 0 ? -errno : 0;
    if (!n->parent || !n->name)
        return -ENOENT;
    int dir = hostnode_dir_hfd(h, n->parent);
    if (dir < 0)
        return dir;
    if (fstatat(dir, n->name, ret, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
        return -errno;
    return hostnode_is(n, ret) ? 0 : -ENOENT;
}

/* --- looking up */

/* Returns true if `parent` is within n. The tree of nodes is a memory of past
 * lookups: if the host moves directories, a new parent could close a loop. */
static bool
hostnode_is_above(const struct hostnode *n, const struct hostnode *parent)
{
    for (; parent; parent = parent->parent)
        if (parent == n)
            return true;
    return false;
}

/* Records that n was seen as `name` in dir. */
static int
hostnode_attach(struct hostfs *h, struct hostnode *n, struct hostnode *dir,
                const char *name)
{
    if (n->parent == dir && n->name && !strcmp(n->name, name))
        return 0;
    if (hostnode_is_above(n, dir))
        return -ELOOP;
    char *copy = strdup(name);
    if (!copy)
        return -ENOMEM;
    free(n->name);
    n->name = copy;
    hostnode_set_parent(h, n, dir);
    return 0;
}

static int
hostnode_look_at(struct hostfs *h, struct hostnode *dir, const char *name,
                 struct stat *ret)
{
    int hfd = hostnode_dir_hfd(h, dir);

    if (hfd < 0)
        return hfd;
    if (fstatat(hfd, name, ret, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0)
        return -errno;
    return 0;
}

/* The only place where nodes are created. A name whose number belongs to
 * another inode (a collision, or a number that the host reused) is an error. */
int
hostnode_look_up(struct hostfs *h, struct hostnode *dir, const char *name,
                 struct hostnode **ret)
{
    struct stat st;

    int r = hostnode_look_at(h, dir, name, &st);
    if (r < 0)
        return r;
    struct hostnode *n = hostnode_find(h, hostfs_ino(h, st.st_dev, st.st_ino));
    if (n && !hostnode_is(n, &st))
        return -EIO;
    bool is_new = !n;
    if (is_new && h->n_nodes >= HOSTFS_NODES)
        return -ENFILE;
    if (is_new)
        n = hostnode_new(h, &st);
    if (!n)
        return -ENOMEM;
    r = hostnode_attach(h, n, dir, name);
    if (r < 0) {
        if (is_new)
            hostnode_node_free(h, n);
        return r;
    }
    hostnode_update_idle(h, n);
    hostnode_trim_idle(h);
    *ret = n;
    return 0;
}

struct hostnode *
hostnode_at(struct hostfs *h, struct hostnode *dir, const char *name)
{
    struct stat st;

    if (hostnode_look_at(h, dir, name, &st) < 0)
        return NULL;
    struct hostnode *n = hostnode_find(h, hostfs_ino(h, st.st_dev, st.st_ino));
    bool is_there = n && hostnode_is(n, &st) && n->parent == dir && n->name &&
                    !strcmp(n->name, name);
    return is_there ? n : NULL;
}
