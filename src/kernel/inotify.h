/* Notification of changes to files: inotify(7).
 *
 * A watch belongs to an inotify file and names an inode by its file system and
 * number, without holding it. Operations on files report their effects; if
 * nothing is watched, a report costs one comparison. */
#ifndef KERNEL_INOTIFY_H
#define KERNEL_INOTIFY_H

#include "base/own.h"
#include "kernel/vfs/vfs.h"

#include <stdbool.h>
#include <stdint.h>

struct file;
struct kernel;
struct watches;

enum {
    INOTIFY_EVENTS_MAX = 16384, /* queued for one file */
    INOTIFY_WATCHES_MAX = 8192, /* of one sandbox */
};

/* flags: O_NONBLOCK. */
int inotify_new(struct kernel *k, uint32_t flags, OWN struct file **ret);
/* Adds a watch of `node`, or changes the existing one of `f`, and returns its
 * number. -EINVAL (f is no inotify file), -EEXIST, -ENOSPC, -ENOMEM. */
int inotify_add(struct file *f, const struct vnode *node, uint32_t mask);
/* -EINVAL: no such watch. */
int inotify_remove(struct file *f, int wd);

/* Reports `mask` (IN_*) of p to the watches of its inode and, with its name, to
 * those of its directory. */
void inotify_report(const struct dentry *p, uint32_t mask);
/* Like inotify_report, for operations through an open file, except O_PATH. */
void inotify_file(const struct file *f, uint32_t mask);
/* Reports that the attributes `what` (ATTR_*) of p were set. */
void inotify_attr(const struct dentry *p, unsigned what);
/* Report changes of names: p was created, was removed, or was moved to the
 * position `to`, whose node is the one replaced (mnt NULL: none). */
void inotify_created(const struct dentry *p);
void inotify_deleted(const struct dentry *p, bool is_dir);
void inotify_moved(const struct dentry *from, const struct dentry *to,
                   bool is_dir);
/* Ends the watches of an inode that no longer exists. */
void inotify_gone(const struct vnode *node);

#endif
