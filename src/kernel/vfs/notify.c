/* Watches by inode, and the rules of inotify(7) about which watch receives
 * which event.
 *
 * Problem: nearly every call on a file is an event that nearly nobody watches.
 *
 * Idea: the hash table of watches exists only while there are any, so a report
 * is one comparison for a sandbox without watches. An inode needs no field for
 * its watches, and a watch keeps no inode alive. When an inode is released or
 * loses a name, the table is searched for it, and its watches end if it does
 * not exist any more.
 *
 * An owner may remove its watch within an event, but no other watch. A loop
 * therefore finds the next watch before it calls the owner of this one. */
#include "kernel/vfs/notify.h"

#include "kernel/vfs/file.h"
#include "kernel/vfs/vfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>

enum { WATCH_BUCKETS = 256 };

/* All watches of a sandbox, by inode. */
struct watches {
    size_t n;
    uint32_t last_cookie;
    struct list buckets[WATCH_BUCKETS];
};

/* Inode numbers are small and dense in every file system, so the device is
 * mixed in. */
static struct list *
notify_watch_bucket(struct watches *ws, const struct fs *fs, uint64_t ino)
{
    uint64_t h = (ino ^ fs->dev << 48) * UINT64_C(0x9E3779B97F4A7C15);

    return &ws->buckets[h >> 56];
}

static int
notify_watches_need(struct vfs *v)
{
    if (v->watches)
        return 0;
    struct watches *ws = calloc(1, sizeof *ws);
    if (!ws)
        return -ENOMEM;
    for (int i = 0; i < WATCH_BUCKETS; i++)
        list_init(&ws->buckets[i]);
    v->watches = ws;
    return 0;
}

int
notify_watch_add(struct notify_watch *w, const struct vnode *node)
{
    struct vfs *v = node->mnt->fs->vfs;

    int r = notify_watches_need(v);
    if (r < 0)
        return r;
    w->fs = node->mnt->fs;
    w->ino = node->ino;
    list_push_back(notify_watch_bucket(v->watches, w->fs, w->ino), &w->link);
    v->watches->n++;
    return 0;
}

void
notify_watch_remove(struct notify_watch *w)
{
    struct vfs *v = w->fs->vfs;

    list_remove(&w->link);
    if (--v->watches->n == 0)
        free(STEAL(v->watches));
}

struct notify_watch *
notify_watch_next(const struct vnode *node, const struct notify_watch *w)
{
    struct fs *fs = node->mnt->fs;

    if (!fs->vfs->watches)
        return NULL;
    struct list *head = notify_watch_bucket(fs->vfs->watches, fs, node->ino);
    struct list *it = w ? w->link.next : head->next;
    for (; it != head; it = it->next) {
        struct notify_watch *found =
            CONTAINER_OF(it, struct notify_watch, link);
        if (found->fs == fs && found->ino == node->ino)
            return found;
    }
    return NULL;
}

size_t
notify_watch_count(const struct vfs *v)
{
    return v->watches ? v->watches->n : 0;
}

/* --- reports */

/* Returns the vfs of an inode if anything is watched there; otherwise NULL.
 * This is all that a report costs in a sandbox without watches. */
static struct vfs *
notify_watching(const struct vnode *node)
{
    struct vfs *v = node->mnt ? node->mnt->fs->vfs : NULL;

    return v && v->watches ? v : NULL;
}

/* Returns true if the name still leads to the inode. */
static bool
notify_is_linked(const struct dentry *p)
{
    struct fs *fs = p->dir.mnt->fs;
    struct name name = {p->name, strlen(p->name)};
    uint64_t ino;

    return fs->ops->lookup(fs, p->dir.ino, name, &ino) == 0 &&
           ino == p->node.ino;
}

/* Reports to the watches of `node`. With `child`, a watch with IN_EXCL_UNLINK
 * receives nothing about an entry that was removed. */
static void
notify_watches(const struct vnode *node, uint32_t mask, uint32_t cookie,
               struct name name, const struct dentry *child)
{
    struct notify_watch *next, *w = notify_watch_next(node, NULL);

    for (; w; w = next) {
        next = notify_watch_next(node, w);
        if (!(w->mask & mask & IN_ALL_EVENTS))
            continue;
        if (child && w->mask & IN_EXCL_UNLINK && !notify_is_linked(child))
            continue;
        w->ops->event(w, mask, cookie, name);
    }
}

