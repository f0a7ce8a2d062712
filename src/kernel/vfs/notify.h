/* Watches of inodes, and the reports of changes to them.
 *
 * A watch names an inode by its file system and number, without holding it.
 * Operations on files report their effects here; if nothing is watched, a
 * report costs one comparison. inotify(7) is the only owner of watches. */
#ifndef KERNEL_VFS_NOTIFY_H
#define KERNEL_VFS_NOTIFY_H

#include "base/list.h"
#include "base/own.h"
#include "kernel/vfs/fs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dentry;
struct file;
struct vfs;
struct notify_watch;

struct notify_watch_ops {
    /* Called for an event in w->mask (IN_*), with the name of the entry that it
     * is about, or an empty one for the inode itself. `cookie` connects the two
     * events of a move. May remove w. */
    void (*event)(struct notify_watch *w, uint32_t mask, uint32_t cookie,
                  struct name name);
    /* The inode no longer exists. Must remove w. */
    void (*gone)(OWN struct notify_watch *w);
};

/* Embedded in the object of its owner. */
struct notify_watch {
    struct list link; /* in a bucket of vfs->watches */
    const struct notify_watch_ops *ops;
    struct fs *fs;
    uint64_t ino;
    uint32_t mask; /* IN_* */
};

/* Begins to watch `node`; the caller has set ops and mask. -ENOMEM. */
int notify_watch_add(struct notify_watch *w, const struct vnode *node);
void notify_watch_remove(struct notify_watch *w);
/* Returns the first watch of `node`, or the next one after w; NULL at the end.
 */
struct notify_watch *notify_watch_next(const struct vnode *node,
                                       const struct notify_watch *w);
/* Returns the number of watches. */
size_t notify_watch_count(const struct vfs *v);

/* Reports `mask` (IN_*) of p to the watches of its inode and, with its name, to
 * those of its directory. */
void notify_report(const struct dentry *p, uint32_t mask);
/* Like notify_report, for operations through an open file, except O_PATH. */
void notify_file(const struct file *f, uint32_t mask);
/* Reports that the attributes `what` (ATTR_*) of p were set. */
void notify_attr(const struct dentry *p, unsigned what);
/* Report changes of names: p was created, was removed, or was moved to the
 * position `to`, whose node is the one replaced (mnt NULL: none). */
void notify_created(const struct dentry *p);
void notify_deleted(const struct dentry *p, bool is_dir);
void notify_moved(const struct dentry *from, const struct dentry *to,
                  bool is_dir);
/* Ends the watches of an inode that no longer exists. */
void notify_gone(const struct vnode *node);

#endif
