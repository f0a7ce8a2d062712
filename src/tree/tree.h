/* The state of a file system in memory: a value that can be cloned.
 *
 * An inode table (inode number -> inode), quotas and holds. A clone shares
 * everything and costs a few stores; what either changes later is copied.
 * One thread uses a tree at a time; clones may be used by different ones.
 *
 * Quota. Bytes: each file and symbolic link is charged 4 KiB for each block
 * (chunk) that is present, but for the last one, if its size ends there, only
 * what it has of it: so one without holes costs its size. Clones cost no less,
 * and allocated blocks cost even if never written. Holes cost nothing, but
 * blocks far from each other need nodes of their own to be found, up to five
 * for each: where a file has more nodes than blocks, it is charged for the
 * nodes beyond that number. The host then never keeps much more memory for
 * contents than is charged (1.2 times). Inodes: one
 * for each inode and one for each further name of a file. Files of the root
 * image cost nothing; a block of theirs that is written costs from then on.
 * Extended attributes cost their bytes and a small fee.
 *
 * What is removed is given back at once, but freed in steps: each block or
 * inode that is added frees more than it takes, and the owner calls
 * grave_drain when there is time. */
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

struct tree {
    struct radix inodes;
    uint64_t next_ino, first_ino; /* before first_ino, none is used again */
    struct quota used, max;
    struct tree *peer; /* the next of a ring under one limit; NULL: alone */
    bool hit_bytes, hit_inodes; /* the quota refused something */
    struct grave grave;         /* removed and given back, but not freed yet */
    struct holds holds;
};

/* An empty root directory (0755, root's, free of charge). -ENOMEM. */
int tree_init(struct tree *t, const struct quota *max, int64_t now_ns);
/* A tree that is all zero is fine. */
void tree_fini(struct tree *t);
/* As tree_fini of a clone without peers, but what it alone has is freed in
 * steps, by the owner of `heir`. */
void tree_bury(struct tree *t, struct tree *heir);
/* Makes `t` what `now` is, which is taken over, with the limits and holds of
 * before. */
void tree_replace(struct tree *t, OWN struct tree *now);
/* The same files with nothing held: what has no name is not in the clone.
 * -ENOMEM, only if there is such. */
int tree_clone(const struct tree *from, struct tree *ret);
/* From now on the limits of both are for what they, and their peers, use
 * together. `t` has no peer yet. A tree with peers must not be moved; a clone
 * has none. */
void tree_join(struct tree *t, struct tree *peer);
/* What it and its peers use. */
struct quota tree_used(const struct tree *t);
/* An upper bound of the bytes that t keeps and `other`, a clone, does not: the
 * blocks that cost quota, and a fee for each inode. The cost is that of what
 * differs. */
uint64_t tree_lost(const struct tree *t, const struct tree *other);
/* What `used` should be, counted anew: for tests. */
void tree_recount(const struct tree *t, struct quota *ret);
/* All that is in a tree that was never cloned costs nothing from now on; the
 * numbers of its inodes and names will not be used again. */
void tree_make_free(struct tree *t);

/* Borrowed until the next change, or NULL. */
static inline const struct inode *
tree_find(const struct tree *t, uint64_t ino)
{
    return (const struct inode *)radix_find(&t->inodes, ino);
}

/* The inode, to be changed: stays valid until it is removed or the tree is
 * cloned. -ESTALE: there is none, -ENOMEM. */
int tree_own(struct tree *t, uint64_t ino, struct inode **ret);

/* Attaches an object to the content of a regular file, with a reference, unless
 * the file has one; for example its compiled program. A change of the content
 * detaches it. Attaching is not a change of the inode: all clones that share
 * the inode see the object. */
void tree_attach(const struct tree *t, uint64_t ino, struct counted *c);

/* A held inode lives on without a name. If there is no memory to note a
 * hold, the inode may go with its last name: its users get -ESTALE then. */
void tree_hold(struct tree *t, uint64_t ino);
void tree_release(struct tree *t, uint64_t ino);

/* What `what` names, as in struct fs_ops. */
int tree_setattr(struct tree *t, uint64_t ino, const struct attr *a,
                 unsigned what, int64_t now_ns);
void inode_getattr(const struct inode *i, uint64_t ino, struct attr *ret);

/* Sets an extended attribute, or (value NULL) removes it. -ENODATA, -ENOSPC,
 * -ENOMEM. */
int tree_set_xattr(struct tree *t, uint64_t ino, struct xattr_name name,
                   const void *value, size_t len, int64_t now_ns);
/* Gives an inode these attributes (NULL: none) in the place of its own. Times
 * stay. -ENOSPC, -ENOMEM. */
int tree_put_xattrs(struct tree *t, uint64_t ino, OWN struct xattrs *x);

/* --- tree_name.c: as the members of struct fs_ops */

int tree_lookup(const struct tree *t, uint64_t dir, struct name name,
                uint64_t *ret_ino);
int tree_create(struct tree *t, uint64_t dir, struct name name,
                const struct attr *a, int64_t now_ns, uint64_t *ret_ino);
int tree_tmpfile(struct tree *t, const struct attr *a, bool is_linkable,
                 int64_t now_ns, uint64_t *ret_ino);
int tree_symlink(struct tree *t, uint64_t dir, struct name name,
                 const char *target, size_t len, const struct attr *a,
                 int64_t now_ns, uint64_t *ret_ino);
int tree_link(struct tree *t, uint64_t dir, struct name name, uint64_t ino,
              int64_t now_ns);
int tree_unlink(struct tree *t, uint64_t dir, struct name name, int flags,
                int64_t now_ns);

/* --- tree_rename.c */

int tree_rename(struct tree *t, uint64_t dir, struct name name, uint64_t dir2,
                struct name name2, unsigned flags, int64_t now_ns);

/* --- tree_data.c: contents of files. -EFBIG beyond FILE_BYTES_MAX, -ENOSPC,
 * -ENOMEM. */

/* Bytes read, 0 at the end. */
int64_t inode_read(const struct inode *i, uint64_t pos, void *buf, size_t len);
/* All of it, where it lies in foreign memory in one piece, or NULL. */
const void *inode_content(const struct inode *i);
/* Bytes written, fewer than len if an error came after some. */
int64_t tree_write(struct tree *t, uint64_t ino, uint64_t pos, const void *buf,
                   size_t len, int64_t now_ns);
/* Like a write of all of it at `pos`, a multiple of CHUNK_BYTES, but without
 * a copy: `data` must outlive the tree and all its clones. Times stay. */
int tree_map(struct tree *t, uint64_t ino, uint64_t pos, const void *data,
             size_t len);
/* -ENOSPC: what was the last block costs all of its 4 KiB now. */
int tree_truncate(struct tree *t, uint64_t ino, uint64_t size, int64_t now_ns);
/* Makes blocks of a range (not empty) present, at most ALLOCATE_STEP_BYTES of
 * them. Returns how far it came: less than len, go on from there. -ENOSPC,
 * and nothing has changed, if there is not room for all. */
#define ALLOCATE_STEP_BYTES (1u << 20)
int64_t tree_allocate(struct tree *t, uint64_t ino, uint64_t off, uint64_t len,
                      bool keep_size, int64_t now_ns);
int tree_punch(struct tree *t, uint64_t ino, uint64_t off, uint64_t len,
               int64_t now_ns);
/* SEEK_DATA and SEEK_HOLE from pos. -ENXIO; -EAGAIN: not in the next
 * SEEK_STEP_BYTES. */
int64_t inode_seek(const struct inode *i, uint64_t pos, int whence);

#endif
