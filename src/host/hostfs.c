/* Host folders: the operations on names.
 *
 * Each operation has the same shape. It finds the node of the directory, checks
 * the name, gets a descriptor of the directory, and makes one *at call of the
 * host with that descriptor and that name. The host never sees a path with a
 * slash, and no call follows a symbolic link.
 *
 * Descriptors of directories are cached and may be closed when another one is
 * opened. Code that needs two at a time duplicates the first
 * (hostfs_hold_dir_hfd). */
#include "host/hostfs.h"

#include "host/hostfile.h"
#include "host/hostfs_impl.h"
#include "kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

static struct hostfs *
hostfs_of(struct fs *fs)
{
    return CONTAINER_OF(fs, struct hostfs, fs);
}

/* A directory and a name in it, ready for the host's *at calls. */
struct spot {
    struct hostfs *h;
    struct hostnode *dir;
    struct hostname name;
};

static int
spot_init(struct spot *s, struct fs *fs, uint64_t dir, struct name name)
{
    s->h = hostfs_of(fs);
    s->dir = hostnode_find(s->h, dir);
    if (!s->dir)
        return -ENOENT;
    return hostnode_set_name(&s->name, name);
}

/* Like spot_init, for a change. Returns the descriptor of the directory,
 * borrowed, or -errno. */
static int
spot_init_write(struct spot *s, struct fs *fs, uint64_t dir, struct name name)
{
    int r = spot_init(s, fs, dir, name);

    if (r < 0)
        return r;
    return s->h->read_only ? -EROFS : hostnode_dir_hfd(s->h, s->dir);
}

/* Like spot_init_write, for a new file: the mount's limit may refuse it. */
static int
spot_init_new(struct spot *s, struct fs *fs, uint64_t dir, struct name name)
{
    int hfd = spot_init_write(s, fs, dir, name);
    int r = hfd < 0 ? hfd : hostfs_check_new(s->h);

    return r < 0 ? r : hfd;
}

/* --- finding */

static int
hostfs_lookup(struct fs *fs, uint64_t dir, struct name name, uint64_t *ret_ino)
{
    struct spot s;
    struct hostnode *n = NULL;

    int r = spot_init(&s, fs, dir, name);
    if (r == 0)
        r = hostnode_look_up(s.h, s.dir, s.name.s, &n);
    if (r == 0)
        *ret_ino = n->ino;
    return r;
}

/* The parent is the directory in which the node was seen last. The walk never
 * asks the host for "..". */
static int
hostfs_parent(struct fs *fs, uint64_t dir, uint64_t *ret_ino)
{
    const struct hostnode *n = hostnode_find(hostfs_of(fs), dir);

    if (!n)
        return -ENOENT;
    *ret_ino = n->parent ? n->parent->ino : fs->root;
    return 0;
}

static int
hostfs_getattr(struct fs *fs, uint64_t ino, struct attr *ret)
{
    struct hostnode *n = hostnode_find(hostfs_of(fs), ino);
    struct stat st;

    if (!n)
        return -ENOENT;
    int r = hostnode_stat(hostfs_of(fs), n, &st);
    if (r < 0)
        return r;
    hostfile_attr(fs->vfs, &st, ret);
    ret->ino = ino;
    return 0;
}

/* The target is only text for the sandbox, which resolves it within its own
 * root. */
static int64_t
hostfs_readlink(struct fs *fs, const struct caller *as, uint64_t ino, char *buf,
                size_t size)
{
    struct hostnode *n = hostnode_find(hostfs_of(fs), ino);

    (void)as;
    if (!n || !n->parent || !n->name)
        return n ? -EINVAL : -ENOENT;
    int dir = hostnode_dir_hfd(hostfs_of(fs), n->parent);
    if (dir < 0)
        return dir;
    ssize_t len = readlinkat(dir, n->name, buf, size);
    return len < 0 ? -errno : len;
}

/* --- making */

/* Keeps the descriptor of a created file: its mode may forbid what the creator
 * may do this once, as in open(O_CREAT | O_RDWR, 0). */
