/* The contents of a file system in memory: a value that can be cloned.
 *
 * A tree consists of an inode table (inode number -> inode), quotas and holds.
 * A clone shares everything and costs a few stores; later changes of either
 * side are copied first. One thread uses a tree at a time; clones may be used
 * by different threads.
 *
 * Quota of bytes: each file and symbolic link is charged 4 KiB for each block
 * (chunk) that is present. Of the last block, if the size ends there, only the
 * used bytes are charged, so a file without holes costs its size. Clones cost
 * no less, and allocated blocks cost even if they were never written.
 *
 * Holes cost nothing. However, blocks far from each other need nodes of their
 * own, up to five for each. If a file has more nodes than blocks, it is charged
 * for the additional nodes. The host therefore never uses much more memory for
 * contents than is charged (1.2 times).
 *
 * Quota of inodes: one for each inode, and one for each further name of a file.
 * Files of the root image cost nothing; a block of theirs costs from the first
 * write. Extended attributes cost their bytes and a small fee.
 *
 * Removing releases the quota at once, but frees memory in steps. Each added
 * block or inode frees more than it takes, and the owner calls
 * radix_drain_deferred when there is time. */
#ifndef TREE_TREE_H
#define TREE_TREE_H

#include "tree/holds.h"
#include "tree/inode.h"

#define TREE_ROOT       UINT64_C(1)
#define FILE_BYTES_MAX  (UINT64_C(1) << 48)
#define LINK_TARGET_MAX 4095

struct quota {
    uint64_t bytes, inodes;
};

/* A limit outside of the tree that its bytes count towards. */
struct tree_budget {
    /* Returns false, and records it, if `bytes` more would exceed the limit. */
    bool (*fits)(void *arg, uint64_t bytes);
    /* Charges bytes without a check (negative: releases them). */
    void (*settle)(void *arg, int64_t bytes);
};

struct tree {
    struct radix inodes;
    uint64_t next_ino, first_ino; /* numbers below first_ino are never reused */
    /* Of the hash of names: set by the owner before the first name, or 0. A
     * clone has the same; directories of earlier seeds stay readable. */
    uint64_t seed;
    struct quota used, max;
    struct tree *peer; /* next in a ring of trees with one limit, or NULL */
    const struct tree_budget
        *budget; /* for the bytes, instead of max; or NULL */
    void *budget_arg;
    bool hit_bytes, hit_inodes; /* the quota has rejected a request */
    struct free_list deferred;  /* deferred free list: already credited to the
                                 * quota */
    struct holds holds;
};

/* Creates a tree with an empty root directory (0755, owned by root, not
 * charged). -ENOMEM. */
int tree_init(struct tree *t, const struct quota *max, int64_t now_ns);
/* Accepts a tree that is all zero. */
void tree_fini(struct tree *t);
/* Like tree_fini, for a clone without peers, but memory that only this clone
 * uses is freed in steps, by the owner of `to`. */
void tree_defer_free(struct tree *t, struct tree *to);
/* Replaces the contents of `t` by those of `now`, which is consumed. Limits,
 * the budget and holds stay. */
void tree_replace(struct tree *t, OWN struct tree *now);
/* Clones the files, but not the holds: inodes without a name are not in the
 * clone. -ENOMEM, only if there are such inodes. */
int tree_clone(const struct tree *from, struct tree *ret);
/* Makes the limits apply to the sum over both trees and their peers. `t` has no
 * peer yet. A tree with peers must not be moved; a clone has none. */
void tree_join(struct tree *t, struct tree *peer);
/* Charges the bytes of the tree to a budget, now and from now on. A clone has
 * none. */
void tree_set_budget(struct tree *t, const struct tree_budget *b, void *arg);
/* Returns the use of the tree and its peers. */
struct quota tree_used(const struct tree *t);
/* Returns an upper bound of the bytes that t keeps and `other`, a clone, does
 * not: blocks that cost quota, and a fee for each inode. Takes time
 * proportional to the differences. */
uint64_t tree_lost(const struct tree *t, const struct tree *other);
/* Counts `used` again, for tests. */
void tree_recount(const struct tree *t, struct quota *ret);
/* Makes the contents of a tree that was never cloned free of charge. The
 * numbers of its inodes and names are never reused. */
void tree_uncharge(struct tree *t);

/* Returns the inode, valid until the next change, or NULL. */
static inline const struct inode *
tree_find(const struct tree *t, uint64_t ino)
{
    return (const struct inode *)radix_find(&t->inodes, ino);
}

/* Returns the inode for a change; it stays valid until it is removed or the
 * tree is cloned. -ESTALE: no such inode. -ENOMEM. */
int tree_unshare(struct tree *t, uint64_t ino, struct inode **ret);

/* Attaches an object to the content of a regular file, with a reference, unless
 * the file has one; for example its compiled program. A change of the content
 * detaches it. Attaching is not a change of the inode: all clones that share
 * the inode see the object. */
void tree_attach(const struct tree *t, uint64_t ino, struct counted *c);

