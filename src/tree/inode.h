/* Inodes of a tree: structurally shared, so changed only after tree_own. */
#ifndef TREE_INODE_H
#define TREE_INODE_H

#include "base/counted.h"
#include "tree/chunk.h"
#include "tree/dir.h"
#include "tree/radix.h"
#include "tree/xattr.h"

#include <sys/stat.h>

struct inode {
    struct shared ref;
    /* See tree_attach. Set at most once while the inode is shared, by whichever
     * thread. */
    _Atomic(struct counted *) attached;

    uint32_t mode, nlink, uid, gid;
    uint32_t free_units; /* of the inode quota that it does not pay for */
    uint32_t free_nodes; /* of its chunks, which it does not pay for */
    bool is_linkable;    /* made without a name, and may be given one */
    uint64_t size;       /* of files and symbolic links */
    int64_t atime_ns, mtime_ns, ctime_ns;
    struct xattrs *xattrs; /* counted, or NULL: none */
    union {
        /* Content of files, target of links. Counted; those weigh that cost
         * quota. */
        struct radix chunks;
        struct {
            struct dir dir;
            uint64_t parent, seq; /* where its name is */
        };
    };
};

extern const struct radix_ops inode_ops;
extern const struct radix_ops content_ops; /* of inode.chunks */

struct inode *inode_new(uint32_t mode, int64_t now_ns);
struct inode *inode_copy(const struct inode *from);

static inline bool
inode_is_dir(const struct inode *i)
{
    return S_ISDIR(i->mode);
}

/* Chunks present, and those of them that cost quota. */
static inline struct tally
inode_blocks(const struct inode *i)
{
    const struct tally none = {0};

    return inode_is_dir(i) ? none : i->chunks.sum;
}

/* What it does not pay, at this size, of the block in which it ends. */
uint64_t inode_slack(const struct inode *i, uint64_t size);
/* Bytes of the quota for the nodes that find its blocks. Each block pays for
 * one node, so only a file with holes can have more nodes than are paid:
 * `blocks` and `nodes` are the numbers to reckon with. */
uint64_t inode_nodes_cost(const struct inode *i, uint64_t blocks,
                          uint64_t nodes);
/* What it takes of the quota of bytes. */
uint64_t inode_bytes(const struct inode *i);

/* What it takes of the inode quota. Each further name of a file counts as an
 * inode, since it takes memory like one. */
uint64_t inode_units(const struct inode *i);
uint64_t inode_cost(const struct inode *i);

/* Detaches the object of an owned inode: see tree_attach. */
void inode_detach(struct inode *i);
/* The content was changed: times, set-id bits, the attached object. */
void inode_touch_content(struct inode *i, int64_t now_ns);
/* The entries of a directory were changed. */
void inode_touch_dir(struct inode *i, int64_t now_ns);

#endif
