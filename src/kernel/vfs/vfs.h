/* File systems as the rest of the kernel sees them.
 *
 * An inode is named by its number within its file system; nothing outside a
 * file system points into it. A file system that lets an inode go when its
 * last name and its last hold are gone keeps count through hold/release. */
#ifndef KERNEL_VFS_VFS_H
#define KERNEL_VFS_VFS_H

#include "base/list.h"
#include "base/own.h"
#include "kernel/cred.h"
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
struct program;
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

/* Called by readdir for each entry; false: full, do not advance past it.
 * `cookie` is the position after this entry. */
struct dir_emit {
    bool (*entry)(struct dir_emit *e, const char *name, size_t len,
                  uint64_t ino, unsigned dtype, uint64_t cookie);
};

/* Operations give 0 or -errno and check what only the file system knows
 * (existence, kinds, emptiness, quotas); permissions, read-only mounts,
 * name lengths, "." and ".." are vfs.c's. A NULL member means the errno in
 * brackets. `t` is the task that asks (procfs answers by it); may be NULL. */
struct fs_ops {
    const char *name; /* as in /proc/filesystems */

    int (*lookup)(struct fs *fs, struct task *t, uint64_t dir, struct name name,
                  uint64_t *ret_ino);
    /* The parent of a directory; of the root, the root itself. */
    int (*parent)(struct fs *fs, struct task *t, uint64_t dir,
                  uint64_t *ret_ino);
    /* The position of a directory in its parent, for readdir. [0] */
    uint64_t (*position)(struct fs *fs, uint64_t dir);
    int (*getattr)(struct fs *fs, struct task *t, uint64_t ino,
                   struct attr *ret);
    int (*setattr)(struct fs *fs, uint64_t ino, const struct attr *a,
                   unsigned what); /* [EROFS] */
    /* A file, directory, FIFO or socket: a->mode with its type, uid, gid.
     * -EEXIST if the name is there. [EROFS] */
    int (*create)(struct fs *fs, uint64_t dir, struct name name,
                  const struct attr *a, uint64_t *ret_ino);
    /* A regular file without a name (O_TMPFILE), held once; is_linkable:
     * it may get one. [EOPNOTSUPP] */
    int (*tmpfile)(struct fs *fs, const struct attr *a, bool is_linkable,
                   uint64_t *ret_ino);
    int (*symlink)(struct fs *fs, uint64_t dir, struct name name,
                   const char *target, size_t len, const struct attr *a);
    int (*link)(struct fs *fs, uint64_t dir, struct name name, uint64_t ino);
    int (*unlink)(struct fs *fs, uint64_t dir, struct name name, int flags);
    /* flags: RENAME_NOREPLACE, RENAME_EXCHANGE. -EINVAL when a directory
     * would be moved into itself. */
    int (*rename)(struct fs *fs, uint64_t dir, struct name name, uint64_t dir2,
                  struct name name2, unsigned flags);
    /* Bytes copied, at most size. [EINVAL] */
    int64_t (*readlink)(struct fs *fs, struct task *t, uint64_t ino, char *buf,
                        size_t size);
    /* From *cookie (0: the start) until emit says full or the end; "." and
     * ".." are vfs.c's. A position stays good while entries come and go. */
    int (*readdir)(struct fs *fs, struct task *t, uint64_t ino, uint64_t cookie,
                   struct dir_emit *emit);
    /* An open file for a regular file or device; directories, FIFOs and
     * sockets are vfs.c's. O_TRUNC is done by vfs.c. */
    int (*open)(struct fs *fs, struct task *t, uint64_t ino, uint32_t flags,
                OWN struct file **ret);
    void (*hold)(struct fs *fs, uint64_t ino);    /* [nothing to count] */
    void (*release)(struct fs *fs, uint64_t ino); /* [nothing to count] */
    int (*statfs)(struct fs *fs, struct fs_stat *ret);
    /* A magic link of /proc (fd/N, exe, cwd, root): where it leads, without
     * a path. [readlink decides] */
    int (*follow)(struct fs *fs, struct task *t, uint64_t ino,
                  struct vnode *ret);
    /* The open file that a magic link of /proc (fd/N) stands for: borrowed,
     * or NULL. [NULL] */
    struct file *(*file_of)(struct fs *fs, struct task *t, uint64_t ino);
    /* The compiled program remembered for this file, borrowed, or NULL; and
     * remembering one, of which a reference is taken. It is forgotten when
     * the content changes. Files of the root image share theirs with all
     * sandboxes, on whichever thread. [NULL; nothing is remembered] */
    struct program *(*program)(struct fs *fs, uint64_t ino);
    void (*set_program)(struct fs *fs, uint64_t ino, struct program *p);
    /* Extended attributes: the list of an inode, borrowed until the next
     * change, or NULL: none; and setting one or (value NULL) removing it:
     * -ENODATA, -ENOSPC. [EOPNOTSUPP, of both] */
    int (*xattrs)(struct fs *fs, uint64_t ino, const struct xattrs **ret);
    int (*set_xattr)(struct fs *fs, uint64_t ino, struct xattr_name name,
                     const void *value, size_t len);
    /* Frees about `max` objects of what was removed; true when nothing is
     * left. [true] */
    bool (*tidy)(struct fs *fs, size_t max);
    /* All of a file's content, where it lies in one piece in memory that
     * outlives the file system (of the root image), or NULL. [NULL] */
    const void *(*content)(struct fs *fs, uint64_t ino);
    void (*free)(OWN struct fs *fs);
};

