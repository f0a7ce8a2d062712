/* inotify(7): files from which a program reads the events of the inodes that it
 * watches. vfs/notify.h decides which watch receives an event. */
#ifndef KERNEL_INOTIFY_H
#define KERNEL_INOTIFY_H

#include "base/own.h"

#include <stdint.h>

struct file;
struct kernel;
struct vnode;

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

#endif
