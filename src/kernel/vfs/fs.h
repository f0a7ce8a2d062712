/* The interface of file systems, for those who implement one.
 *
 * An inode is named by its number within its file system; nothing outside a
 * file system points into it. A file system that frees an inode with its last
 * name and its last hold counts holds through hold/release. */
#ifndef KERNEL_VFS_FS_H
#define KERNEL_VFS_FS_H

#include "base/own.h"
#include "tree/attr.h"
#include "tree/xattr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct caller;
struct file;
struct fs;
struct mount;
struct vfs;

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
 * or the result in brackets. `as` is the caller, on whom links of /proc and
 * devices may depend; NULL is the host. */
struct fs_ops {
    const char *name; /* as in /proc/filesystems */

    /* Finds the inode of a name in a directory. -ENOENT, -ENOTDIR. */
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
    int64_t (*readlink)(struct fs *fs, const struct caller *as, uint64_t ino,
                        char *buf, size_t size);
    /* Resolves a magic link of /proc (fd/N, exe, cwd, root) without a path.
     * -ENXIO: the link represents *ret_file, which has no path; borrowed.
     * -EINVAL: an ordinary link. [EINVAL] */
    int (*follow)(struct fs *fs, uint64_t ino, struct vnode *ret,
                  struct file **ret_file);
    /* Opens a regular file or device; vfs.c opens directories, FIFOs and
     * sockets, and does O_TRUNC. */
    int (*open)(struct fs *fs, const struct caller *as, uint64_t ino,
                uint32_t flags, OWN struct file **ret);
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

/* A file system. Implementations embed it as their first member. */
struct fs {
    const struct fs_ops *ops;
    const struct fs_change_ops *change;
    struct vfs *vfs; /* NULL: not mounted yet */
    uint64_t dev;    /* st_dev */
    uint64_t root;   /* inode number of its root directory */
    bool is_memory;  /* its bytes count as memory, and it is not durable */
};

#endif
