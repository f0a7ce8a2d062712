/* Files as the rest of the kernel sees them: mounts, paths, and the operations
 * on paths with permissions.
 *
 * This folder knows nothing of processes. A caller is its credentials and its
 * root directory (struct caller); the kernel's services are a table (struct
 * vfs_hooks). */
#ifndef KERNEL_VFS_VFS_H
#define KERNEL_VFS_VFS_H

#include "base/list.h"
#include "base/own.h"
#include "kernel/vfs/cred.h"
#include "kernel/vfs/fs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct watches;

#define SYMLINKS_MAX 40

/* The rights and the root directory with which a task acts; a task embeds it.
 * NULL is the host: it has all rights, and its root is the first mount. */
struct caller {
    struct cred cred;
    struct vnode root;
};

/* The services that files need from the kernel above. All are required. */
struct vfs_hooks {
    /* Returns the real time of the sandbox. */
    int64_t (*now_ns)(const struct vfs *v);
    /* A file system refused bytes or inodes because of its quota. */
    void (*on_full)(struct vfs *v, bool bytes, bool inodes);
    /* Charges a new open file to the limit. Returns false at the limit. */
    bool (*charge_file)(struct vfs *v);
    /* The last reference to f is gone: ends its charge and all that other
     * objects know about it. */
    void (*on_file_end)(struct file *f);
    /* Only messages in flight still refer to f. */
    void (*on_file_in_flight)(struct file *f);
    /* Opens a FIFO, like fs_ops.open. -EWAIT: it waits for its other end. */
    int (*open_fifo)(const struct vnode *v, const struct caller *as,
                     uint32_t flags, OWN struct file **ret);
};

/* The files of one sandbox. */
struct vfs {
    const struct vfs_hooks *hooks;
    const struct cred *user;     /* owner of files without a path */
    struct list mounts;          /* the first is the root */
    struct list files;           /* open files with an inode: file.c */
    struct list shmems;          /* memory of mapped files: shmem.c */
    struct shmem *syncing;       /* the one whose file is changed, or NULL */
    OWN struct watches *watches; /* notify.c; NULL: none */
    uint64_t next_dev, next_anon_ino;
};

/* `user` is borrowed for the life of v. mount_free_all ends it. */
void vfs_init(struct vfs *v, const struct vfs_hooks *hooks,
              const struct cred *user);

/* A position in the tree of mounts where a file system begins. */
struct mount {
    struct list link;     /* in vfs->mounts, in the order of mounting */
    struct fs *fs;        /* its own, unless is_bind */
    struct mount *parent; /* NULL for the root */
    uint64_t at;          /* inode number in parent->fs it covers */
    uint64_t root;        /* inode number in fs where it begins */
    bool read_only, has_submounts;
    bool is_bind; /* a folder of the parent, mounted over itself */
    bool is_last; /* stays behind later mounts */
    uint32_t uid; /* owner of the folder, if it must be created again */
    char *path;   /* as in /proc/mounts: of the folder it covers */
    char *source; /* as in /proc/mounts */
};

/* --- mount.c: the tree of mounts */

/* Mounts fs over the directory at `path` (created if missing, as root).
 * Consumes fs, also on failure. */
int mount_add(struct vfs *v, const char *path, const char *source,
              OWN struct fs *fs, bool read_only);
/* Mounts the directory at `path` (created if missing, owned by uid) over
 * itself, so that it is writable within a read-only file system. */
int mount_bind(struct vfs *v, const char *path, uint32_t uid);
/* Returns the first mount. */
struct mount *mount_root(const struct vfs *v);
/* Mounts are numbered in their order. A file system that counts as memory is
 * not part of that order, which records of sessions contain; its number is
 * MOUNT_MEMORY. mount_nth returns NULL if no mount has the number. */
#define MOUNT_MEMORY UINT32_MAX
size_t mount_number(const struct mount *m);
struct mount *mount_nth(const struct vfs *v, size_t n);
/* Returns the number of the next mount. */
size_t mount_count(const struct vfs *v);
/* Keeps the newest mount at the end of the list. Records of sessions contain
 * positions in the list, so a mount added by a later version must not move
 * others. */
void mount_keep_last(struct vfs *v);
/* Frees all mounts, in reverse order. */
void mount_free_all(struct vfs *v);
/* Makes each file system free about `max` removed objects; returns true when
 * nothing is left. */
