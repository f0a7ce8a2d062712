/* Inodes of a tree: structurally shared, and therefore changed only after
 * tree_unshare. */
#ifndef TREE_INODE_H
#define TREE_INODE_H

#include "base/counted.h"
#include "tree/chunk.h"
#include "tree/dir.h"
#include "tree/radix.h"
#include "tree/xattr.h"

#include <sys/stat.h>

/* An inode. Everything but `attached` is constant while the inode is shared. */
struct inode {
    struct shared ref;
    /* See tree_attach. Set at most once while the inode is shared, by any
     * thread. */
    _Atomic(struct counted *) attached;

    uint32_t mode, nlink, uid, gid;
    uint32_t uncharged_units; /* part of the inode quota that is not charged */
    uint32_t uncharged_nodes; /* nodes of its chunks that are not charged */
    bool is_linkable;         /* created without a name, and may be given one */
    uint64_t size;            /* of files and symbolic links */
    int64_t atime_ns, mtime_ns, ctime_ns;
    struct xattrs *xattrs; /* counted, or NULL */
    union {
        /* The content of a file, or the target of a link: block number ->
         * struct chunk. The leaves are counted, and chunks that cost quota
         * weigh. */
        struct radix chunks;
        struct {
            struct dir dir;
            /* The directory that it is in, and the sequence number of its entry
             * there: a directory has one name. parent is its own number for the
             * root. */
            uint64_t parent, seq;
        };
    };
};

/* Of the inode table of a tree. */
extern const struct radix_ops inode_ops;
extern const struct radix_ops content_ops; /* of inode.chunks */

/* Returns an inode with one name (a directory: with its "." too), or NULL. */
struct inode *inode_new(uint32_t mode, int64_t now_ns);
/* Returns a copy that shares content and entries with `from`, or NULL. */
struct inode *inode_copy(const struct inode *from);

static inline bool
inode_is_dir(const struct inode *i)
{
    return S_ISDIR(i->mode);
}

/* Returns the number of chunks, and of those that cost quota. */
static inline struct tally
inode_blocks(const struct inode *i)
{
    const struct tally none = {0};

    return inode_is_dir(i) ? none : i->chunks.sum;
}

/* Returns the bytes of its last block that are not charged, for a given size.
 */
uint64_t inode_slack(const struct inode *i, uint64_t size);
/* Returns the quota bytes for the nodes that lead to its blocks, if the file
 * had this number of blocks and nodes. Each block pays for one node, so only a
 * file with holes can have more nodes than are paid. */
uint64_t inode_nodes_cost(const struct inode *i, uint64_t blocks,
                          uint64_t nodes);
/* Returns its charge against the quota of bytes. */
uint64_t inode_bytes(const struct inode *i);

/* Returns its charge against the inode quota. Each further name of a file
 * counts as an inode, because it takes as much memory. */
uint64_t inode_units(const struct inode *i);
/* Returns the part of its inode_units that is charged: those of the image are
 * free. */
uint64_t inode_cost(const struct inode *i);

/* Detaches the object of an owned inode: see tree_attach. */
void inode_detach(struct inode *i);
/* Updates an inode after a change of its content: times, set-id bits, the
 * attached object. */
void inode_touch_content(struct inode *i, int64_t now_ns);
/* Updates a directory after a change of its entries. */
void inode_touch_dir(struct inode *i, int64_t now_ns);

#endif