struct fs {
    const struct fs_ops *ops;
    struct kernel *kernel;
    uint64_t dev;  /* st_dev */
    uint64_t root; /* inode number of its root directory */
};

/* A place in the tree of mounts where a file system begins. */
struct mount {
    struct list link;     /* in kernel->mounts, in the order of mounting */
    struct fs *fs;        /* its own, unless is_bind */
    struct mount *parent; /* NULL for the root */
    uint64_t at;          /* inode number in parent->fs it covers */
    uint64_t root;        /* inode number in fs where it begins */
    bool read_only, has_submounts;
    bool is_bind; /* a folder of the parent, over itself */
    bool is_last; /* stays behind those that are mounted later */
    char *path;   /* as in /proc/mounts: of the folder it covers */
    char *source; /* as in /proc/mounts */
};

/* --- mount.c: the tree of mounts */

/* Mounts fs over the directory at `path` (made if missing, as root). Takes fs
 * over, also on failure. */
int mount_add(struct kernel *k, const char *path, const char *source,
              OWN struct fs *fs, bool read_only);
/* Mounts the directory at `path` (made if missing, uid's) over itself, to be
 * written even where what it is in is read-only. */
int mount_bind(struct kernel *k, const char *path, uint32_t uid);
/* The first mount; the n-th, or NULL. */
struct mount *mount_root(const struct kernel *k);
struct mount *mount_nth(const struct kernel *k, size_t n);
size_t mount_count(const struct kernel *k);
/* The mount that was made last stays the last in the list. Places in the list
 * are in records of sessions: one that came with a later version must not move
 * others. */
void mount_keep_last(struct kernel *k);
/* Frees all mounts of the kernel, the last first. */
void mount_free_all(struct kernel *k);
/* Lets each file system free about `max` objects of what was removed; true
 * when nothing is left. */
bool mount_tidy_all(struct kernel *k, size_t max);
/* If something is mounted on *v, makes *v its root, repeatedly. */
void mount_cross(struct kernel *k, struct vnode *v);
void vnode_hold(const struct vnode *v);
void vnode_release(const struct vnode *v);
static inline bool
vnode_is_same(const struct vnode *a, const struct vnode *b)
{
    return a->mnt == b->mnt && a->ino == b->ino;
}
/* The absolute path of a directory, NUL-terminated. Returns its length
 * without the NUL; -ENOENT if it was removed, -ERANGE. */
int64_t vnode_path(struct kernel *k, const struct vnode *dir, char *buf,
                   size_t size);
/* The path of `name` in `dir`, with " (deleted)" after it when that does not
 * lead to `node` any more. For /proc. */
int64_t vnode_path_in(struct kernel *k, const struct vnode *dir,
                      const char *name, const struct vnode *node, char *buf,
                      size_t size);

/* --- path.c: from a path to an inode */

enum {
    WALK_NOFOLLOW = 1,  /* a symbolic link at the end is the result, unless a
                         * slash follows it */
    WALK_NAME = 8,      /* the last name is the result, whatever it is and
                         * even if a slash follows it */
    WALK_PARENT = 2,    /* the last name may be missing */
    WALK_DIRECTORY = 4, /* the result must be a directory */
    WALK_BENEATH = 16,  /* -EPERM where the path leaves the base: absolute
                         * paths, ".." above it, links to elsewhere */
};