bool mount_tidy_all(struct vfs *v, size_t max);
/* If something is mounted on *v, replaces *v by its root, repeatedly. */
void mount_cross(struct vnode *v);

/* --- vnode.c: inodes in the tree of mounts */

/* Keep an inode that loses its last name, and end that. */
void vnode_hold(const struct vnode *v);
void vnode_release(const struct vnode *v);
static inline bool
vnode_is_same(const struct vnode *a, const struct vnode *b)
{
    return a->mnt == b->mnt && a->ino == b->ino;
}
/* Writes the absolute path of a directory, NUL-terminated. Returns its length
 * without the NUL. -ENOENT if it was removed, -ERANGE. */
int64_t vnode_path(const struct vnode *dir, char *buf, size_t size);
/* Writes the path of `name` in `dir`, followed by " (deleted)" if it does not
 * lead to `node` any more. For /proc. */
int64_t vnode_path_in(const struct vnode *dir, const char *name,
                      const struct vnode *node, char *buf, size_t size);

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

/* A path, with its start and its caller. */
struct at {
    struct vfs *vfs;
    const struct caller *as;  /* NULL: the host */
    const struct vnode *base; /* of a relative path, otherwise not used */
    const char *path;
    unsigned walk;            /* WALK_BENEATH, or 0 */
    const struct cred *owner; /* of new files of the host; NULL: root */
};

/* Returns the owner of files that are created there. Borrowed. */
const struct cred *at_owner(const struct at *at);

/* Walks the path with the flags WALK_* and at->walk. Requires search permission
 * on every directory on the way. -ENOENT, -ENOTDIR, -EACCES, -ELOOP,
 * -ENAMETOOLONG as Linux. */
int path_walk(const struct at *at, unsigned flags, struct walk *ret);

/* --- vfs.c: the operations on paths, with permissions */

/* want: bits R_OK|W_OK|X_OK. Returns 0 or -EACCES. Root may do everything, with
 * one exception: it has no more access than others to files of other users of
 * the host. The serving process may well be root outside. */
int vfs_access(const struct cred *c, const struct attr *a, int want);
int vnode_getattr(const struct vnode *v, struct attr *ret);
/* Opens like open(2), with `mode` for O_CREAT (umask already applied). The
 * result's node is held. -EWAIT: a FIFO waits for its other end. */
int vfs_open(const struct at *at, uint32_t flags, uint32_t mode,
             OWN struct file **ret);
/* Creates a directory, FIFO, socket or empty file: `mode` with its type.
 * vfs_create does so at the missing name where the walk *w ended; its node is
 * then the new one. */
int vfs_create(const struct at *at, struct walk *w, uint32_t mode);
int vfs_make(const struct at *at, uint32_t mode);
int vfs_symlink(const struct at *at, const char *target);
int vfs_link(const struct at *from, const struct at *to, unsigned walk_flags);
int vfs_link_node(const struct vnode *node, const struct at *to);
int vfs_unlink(const struct at *at, int flags);
int vfs_rename(const struct at *from, const struct at *to, unsigned flags);
/* Reads the target of a symbolic link, at most size bytes. -EINVAL: not a link.
 */
int64_t vnode_readlink(const struct caller *as, const struct vnode *v,
                       char *buf, size_t size);
/* Implements chmod, chown, truncate and utimens. ATTR_*; `now` means that the
 * times are UTIME_NOW, for which write permission is enough. */
int vfs_setattr(const struct caller *as, const struct dentry *p,
                const struct attr *a, unsigned what, bool now);
/* Extended attributes of the name space "user.", as getxattr(2), setxattr(2)
 * (flags: XATTR_*; value NULL: removexattr) and listxattr(2). With size 0, the
 * getters only return the length. */
int64_t vfs_get_xattr(const struct caller *as, const struct vnode *v,
                      const char *name, void *buf, size_t size);
int vfs_set_xattr(const struct caller *as, const struct dentry *d,
                  const char *name, const void *value, size_t len, int flags);
int64_t vfs_list_xattrs(const struct vnode *v, char *buf, size_t size);
/* Like vfs_setattr, for an inode whose name is not known. */
static inline int
vnode_setattr(const struct caller *as, const struct vnode *v,
              const struct attr *a, unsigned what, bool now)
{
    const struct dentry d = {.node = *v};

    return vfs_setattr(as, &d, a, what, now);
}

#endif
