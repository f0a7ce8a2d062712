/* struct hostfs, for the files that implement it: hostfs.c, hostnode.c,
 * hostfs_dir.c, hostnode_cookie.c, hostnode_attr.c, hostfs_file.c,
 * hostfs_quota.c.
 *
 * A node is a host inode that the guest has seen, with the last name that led
 * to it. Names are looked up on the host one at a time, relative to a
 * descriptor of their directory; the host never gets a path. A node that is
 * found again by its name must be the same inode, otherwise it is gone. */
#ifndef HOST_HOSTFS_IMPL_H
#define HOST_HOSTFS_IMPL_H

#include "base/list.h"
#include "kernel/limits.h"
#include "kernel/vfs/file.h"
#include "kernel/vfs/vfs.h"
#include "tree/tree.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

enum {
    HOSTFS_BUCKETS = 1024,
    HOSTFS_DIR_HFDS = 256, /* directories kept open */
    HOSTFS_IDLE = 8192,    /* nodes kept without a hold */
    HOSTFS_NODES = 65536,  /* nodes in all */
    HOSTFS_DENTS_BYTES = 32768,
    HOSTFS_OFFSETS = 1 << 22, /* positions stored in all */
};

/* A host inode that the guest has seen. */
struct hostnode {
    struct list hash, idle, fds; /* in hostfs; fds while dir_hfd >= 0 */
    struct list files;           /* open files: struct hostopen */
    struct hostnode *parent;     /* NULL for the root */
    struct hostnode *down;       /* scratch of hostnode_dir_hfd */
    uint64_t ino;
    dev_t dev;
    ino_t host_ino;
    /* Open files and current directories of the guest, and nodes with this
     * parent. A node with neither is idle, and may be freed. */
    uint32_t holds, children;
    int dir_hfd;      /* O_PATH, or -1 */
    int64_t *offsets; /* positions given out */
    size_t n_offsets, cap_offsets;
    char *name; /* in parent; NULL: it has lost its name */
};

/* An open regular file. */
struct hostopen {
    struct list link;
    struct hostfs *fs;
    struct hostnode *node; /* held */
    int hfd;
    uint32_t access; /* O_RDONLY, O_WRONLY, O_RDWR */
};

/* A mounted folder. Limits on nodes and descriptors protect the host: a guest
 * that walks a large folder makes old idle nodes go. */
struct hostfs {
    struct fs fs;
    bool read_only;
    struct hostnode *root;
    struct list buckets[HOSTFS_BUCKETS];
    struct list idle, fds; /* oldest first */
    size_t n_nodes, n_idle, n_fds;
    size_t n_offsets; /* of all nodes */
    /* The inode that was created last, whose descriptor fresh_hfd is still
     * open: the guest will probably open it next. */
    uint64_t fresh_ino;
    int fresh_hfd;    /* or -1 */
    uint8_t *dents;   /* HOSTFS_DENTS_BYTES */
    struct quota max; /* of the growth since the mount */
    int64_t grown_bytes, grown_inodes;
};

/* A name in the form that the host expects. */
struct hostname {
    char s[NAME_BYTES_MAX + 1];
};

/* --- hostnode.c */

/* Copies a name for the host. -EACCES for anything but a plain name. */
int hostnode_set_name(struct hostname *n, struct name name);
/* Opens a name with openat2, so that the result stays beneath dir_hfd and no
 * symbolic link is followed. Returns a descriptor or -errno. */
int host_open(int dir_hfd, const char *name, uint64_t flags, uint64_t mode);
/* Returns the node of a number that the guest uses, borrowed, or NULL. */
struct hostnode *hostnode_find(struct hostfs *h, uint64_t ino);
/* Returns the node of `name` in `dir`, known or new. */
int hostnode_look_up(struct hostfs *h, struct hostnode *dir, const char *name,
                     struct hostnode **ret);
/* Returns the known node that has this name now, or NULL. */
struct hostnode *hostnode_at(struct hostfs *h, struct hostnode *dir,
                             const char *name);