struct walk {
    struct vnode dir;  /* the directory of the last name */
    struct vnode node; /* mnt NULL: the last name does not exist */
    /* The last name; len 0 when the path ends in "/", "." or "..". */
    char name[NAME_BYTES_MAX + 1];
    size_t len;
    bool slash; /* the path ended in a slash */
    /* After -ENXIO: what the link at the end of the path stands for, an open
     * file that has no path (/proc/<pid>/fd/N of a pipe). Borrowed, or NULL. */
    struct file *file;
};

/* An inode with the name by which it was reached. */
struct dentry {
    struct vnode node, dir;
    const char *name; /* in dir, NUL-terminated, or NULL: not known */
};
static inline struct dentry
walk_dentry(const struct walk *w)
{
    return (struct dentry){w->node, w->dir, w->len ? w->name : NULL};
}

/* Walks `path` from `base` (or the root, for an absolute path) with the
 * rights of t (NULL: root's). Permissions: search on every directory passed.
 * -ENOENT, -ENOTDIR, -EACCES, -ELOOP, -ENAMETOOLONG as Linux. */
int path_walk(struct kernel *k, struct task *t, const struct vnode *base,
              const char *path, unsigned flags, struct walk *ret);

/* --- vfs.c: the operations on paths, with permissions */

/* Want: bits R_OK|W_OK|X_OK. 0 or -EACCES. Root has every right but one:
 * files of the host that belong to other users of the host are no more open to
 * it than to others, as the process that serves it may well be root outside. */
int vfs_access(const struct cred *c, const struct attr *a, int want);
int vnode_getattr(struct task *t, const struct vnode *v, struct attr *ret);
/* Opens as open(2) does, with `mode` for O_CREAT (umask already applied).
 * The result's node is held. -EWAIT: a FIFO waits for its other end. */
int vfs_open(struct kernel *k, struct task *t, const struct vnode *base,
             const char *path, uint32_t flags, uint32_t mode,
             OWN struct file **ret);

/* The rest take t's rights (NULL: root's). */
struct at {
    struct kernel *k;
    struct task *t;
    const struct vnode *base;
    const char *path;
    unsigned walk;     /* WALK_BENEATH, or 0 */
    struct cred owner; /* of what is made, where t is NULL */
};
/* vfs_open from there. */
int vfs_open_at(const struct at *at, uint32_t flags, uint32_t mode,
                OWN struct file **ret);
/* A directory, FIFO, socket or empty file: `mode` with its type. */
int vfs_make(const struct at *at, uint32_t mode);
int vfs_symlink(const struct at *at, const char *target);
int vfs_link(const struct at *from, const struct at *to, unsigned walk_flags);
int vfs_link_node(const struct vnode *node, const struct at *to);
int vfs_unlink(const struct at *at, int flags);
int vfs_rename(const struct at *from, const struct at *to, unsigned flags);
/* The target of a symbolic link: its bytes, at most size. -EINVAL: it is
 * none. */
int64_t vnode_readlink(struct task *t, const struct vnode *v, char *buf,
                       size_t size);
/* chmod, chown, truncate, utimens. ATTR_*; `now` says the times are
 * UTIME_NOW, for which write permission is enough. */
int vfs_setattr(struct task *t, const struct dentry *p, const struct attr *a,
                unsigned what, bool now);
/* Extended attributes of the name space "user.", as getxattr(2), setxattr(2)
 * (flags: XATTR_*; value NULL: removexattr) and listxattr(2). With size 0, gets
 * only count. */
int64_t vfs_get_xattr(struct task *t, const struct vnode *v, const char *name,
                      void *buf, size_t size);
int vfs_set_xattr(struct task *t, const struct dentry *d, const char *name,
                  const void *value, size_t len, int flags);
int64_t vfs_list_xattrs(const struct vnode *v, char *buf, size_t size);
/* As vfs_setattr, of an inode whose name is not known. */
static inline int
vnode_setattr(struct task *t, const struct vnode *v, const struct attr *a,
              unsigned what, bool now)
{
    const struct dentry d = {.node = *v};

    return vfs_setattr(t, &d, a, what, now);
}

#endif