static void
hostfs_keep_fresh(struct hostfs *h, uint64_t ino, OWN int hfd)
{
    if (h->fresh_hfd >= 0)
        (void)close(h->fresh_hfd);
    h->fresh_hfd = hfd;
    h->fresh_ino = ino;
}

/* The file is created with mode 0600 and then gets its own mode, so that the
 * umask of the host process has no effect. */
static int
hostfs_create_file(struct spot *s, int dir, uint32_t mode,
                   struct hostnode **ret)
{
    const uint64_t flags = O_CREAT | O_EXCL | O_RDWR | O_NONBLOCK;
    int hfd = host_open(dir, s->name.s, flags, 0600);

    if (hfd < 0)
        return hfd;
    int r = fchmod(hfd, mode & 0777) < 0 ? -errno : 0;
    if (r == 0)
        r = hostnode_look_up(s->h, s->dir, s->name.s, ret);
    if (*ret)
        hostfs_keep_fresh(s->h, (*ret)->ino, hfd);
    else
        (void)close(hfd);
    return r;
}

static int
hostfs_create_dir(struct spot *s, int dir, uint32_t mode, struct hostnode **ret)
{
    if (mkdirat(dir, s->name.s, 0700) < 0)
        return -errno;
    int r = hostnode_look_up(s->h, s->dir, s->name.s, ret);
    return r < 0 ? r : hostnode_chmod(s->h, *ret, mode);
}

/* Devices, FIFOs and sockets cannot be created on the host. */
static int
hostfs_create(struct fs *fs, uint64_t dir, struct name name,
              const struct attr *a, uint64_t *ret_ino)
{
    struct hostnode *n = NULL;
    struct spot s;

    int hfd = spot_init_new(&s, fs, dir, name);
    if (hfd < 0)
        return hfd;
    int r = -EPERM;
    if (S_ISREG(a->mode))
        r = hostfs_create_file(&s, hfd, a->mode, &n);
    else if (S_ISDIR(a->mode))
        r = hostfs_create_dir(&s, hfd, a->mode, &n);
    if (r == 0)
        hostfs_count_new(s.h);
    if (r == 0 && n)
        *ret_ino = n->ino;
    return r;
}

static int
hostfs_symlink(struct fs *fs, uint64_t dir, struct name name,
               const char *target, size_t len, const struct attr *a)
{
    struct spot s;

    (void)a;
    int hfd = spot_init_new(&s, fs, dir, name);
    if (hfd < 0)
        return hfd;
    char *text = strndup(target, len);
    if (!text)
        return -ENOMEM;
    int r = symlinkat(text, hfd, s.name.s) < 0 ? -errno : 0;
    free(text);
    if (r == 0)
        hostfs_count_new(s.h);
    return r;
}

/* Returns a copy of the descriptor of a directory, which stays valid while
 * others are opened. */
static int
hostfs_hold_dir_hfd(struct hostfs *h, struct hostnode *dir)
{
    int hfd = hostnode_dir_hfd(h, dir);

    if (hfd < 0)
        return hfd;
    hfd = fcntl(hfd, F_DUPFD_CLOEXEC, 0);
    return hfd < 0 ? -ENFILE : hfd;
}

/* The name is not followed: a hard link to a symbolic link names the link
 * itself. */
static int
hostfs_link(struct fs *fs, uint64_t dir, struct name name, uint64_t ino)
{
    struct hostnode *n = hostnode_find(hostfs_of(fs), ino);
    struct spot s;

    int to = spot_init_write(&s, fs, dir, name);
    if (to < 0)
        return to;
    if (!n || !n->parent || !n->name)
        return -ENOENT;
    int from = hostfs_hold_dir_hfd(s.h, n->parent);
    if (from < 0)
        return from;
    to = hostnode_dir_hfd(s.h, s.dir);
    int r = to;
    if (to >= 0)
        r = linkat(from, n->name, to, s.name.s, 0) < 0 ? -errno : 0;
    (void)close(from);
    return r;
}