/* Records that the node has lost its name. */
void hostnode_forget_name(struct hostnode *n);
/* Keep a node while the guest uses it: an open file, or a current directory. */
void hostnode_hold(struct hostfs *h, struct hostnode *n);
void hostnode_release(struct hostfs *h, struct hostnode *n);
/* Creates the node of the folder itself. Consumes hfd, also on failure. */
int hostnode_new_root(struct hostfs *h, OWN int hfd);
void hostnode_free_all(struct hostfs *h);
/* Returns an O_PATH descriptor of a directory, borrowed until the next call. */
int hostnode_dir_hfd(struct hostfs *h, struct hostnode *n);
/* Returns a new descriptor of the inode itself. */
int hostnode_open(struct hostfs *h, struct hostnode *n, uint64_t flags);
/* Returns the attributes of the inode. -ENOENT if it cannot be reached any
 * more. */
int hostnode_stat(struct hostfs *h, struct hostnode *n, struct stat *ret);
/* Returns the inode number that the guest sees. */
uint64_t hostfs_ino(const struct hostfs *h, dev_t dev, ino_t host_ino);

/* Called before n (or NULL) loses its name: if it is held, it stays reachable
 * as long as a descriptor is available. */
void hostnode_keep(struct hostfs *h, struct hostnode *n);

/* --- hostfs_dir.c */
int hostfs_readdir(struct fs *fs, uint64_t ino, uint64_t cookie,
                   struct dir_emit *emit);

/* --- hostnode_cookie.c */
/* Returns the host's position for a cookie; -1: it was dropped. */
int64_t hostnode_offset(const struct hostnode *dir, uint64_t cookie);
/* Called when a directory is read from its start: drops its stored positions if
 * they are so many that space may soon run out. */
void hostnode_begin_offsets(struct hostfs *h, struct hostnode *dir);
/* Returns the cookie for a host's position, which comes after the cookie
 * `last`. */
int hostnode_cookie(struct hostfs *h, struct hostnode *dir, uint64_t last,
                    int64_t off, uint64_t *ret);
void hostnode_forget_offsets(struct hostfs *h, struct hostnode *n);

/* --- hostnode_attr.c */
int hostnode_setattr(struct hostfs *h, struct hostnode *n, const struct attr *a,
                     unsigned what);
int hostnode_chmod(struct hostfs *h, struct hostnode *n, uint32_t mode);

/* --- hostfs_quota.c */
/* Returns the quota that is left. */
struct quota hostfs_left(const struct hostfs *h);
/* Records that the limit was hit, for the result of the run. Returns -ENOSPC.
 */
int hostfs_refuse(const struct hostfs *h, enum limit_id id);
/* Returns 0 if one more inode may be created, or -ENOSPC. */
int hostfs_check_new(const struct hostfs *h);
/* Record the growth after the change was made on the host. */
void hostfs_count_new(struct hostfs *h);
/* Returns 0 if an open file may get this size, and its current size; or
 * -ENOSPC. */
int hostfs_check_size(const struct hostfs *h, int hfd, uint64_t size,
                      uint64_t *ret_before);
void hostfs_count_size(struct hostfs *h, uint64_t before, uint64_t after);
/* Calls ftruncate within the limit. */
int hostfs_truncate(struct hostfs *h, int hfd, uint64_t size);
/* Returns the quota that removing a name releases: nothing while its inode
 * (with the node n, or NULL) has other names, or is open. */
struct quota hostfs_cost_at(int dir_hfd, const char *name,
                            const struct hostnode *n);
/* Returns the quota that closing a file releases: nothing while it has a name.
 */
struct quota hostfs_cost_of_nameless(int hfd);
void hostfs_count_gone(struct hostfs *h, struct quota cost);

/* --- hostfs_file.c */
int hostopen_new(struct hostfs *h, struct hostnode *n, uint32_t flags,
                 OWN struct file **ret);

#endif