static uint32_t
notify_kind_of(const struct vnode *node)
{
    struct attr a;

    return vnode_getattr(node, &a) == 0 && S_ISDIR(a.mode) ? IN_ISDIR : 0;
}

static void
notify_node(const struct vnode *node, uint32_t mask)
{
    notify_watches(node, mask, 0, (struct name){"", 0}, NULL);
}

/* Reports to the watches of the directory. The root of a mount has no name in
 * the directory that it covers. */
static void
notify_dir(const struct dentry *p, uint32_t mask, uint32_t cookie,
           bool may_be_gone)
{
    if (!p->name || (p->node.mnt && p->node.mnt != p->dir.mnt))
        return;
    notify_watches(&p->dir, mask, cookie,
                   (struct name){p->name, strlen(p->name)},
                   may_be_gone ? p : NULL);
}

/* The directory first, then the inode itself, in the order of Linux. */
void
notify_report(const struct dentry *p, uint32_t mask)
{
    if (!notify_watching(&p->node))
        return;
    mask |= notify_kind_of(&p->node);
    notify_dir(p, mask, 0, true);
    notify_node(&p->node, mask);
}

/* Operations through an O_PATH descriptor do not exist, so nothing is reported
 * for one. */
void
notify_file(const struct file *f, uint32_t mask)
{
    if (!notify_watching(&f->node) || f->flags & O_PATH)
        return;
    struct dentry p = file_dentry(f);
    notify_report(&p, mask);
}

/* Linux reports a change of only one time as an access or a modification. */
void
notify_attr(const struct dentry *p, unsigned what)
{
    const unsigned times = what & (ATTR_ATIME | ATTR_MTIME);

    if (what & ATTR_SIZE || (what == times && times == ATTR_MTIME))
        notify_report(p, IN_MODIFY);
    else if (what == times && times == ATTR_ATIME)
        notify_report(p, IN_ACCESS);
    else
        notify_report(p, IN_ATTRIB);
}

/* Only the directory can be watched: the inode is new. */
void
notify_created(const struct dentry *p)
{
    if (notify_watching(&p->node))
        notify_dir(p, IN_CREATE | notify_kind_of(&p->node), 0, false);
}

/* An inode no longer exists if its attributes cannot be read. */
void
notify_gone(const struct vnode *node)
{
    struct attr a;
    struct notify_watch *w;

    if (!notify_watching(node) || vnode_getattr(node, &a) == 0)
        return;
    notify_node(node, IN_DELETE_SELF);
    while ((w = notify_watch_next(node, NULL)))
        w->ops->gone(w);
}

/* A file that has another name, or is open, still exists: it only lost a
 * link. */
void
notify_deleted(const struct dentry *p, bool is_dir)
{
    if (!notify_watching(&p->node))
        return;
    if (!is_dir)
        notify_node(&p->node, IN_ATTRIB); /* it has one link less */
    notify_dir(p, IN_DELETE | (is_dir ? IN_ISDIR : 0), 0, false);
    notify_gone(&p->node);
}

/* Gives the open files of a moved entry its new name, with which they report
 * from now on. A file that lacks the memory for it keeps the old one. */
static void
notify_rename_files(struct vfs *v, const struct dentry *from,
                    const struct dentry *to)
{
    LIST_FOR_EACH(it, &v->files) {
        struct file *f = CONTAINER_OF(it, struct file, link);
        bool is_at = f->name && f->node.ino == from->node.ino &&
                     vnode_is_same(&f->dir, &from->dir) &&
                     strcmp(f->name, from->name) == 0;
        char *name = is_at ? strdup(to->name) : NULL;
        if (!name)
            continue;
        free(f->name);
        f->name = name;
        f->dir = to->dir;
    }
}

/* The cookie ties the two halves of a move together. */
void
notify_moved(const struct dentry *from, const struct dentry *to, bool is_dir)
{
    struct vfs *v = notify_watching(&from->node);

    if (!v)
        return;
    uint32_t kind = is_dir ? IN_ISDIR : 0, cookie = ++v->watches->last_cookie;
    notify_dir(from, IN_MOVED_FROM | kind, cookie, false);
    notify_dir(to, IN_MOVED_TO | kind, cookie, false);
    if (to->node.mnt && to->node.ino != from->node.ino)
        notify_node(&to->node, IN_ATTRIB);
    notify_node(&from->node, IN_MOVE_SELF);
    notify_rename_files(v, from, to);
    if (to->node.mnt)
        notify_gone(&to->node);
}