/* --- removing and renaming */

/* A node that is held keeps a descriptor first, so that it can be used without
 * its name. The cost is read before the name goes, since nothing can be read
 * after it. */
static int
hostfs_unlink(struct fs *fs, uint64_t dir, struct name name, int flags)
{
    struct spot s;

    int hfd = spot_init_write(&s, fs, dir, name);
    if (hfd < 0)
        return hfd;
    struct hostnode *n = hostnode_at(s.h, s.dir, s.name.s);
    int how = flags & UNLINK_DIR ? AT_REMOVEDIR : 0;
    hostnode_keep(s.h, n);
    hfd = hostnode_dir_hfd(s.h, s.dir);
    if (hfd < 0)
        return hfd;
    struct quota cost = hostfs_cost_at(hfd, s.name.s, n);
    if (unlinkat(hfd, s.name.s, how) < 0)
        return -errno;
    hostfs_count_gone(s.h, cost);
    if (n)
        hostnode_forget_name(n);
    return 0;
}

/* Looks the two names up again after a rename, so that the known nodes follow
 * the files. */
static void
hostfs_move_nodes(struct spot *from, struct spot *to, unsigned flags,
                  struct hostnode *moved, struct hostnode *other)
{
    struct hostnode *n = NULL;

    if (moved)
        hostnode_forget_name(moved);
    if (other)
        hostnode_forget_name(other);
    (void)hostnode_look_up(to->h, to->dir, to->name.s, &n);
    if (flags & RENAME_EXCHANGE)
        (void)hostnode_look_up(from->h, from->dir, from->name.s, &n);
}

static int
hostfs_rename_on_host(struct spot *from, struct spot *to, unsigned flags,
                      const struct hostnode *other)
{
    int hfd = hostfs_hold_dir_hfd(from->h, from->dir);
    struct quota cost = {0};

    if (hfd < 0)
        return hfd;
    int hfd2 = hostnode_dir_hfd(to->h, to->dir);
    int r = hfd2;
    bool is_same = from->dir == to->dir && !strcmp(from->name.s, to->name.s);
    if (hfd2 >= 0 && !is_same && !(flags & RENAME_EXCHANGE))
        cost = hostfs_cost_at(hfd2, to->name.s, other);
    if (hfd2 >= 0)
        r = renameat2(hfd, from->name.s, hfd2, to->name.s, flags) < 0 ? -errno
                                                                      : 0;
    if (r == 0)
        hostfs_count_gone(to->h, cost);
    (void)close(hfd);
    return r;
}

/* A rename onto another name of the same inode changes nothing, as on Linux. */
static int
hostfs_rename(struct fs *fs, uint64_t dir, struct name name, uint64_t dir2,
              struct name name2, unsigned flags)
{
    struct spot from, to;

    int r = spot_init_write(&from, fs, dir, name);
    if (r >= 0)
        r = spot_init_write(&to, fs, dir2, name2);
    if (r < 0)
        return r;
    struct hostnode *moved = hostnode_at(from.h, from.dir, from.name.s);
    struct hostnode *other = hostnode_at(to.h, to.dir, to.name.s);
    hostnode_keep(to.h, other);
    r = hostfs_rename_on_host(&from, &to, flags, other);
    if (r == 0 && (moved != other || !moved))
        hostfs_move_nodes(&from, &to, flags, moved, other);
    return r;
}

static int
hostfs_setattr(struct fs *fs, uint64_t ino, const struct attr *a, unsigned what)
{
    struct hostfs *h = hostfs_of(fs);
    struct hostnode *n = hostnode_find(h, ino);

    if (h->read_only)
        return -EROFS;
    return n ? hostnode_setattr(h, n, a, what) : -ENOENT;
}

/* --- the rest */

static int
hostfs_open(struct fs *fs, const struct caller *as, uint64_t ino,
            uint32_t flags, OWN struct file **ret)
{
    struct hostfs *h = hostfs_of(fs);
    struct hostnode *n = hostnode_find(h, ino);

    (void)as;
    return n ? hostopen_new(h, n, flags, ret) : -ENOENT;
}

