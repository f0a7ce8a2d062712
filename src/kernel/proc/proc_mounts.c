/* Files of /proc about mounts and file systems. */
#include "kernel/proc/procfs_impl.h"

#include <string.h>
#include <sys/sysmacros.h>

enum { FIRST_ID = 20 };

/* The position in the list, which does not change while a mount exists. */
int
proc_mount_id(const struct kernel *k, const struct mount *m)
{
    int id = FIRST_ID;

    LIST_FOR_EACH(it, &k->vfs.mounts) {
        if (CONTAINER_OF(it, struct mount, link) == m)
            return id;
        id++;
    }
    return 0;
}

/* Writes a field with spaces and similar characters as octal escapes, so that
 * fields stay apart. */
static void
proc_mounts_put(struct buf *b, const char *s)
{
    for (; *s; s++)
        if (strchr(" \t\n\\#", *s))
            buf_printf(b, "\\%03o", (unsigned)*s);
        else
            buf_add(b, s, 1);
}

/* Of a mount and of its file system: neither has any other option here. */
static const char *
proc_mounts_options(const struct mount *m)
{
    return m->read_only ? "ro" : "rw";
}

/* /proc/<pid>/mounts: source, path, type and options, as in fstab */
int
proc_mounts(const struct proc_ask *a, struct buf *b)
{
    LIST_FOR_EACH(it, &a->kernel->vfs.mounts) {
        const struct mount *m = CONTAINER_OF(it, struct mount, link);
        proc_mounts_put(b, m->source);
        buf_puts(b, " ");
        proc_mounts_put(b, m->path);
        buf_printf(b, " %s %s,relatime 0 0\n", m->fs->ops->name,
                   proc_mounts_options(m));
    }
    return 0;
}

/* /proc/<pid>/mountinfo: the longer form, with ids. The parent of the root is
 * 1, which is no mount. */
int
proc_mountinfo(const struct proc_ask *a, struct buf *b)
{
    const struct kernel *k = a->kernel;

    LIST_FOR_EACH(it, &k->vfs.mounts) {
        const struct mount *m = CONTAINER_OF(it, struct mount, link);
        int parent = m->parent ? proc_mount_id(k, m->parent) : 1;
        buf_printf(b, "%d %d %u:%u ", proc_mount_id(k, m), parent,
                   major(m->fs->dev), minor(m->fs->dev));
        proc_mounts_put(b, m->is_bind ? m->path : "/");
        buf_puts(b, " ");
        proc_mounts_put(b, m->path);
        buf_printf(b, " %s,relatime - %s ", proc_mounts_options(m),
                   m->fs->ops->name);
        proc_mounts_put(b, m->source);
        buf_printf(b, " %s\n", proc_mounts_options(m));
    }
    return 0;
}

/* Each kind of file system is listed once. */
static bool
proc_mounts_was_listed(const struct kernel *k, const struct mount *m)
{
    LIST_FOR_EACH(it, &k->vfs.mounts) {
        const struct mount *other = CONTAINER_OF(it, struct mount, link);
        if (other == m)
            return false;
        if (!strcmp(other->fs->ops->name, m->fs->ops->name))
            return true;
    }
    return false;
}

/* /proc/filesystems: the kinds that are mounted. None of them needs a device.
 */
int
proc_filesystems(const struct proc_ask *a, struct buf *b)
{
    LIST_FOR_EACH(it, &a->kernel->vfs.mounts) {
        const struct mount *m = CONTAINER_OF(it, struct mount, link);
        if (!proc_mounts_was_listed(a->kernel, m))
            buf_printf(b, "nodev\t%s\n", m->fs->ops->name);
    }
    return 0;
}
