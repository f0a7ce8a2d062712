/* File systems as the rest of the kernel sees them.
 *
 * An inode is named by its number within its file system; nothing outside a
 * file system points into it. A file system that frees an inode with its last
 * name and its last hold counts holds through hold/release. */
#ifndef KERNEL_VFS_VFS_H
#define KERNEL_VFS_VFS_H

#include "base/list.h"
#include "base/own.h"
#include "kernel/vfs/cred.h"
#include "tree/attr.h"
#include "tree/xattr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct clock;
struct file;
struct fs;
struct kernel;
struct mount;
struct task;

#define SYMLINKS_MAX 40

/* An inode in the tree of mounts. */
struct vnode {
    struct mount *mnt;
    uint64_t ino;
};

struct fs_stat {
    uint64_t type, blocks, blocks_free, files, files_free, bsize;
};

/* Called by readdir for each entry. Returns false if it is full; then the entry
 * is not consumed. `cookie` is the position after this entry. */
struct dir_emit {
    bool (*entry)(struct dir_emit *e, const char *name, size_t len,
                  uint64_t ino, unsigned dtype, uint64_t cookie);
};

/* Operations return 0 or -errno and check the conditions that only the file
 * system knows (existence, kinds, emptiness, quotas). vfs.c checks permissions,
 * read-only mounts, name lengths, "." and "..". A NULL member means the errno
 * or the result in brackets. `t` is the task that asks: links and devices may
 * depend on it. NULL is the host. */
struct fs_ops {
    const char *name; /* as in /proc/filesystems */

    int (*lookup)(struct fs *fs, uint64_t dir, struct name name,
                  uint64_t *ret_ino);
    /* Returns the parent of a directory; for the root, the root itself. */
    int (*parent)(struct fs *fs, uint64_t dir, uint64_t *ret_ino);
    /* Returns the position of a directory in its parent, for readdir. [0] */
    uint64_t (*position)(struct fs *fs, uint64_t dir);
    /* Emits entries from *cookie (0: the start) until emit is full, or to the
     * end, without "." and "..". A position stays valid while entries are added
     * and removed. */
    int (*readdir)(struct fs *fs, uint64_t ino, uint64_t cookie,
                   struct dir_emit *emit);
    int (*getattr)(struct fs *fs, uint64_t ino, struct attr *ret);
    /* Returns the extended attributes of an inode, borrowed until the next
     * change, or NULL for none. [EOPNOTSUPP] */
    int (*xattrs)(struct fs *fs, uint64_t ino, const struct xattrs **ret);
    /* Returns the number of bytes copied, at most size. [EINVAL] */
    int64_t (*readlink)(struct fs *fs, struct task *t, uint64_t ino, char *buf,
                        size_t size);
    /* Resolves a magic link of /proc (fd/N, exe, cwd, root) without a path.
     * -ENXIO: the link represents *ret_file, which has no path; borrowed.
     * -EINVAL: an ordinary link. [EINVAL] */
    int (*follow)(struct fs *fs, uint64_t ino, struct vnode *ret,
                  struct file **ret_file);
    /* Opens a regular file or device; vfs.c opens directories, FIFOs and
     * sockets, and does O_TRUNC. */
    int (*open)(struct fs *fs, struct task *t, uint64_t ino, uint32_t flags,
                OWN struct file **ret);
    void (*hold)(struct fs *fs, uint64_t ino);    /* [nothing to count] */
    void (*release)(struct fs *fs, uint64_t ino); /* [nothing to count] */
    int (*statfs)(struct fs *fs, struct fs_stat *ret);
    /* Frees about `max` removed objects; returns true when nothing is left.
     * [true] */
    bool (*tidy)(struct fs *fs, size_t max);
    void (*free)(OWN struct fs *fs);
};

/* The operations that change files; a file system that only shows something has
 * few of them. [EROFS, unless it says otherwise] */