/* Holds an inode, which then survives its last name. Without memory for the
 * hold, the inode may be removed with its last name, and its users get -ESTALE.
 */
void tree_hold(struct tree *t, uint64_t ino);
void tree_release(struct tree *t, uint64_t ino);

/* Sets the attributes in `what`, as in struct fs_ops. */
int tree_setattr(struct tree *t, uint64_t ino, const struct attr *a,
                 unsigned what, int64_t now_ns);
void inode_getattr(const struct inode *i, uint64_t ino, struct attr *ret);

/* Sets an extended attribute, or removes it (value NULL). -ENODATA, -ENOSPC,
 * -ENOMEM. */
int tree_set_xattr(struct tree *t, uint64_t ino, struct xattr_name name,
                   const void *value, size_t len, int64_t now_ns);
/* Replaces the attributes of an inode (NULL: none). Times stay. -ENOSPC,
 * -ENOMEM. */
int tree_put_xattrs(struct tree *t, uint64_t ino, OWN struct xattrs *x);

/* --- tree_name.c: implements the members of struct fs_ops */

int tree_lookup(const struct tree *t, uint64_t dir, struct name name,
                uint64_t *ret_ino);
/* Creates an entry with a->mode, uid and gid, and returns its inode number.
 * -EEXIST, -ENOENT, -ENOTDIR, -ENOSPC, -ENOMEM; on failure nothing has
 * changed. */
int tree_create(struct tree *t, uint64_t dir, struct name name,
                const struct attr *a, int64_t now_ns, uint64_t *ret_ino);
/* Creates a file without a name, with a hold for the caller. is_linkable:
 * tree_link may give it a name later (O_TMPFILE). */
int tree_tmpfile(struct tree *t, const struct attr *a, bool is_linkable,
                 int64_t now_ns, uint64_t *ret_ino);
/* Creates a directory in the state after its removal from `parent` (0:
 * unknown): empty and without a name. It is held once, and free of charge. */
int tree_removed_dir(struct tree *t, uint64_t parent, const struct attr *a,
                     int64_t now_ns, uint64_t *ret_ino);
int tree_symlink(struct tree *t, uint64_t dir, struct name name,
                 const char *target, size_t len, const struct attr *a,
                 int64_t now_ns, uint64_t *ret_ino);
/* Adds a further name to a file. -EPERM for directories, -EMLINK. */
int tree_link(struct tree *t, uint64_t dir, struct name name, uint64_t ino,
              int64_t now_ns);
/* Removes a name; with UNLINK_DIR, that of an empty directory. -EISDIR,
 * -ENOTDIR, -ENOTEMPTY. The inode goes with its last name and its last hold. */
int tree_unlink(struct tree *t, uint64_t dir, struct name name, int flags,
                int64_t now_ns);

/* --- tree_rename.c */

/* As renameat2(2), within one tree. -EINVAL: a directory into itself, or
 * unknown flags. On failure nothing has changed. */
int tree_rename(struct tree *t, uint64_t dir, struct name name, uint64_t dir2,
                struct name name2, unsigned flags, int64_t now_ns);

/* --- tree_data.c: contents of files. -EFBIG beyond FILE_BYTES_MAX, -ENOSPC,
 * -ENOMEM. */

/* Returns the number of bytes read, 0 at the end. */
int64_t inode_read(const struct inode *i, uint64_t pos, void *buf, size_t len);
/* Returns the whole content if it is one piece of foreign memory, or NULL. */
const void *inode_content(const struct inode *i);
/* Returns the number of bytes written, fewer than len if an error came after
 * some. */
int64_t tree_write(struct tree *t, uint64_t ino, uint64_t pos, const void *buf,
                   size_t len, int64_t now_ns);
/* Like a write of all data at `pos`, a multiple of CHUNK_BYTES, but without a
 * copy: `data` must outlive the tree and all its clones. Times stay. */
int tree_map(struct tree *t, uint64_t ino, uint64_t pos, const void *data,
             size_t len);
/* -ENOSPC: the former last block is now charged with all of its 4 KiB. */
int tree_truncate(struct tree *t, uint64_t ino, uint64_t size, int64_t now_ns);
/* Allocates blocks of a range (not empty), at most ALLOCATE_STEP_BYTES. Returns
 * the number of bytes done; if it is less than len, continue from there.
 * -ENOSPC if the quota does not allow all of them; then nothing has changed. */
#define ALLOCATE_STEP_BYTES (1u << 20)
int64_t tree_allocate(struct tree *t, uint64_t ino, uint64_t off, uint64_t len,
                      bool keep_size, int64_t now_ns);
/* Makes a range read as zeros, and releases its whole blocks. The size
 * stays. */
int tree_punch(struct tree *t, uint64_t ino, uint64_t off, uint64_t len,
               int64_t now_ns);
/* Implements SEEK_DATA and SEEK_HOLE from pos. -ENXIO. -EAGAIN: not found
 * within SEEK_STEP_BYTES. */
int64_t inode_seek(const struct inode *i, uint64_t pos, int whence);

#endif