static void
hostfs_hold(struct fs *fs, uint64_t ino)
{
    struct hostnode *n = hostnode_find(hostfs_of(fs), ino);

    if (n)
        hostnode_hold(hostfs_of(fs), n);
}

static void
hostfs_release(struct fs *fs, uint64_t ino)
{
    struct hostnode *n = hostnode_find(hostfs_of(fs), ino);

    if (n && n->holds)
        hostnode_release(hostfs_of(fs), n);
}

/* Free space is that of the host, or the rest of the quota if that is less. */
static int
hostfs_statfs(struct fs *fs, struct fs_stat *ret)
{
    struct quota left = hostfs_left(hostfs_of(fs));
    struct statfs st;

    if (fstatfs(hostfs_of(fs)->root->dir_hfd, &st) < 0)
        return -errno;
    left.bytes /= (uint64_t)st.f_bsize;
    *ret = (struct fs_stat){
        .type = (uint64_t)st.f_type,
        .blocks = st.f_blocks,
        .blocks_free = left.bytes < st.f_bavail ? left.bytes : st.f_bavail,
        .files = st.f_files,
        .files_free = left.inodes < st.f_ffree ? left.inodes : st.f_ffree,
        .bsize = (uint64_t)st.f_bsize};
    return 0;
}

static void
hostfs_free(OWN struct fs *fs)
{
    struct hostfs *h = hostfs_of(fs);

    if (h->fresh_hfd >= 0)
        (void)close(h->fresh_hfd);
    hostnode_free_all(h);
    free(h->dents);
    free(h);
}

static const struct fs_ops hostfs_ops = {
    .name = "hostfs",
    .lookup = hostfs_lookup,
    .parent = hostfs_parent,
    .getattr = hostfs_getattr,
    .readlink = hostfs_readlink,
    .readdir = hostfs_readdir,
    .open = hostfs_open,
    .hold = hostfs_hold,
    .release = hostfs_release,
    .statfs = hostfs_statfs,
    .free = hostfs_free,
};

static const struct fs_change_ops hostfs_change_ops = {
    .setattr = hostfs_setattr,
    .create = hostfs_create,
    .symlink = hostfs_symlink,
    .link = hostfs_link,
    .unlink = hostfs_unlink,
    .rename = hostfs_rename,
};

static struct hostfs *
hostfs_alloc(struct kernel *k, bool read_only)
{
    struct hostfs *h = calloc(1, sizeof *h);

    if (!h)
        return NULL;
    h->dents = malloc(HOSTFS_DENTS_BYTES);
    if (!h->dents) {
        free(h);
        return NULL;
    }
    h->fs = (struct fs){.ops = &hostfs_ops,
                        .change = &hostfs_change_ops,
                        .vfs = &k->vfs,
                        .dev = ++k->vfs.next_dev};
    h->read_only = read_only;
    h->max = (struct quota){UINT64_MAX, UINT64_MAX};
    h->fresh_hfd = -1;
    list_init(&h->idle);
    list_init(&h->fds);
    for (size_t i = 0; i < HOSTFS_BUCKETS; i++)
        list_init(&h->buckets[i]);
    return h;
}

/* The folder is opened again through openat2, which shows whether the host has
 * that call before anything depends on it. */
int
hostfs_new(struct kernel *k, OWN int dir_hfd, bool read_only,
           OWN struct fs **ret)
{
    int root_hfd = host_open(dir_hfd, ".", O_PATH | O_DIRECTORY, 0);

    (void)close(dir_hfd);
    if (root_hfd < 0)
        return root_hfd;
    struct hostfs *h = hostfs_alloc(k, read_only);
    if (!h) {
        (void)close(root_hfd);
        return -ENOMEM;
    }
    int r = hostnode_new_root(h, root_hfd);
    if (r < 0) {
        hostfs_free(&h->fs);
        return r;
    }
    h->fs.root = h->root->ino;
    *ret = &h->fs;
    return 0;
}