struct fs_change_ops {
    /* Sets the attributes in `what` (ATTR_*). */
    int (*setattr)(struct fs *fs, uint64_t ino, const struct attr *a,
                   unsigned what);
    /* Sets an extended attribute or (value NULL) removes it: -ENODATA, -ENOSPC.
     * Must exist if xattrs does. */
    int (*set_xattr)(struct fs *fs, uint64_t ino, struct xattr_name name,
                     const void *value, size_t len);
    /* Creates a file, directory, FIFO or socket: a->mode with its type, uid,
     * gid. -EEXIST if the name exists. [ENOENT] */
    int (*create)(struct fs *fs, uint64_t dir, struct name name,
                  const struct attr *a, uint64_t *ret_ino);
    /* Creates a regular file without a name (O_TMPFILE), held once.
     * is_linkable: it may get a name. [EOPNOTSUPP] */
    int (*tmpfile)(struct fs *fs, const struct attr *a, bool is_linkable,
                   uint64_t *ret_ino);
    int (*symlink)(struct fs *fs, uint64_t dir, struct name name,
                   const char *target, size_t len, const struct attr *a);
    int (*link)(struct fs *fs, uint64_t dir, struct name name,
                uint64_t ino); /* [EPERM] */
    /* flags: UNLINK_DIR. */
    int (*unlink)(struct fs *fs, uint64_t dir, struct name name, int flags);
    /* flags: RENAME_NOREPLACE, RENAME_EXCHANGE. -EINVAL when a directory
     * would be moved into itself. */
    int (*rename)(struct fs *fs, uint64_t dir, struct name name, uint64_t dir2,
                  struct name name2, unsigned flags);
};

struct fs {
    const struct fs_ops *ops;
    const struct fs_change_ops *change;
    struct kernel *kernel;
    uint64_t dev;  /* st_dev */
    uint64_t root; /* inode number of its root directory */
};

/* A position in the tree of mounts where a file system begins. */
struct mount {
    struct list link;     /* in kernel->mounts, in the order of mounting */
    struct fs *fs;        /* its own, unless is_bind */
    struct mount *parent; /* NULL for the root */
    uint64_t at;          /* inode number in parent->fs it covers */
    uint64_t root;        /* inode number in fs where it begins */
    bool read_only, has_submounts;
    bool is_bind; /* a folder of the parent, mounted over itself */
    bool is_last; /* stays behind later mounts */
    char *path;   /* as in /proc/mounts: of the folder it covers */
    char *source; /* as in /proc/mounts */
};

/* --- mount.c: the tree of mounts */

/* Mounts fs over the directory at `path` (created if missing, as root).
 * Consumes fs, also on failure. */
int mount_add(struct kernel *k, const char *path, const char *source,
              OWN struct fs *fs, bool read_only);
/* Mounts the directory at `path` (created if missing, owned by uid) over
 * itself, so that it is writable within a read-only file system. */
int mount_bind(struct kernel *k, const char *path, uint32_t uid);
/* Return the first mount, and the n-th one or NULL. */
struct mount *mount_root(const struct kernel *k);
struct mount *mount_nth(const struct kernel *k, size_t n);
size_t mount_count(const struct kernel *k);
/* Keeps the newest mount at the end of the list. Records of sessions contain
 * positions in the list, so a mount added by a later version must not move
 * others. */
void mount_keep_last(struct kernel *k);
/* Frees all mounts of the kernel, in reverse order. */
void mount_free_all(struct kernel *k);
/* Makes each file system free about `max` removed objects; returns true when
 * nothing is left. */
bool mount_tidy_all(struct kernel *k, size_t max);
/* If something is mounted on *v, replaces *v by its root, repeatedly. */
void mount_cross(struct kernel *k, struct vnode *v);
void vnode_hold(const struct vnode *v);
void vnode_release(const struct vnode *v);
static inline bool
vnode_is_same(const struct vnode *a, const struct vnode *b)
{
    return a->mnt == b->mnt && a->ino == b->ino;
}
/* Writes the absolute path of a directory, NUL-terminated. Returns its length
 * without the NUL. -ENOENT if it was removed, -ERANGE. */
int64_t vnode_path(struct kernel *k, const struct vnode *dir, char *buf,
                   size_t size);
/* Writes the path of `name` in `dir`, followed by " (deleted)" if it does not
 * lead to `node` any more. For /proc. */
int64_t vnode_path_in(struct kernel *k, const struct vnode *dir,
                      const char *name, const struct vnode *node, char *buf,
                      size_t size);

/* --- path.c: from a path to an inode */

enum {
    WALK_NOFOLLOW = 1,  /* a symbolic link at the end is the result, unless a
                         * slash follows it */
    WALK_NAME = 8,      /* the last name is the result, whatever it is and even
                         * if a slash follows it */
    WALK_PARENT = 2,    /* the last name may be missing */
    WALK_DIRECTORY = 4, /* the result must be a directory */
    WALK_BENEATH = 16,  /* -EPERM if the path leaves the base: absolute paths,
                         * ".." above it, links to elsewhere */
};

