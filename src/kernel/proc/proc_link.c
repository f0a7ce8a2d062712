/* Links of /proc: to the reader itself, to directories and open files of a
 * process; and what is known about its descriptors.
 *
 * A magic link (cwd, root, exe, fd/N) has two faces. Its text is a path, for
 * people; it may be outdated. Following it leads to the very object, even if
 * that has no path any more. */
#include "kernel/proc/procfs_impl.h"
#include "kernel/vfs/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Copies as much of a text as fits: readlink cuts. */
static int64_t
proc_link_give(char *buf, size_t size, const char *text, size_t len)
{
    size_t n = len < size ? len : size;

    memcpy(buf, text, n);
    return (int64_t)n;
}

/* /proc/self: the number of the process that reads the link */
int64_t
proc_self(const struct proc_ask *a, char *buf, size_t size)
{
    char text[16];

    if (!a->reader)
        return -ENOENT;
    int n = snprintf(text, sizeof text, "%d", a->reader->pid);
    return proc_link_give(buf, size, text, (size_t)n);
}

/* /proc/thread-self: the thread that reads the link */
int64_t
proc_thread_self(const struct proc_ask *a, char *buf, size_t size)
{
    char text[40];

    if (!a->reader)
        return -ENOENT;
    const struct task *t = a->reader;
    int n =
        snprintf(text, sizeof text, "%d/task/%d", t->pid,
                 t->thread && t->thread->owner == t ? t->thread->tid : t->pid);
    return proc_link_give(buf, size, text, (size_t)n);
}

int64_t
proc_mounts_link(const struct proc_ask *a, char *buf, size_t size)
{
    static const char text[] = "self/mounts";

    (void)a;
    return proc_link_give(buf, size, text, sizeof text - 1);
}

/* --- paths */

/* Copies the text in `path`, which is freed. `len` may be -errno. */
static int64_t
proc_link_give_path(char *buf, size_t size, OWN char *path, int64_t len)
{
    if (len == -ERANGE)
        len = -ENAMETOOLONG;
    if (len >= 0)
        len = proc_link_give(buf, size, path, (size_t)len);
    free(path);
    return len;
}

/* A path is written to memory of its own, since it may be longer than the
 * reader's buffer. */
static int64_t
proc_link_give_dir(const struct vnode *dir, char *buf, size_t size)
{
    char *path = malloc(PATH_BYTES_MAX);

    if (!path)
        return -ENOMEM;
    int64_t len = vnode_path(dir, path, PATH_BYTES_MAX);
    return proc_link_give_path(buf, size, path, len);
}

/* Writes the path of `node`, which was found as `name` in `dir`. A file that is
 * no longer there is marked as deleted. */
static int64_t
proc_link_give_file(const struct vnode *dir, const char *name,
                    const struct vnode *node, char *buf, size_t size)
{
    char *path = malloc(PATH_BYTES_MAX);

    if (!path)
        return -ENOMEM;
    int64_t len = vnode_path_in(dir, name, node, path, PATH_BYTES_MAX);
    return proc_link_give_path(buf, size, path, len);
}

/* A zombie has no places any more. */
static int
proc_link_follow(const struct proc_ask *a, const struct vnode *v,
                 struct vnode *ret)
{
    if (a->of->is_zombie || !v->mnt)
        return -ENOENT;
    *ret = *v;
    return 0;
}

/* A removed directory has no path; the place where it was found is shown
 * then. */
int64_t
proc_cwd_link(const struct proc_ask *a, char *buf, size_t size)
{
    const struct task *of = a->of;

    if (of->is_zombie || !of->cwd.mnt)
        return -ENOENT;
    int64_t n = proc_link_give_dir(&of->cwd, buf, size);
    if (n != -ENOENT || !of->cwd_dir.mnt)
        return n;
    return proc_link_give_file(&of->cwd_dir, of->cwd_name, &of->cwd, buf, size);
}

int
proc_cwd_follow(const struct proc_ask *a, struct vnode *ret)
{
    return proc_link_follow(a, &a->of->cwd, ret);
}

/* /proc/<pid>/root: the root directory, which a process may have of its own */
int64_t
proc_root_link(const struct proc_ask *a, char *buf, size_t size)
{
    if (a->of->is_zombie || !a->of->as.root.mnt)
        return -ENOENT;
    return proc_link_give_dir(&a->of->as.root, buf, size);
}

int
proc_root_follow(const struct proc_ask *a, struct vnode *ret)
{
    return proc_link_follow(a, &a->of->as.root, ret);
}

/* /proc/<pid>/exe: the program; " (deleted)" if it is no longer there */
int64_t
proc_exe_link(const struct proc_ask *a, char *buf, size_t size)
{
    const struct task *t = a->of;

    if (t->is_zombie || !t->exe.mnt)
        return -ENOENT;
    return proc_link_give_file(&t->exe_dir, t->exe_name, &t->exe, buf, size);
}

int
proc_exe_follow(const struct proc_ask *a, struct vnode *ret)
{
    return proc_link_follow(a, &a->of->exe, ret);
}

/* --- descriptors */

/* Writes the text for a file without a path, such as "pipe:[12]". Kinds with a
 * colon of their own are shown as they are. */
static int64_t
proc_link_give_kind(const struct file *f, char *buf, size_t size)
{
    const char *kind = f->ops->kind ? f->ops->kind : "anon_inode";
    char text[80];

    int n = strchr(kind, ':') ? snprintf(text, sizeof text, "%s", kind)
                              : snprintf(text, sizeof text, "%s:[%llu]", kind,
                                         (unsigned long long)f->anon_ino);
    return proc_link_give(buf, size, text, (size_t)n);
}

/* A file that was opened by a path shows that path; others show what they
 * are. */
int64_t
proc_fd_link(const struct proc_ask *a, char *buf, size_t size)
{
    struct file *f = fd_find(a->of, a->fd);

    if (!f)
        return -ENOENT;
    if (!f->node.mnt)
        return proc_link_give_kind(f, buf, size);
    if (f->name && f->dir.mnt)
        return proc_link_give_file(&f->dir, f->name, &f->node, buf, size);
    return proc_link_give_dir(&f->node, buf, size);
}

/* -ENXIO tells the caller that the open file itself is the target. */
int
proc_fd_follow(const struct proc_ask *a, struct vnode *ret)
{
    const struct file *f = fd_find(a->of, a->fd);

    if (!f)
        return -ENOENT;
    if (!f->node.mnt)
        return -ENXIO;
    *ret = f->node;
    return 0;
}

/* /proc/<pid>/fdinfo/<fd>: position, flags in octal, mount and inode */
int
proc_fdinfo(const struct proc_ask *a, struct buf *b)
{
    struct file *f = fd_find(a->of, a->fd);
    struct attr attr;

    if (!f)
        return -ENOENT;
    int r = file_getattr(f, &attr);
    if (r < 0)
        return r;
    unsigned flags = f->flags;
    if (a->of->fds.v[a->fd].cloexec)
        flags |= O_CLOEXEC;
    int id = f->node.mnt ? proc_mount_id(a->kernel, f->node.mnt) : 0;
    buf_printf(b, "pos:\t%llu\nflags:\t0%o\nmnt_id:\t%d\nino:\t%llu\n",
               (unsigned long long)f->pos, flags, id,
               (unsigned long long)attr.ino);
    return 0;
}