struct walk {
    struct vnode dir;  /* the directory of the last name */
    struct vnode node; /* mnt NULL: the last name does not exist */
    /* The last name; len 0 when the path ends in "/", "." or "..". */
    char name[NAME_BYTES_MAX + 1];
    size_t len;
    bool slash; /* the path ended in a slash */
    /* After -ENXIO: the open file without a path that the link at the end
     * represents (/proc/<pid>/fd/N of a pipe). Borrowed, or NULL. */
    struct file *file;
};

/* An inode with the name that led to it. */
struct dentry {
    struct vnode node, dir;
    const char *name; /* in dir, NUL-terminated, or NULL if unknown */
};
static inline struct dentry
walk_dentry(const struct walk *w)
{
    return (struct dentry){w->node, w->dir, w->len ? w->name : NULL};
}

/* Walks `path` from `base` (or the root, for an absolute path) with the rights
 * of t (NULL: root's). Requires search permission on every directory on the
 * way. -ENOENT, -ENOTDIR, -EACCES, -ELOOP, -ENAMETOOLONG as Linux. */
int path_walk(struct kernel *k, struct task *t, const struct vnode *base,
              const char *path, unsigned flags, struct walk *ret);

/* --- vfs.c: the operations on paths, with permissions */

/* want: bits R_OK|W_OK|X_OK. Returns 0 or -EACCES. Root may do everything, with
 * one exception: it has no more access than others to files of other users of
 * the host. The serving process may well be root outside. */
int vfs_access(const struct cred *c, const struct attr *a, int want);
int vnode_getattr(const struct vnode *v, struct attr *ret);
/* Opens like open(2), with `mode` for O_CREAT (umask already applied). The
 * result's node is held. -EWAIT: a FIFO waits for its other end. */
int vfs_open(struct kernel *k, struct task *t, const struct vnode *base,
             const char *path, uint32_t flags, uint32_t mode,
             OWN struct file **ret);

/* The functions below use t's rights (NULL: root's). */
struct at {
    struct kernel *k;
    struct task *t;
    const struct vnode *base;
    const char *path;
    unsigned walk;     /* WALK_BENEATH, or 0 */
    struct cred owner; /* of new files, if t is NULL */
};
/* Like vfs_open, relative to at. */
int vfs_open_at(const struct at *at, uint32_t flags, uint32_t mode,
                OWN struct file **ret);
/* Creates a directory, FIFO, socket or empty file: `mode` with its type. */
int vfs_make(const struct at *at, uint32_t mode);
int vfs_symlink(const struct at *at, const char *target);
int vfs_link(const struct at *from, const struct at *to, unsigned walk_flags);
int vfs_link_node(const struct vnode *node, const struct at *to);
int vfs_unlink(const struct at *at, int flags);
int vfs_rename(const struct at *from, const struct at *to, unsigned flags);
/* Reads the target of a symbolic link, at most size bytes. -EINVAL: not a link.
 */
int64_t vnode_readlink(struct task *t, const struct vnode *v, char *buf,
                       size_t size);
/* Implements chmod, chown, truncate and utimens. ATTR_*; `now` means that the
 * times are UTIME_NOW, for which write permission is enough. */
int vfs_setattr(struct task *t, const struct dentry *p, const struct attr *a,
                unsigned what, bool now);
/* Extended attributes of the name space "user.", as getxattr(2), setxattr(2)
 * (flags: XATTR_*; value NULL: removexattr) and listxattr(2). With size 0, the
 * getters only return the length. */
int64_t vfs_get_xattr(struct task *t, const struct vnode *v, const char *name,
                      void *buf, size_t size);
int vfs_set_xattr(struct task *t, const struct dentry *d, const char *name,
                  const void *value, size_t len, int flags);
int64_t vfs_list_xattrs(const struct vnode *v, char *buf, size_t size);
/* Like vfs_setattr, for an inode whose name is not known. */
static inline int
vnode_setattr(struct task *t, const struct vnode *v, const struct attr *a,
              unsigned what, bool now)
{
    const struct dentry d = {.node = *v};

    return vfs_setattr(t, &d, a, what, now);
}

#endif
