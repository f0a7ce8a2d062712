/* Open files of shells between two sandboxes.
 *
 * Problem: an open file is an object of its kernel, and a copy of the shell has
 * another kernel, maybe in another process and days later.
 *
 * Idea: a file is saved as its place (mount and inode) with its position. A
 * copy of the sandbox has the same inodes there, so opening the place again
 * gives the same file. This holds for devices without a state and for empty
 * FIFOs too. A terminal, or bytes that were in a FIFO, exist in the old kernel
 * only. Such a descriptor is closed, because programs would otherwise wait for
 * input that never comes, and the next command reports it. */
#include "lib/shell_files.h"

#include "base/vec.h"
#include "kernel/capture.h"
#include "kernel/fifo.h"
#include "kernel/kernel.h"
#include "kernel/outside.h"
#include "lib/shell.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysmacros.h>

enum { MEMORY_DEVICES = 1, NULL_DEVICE = 3 }; /* major, minor number */

/* The memory devices have no state: /dev/zero, /dev/full, /dev/urandom. */
static enum open_how
shell_files_how_device(const struct attr *a)
{
    if (major(a->rdev) != MEMORY_DEVICES)
        return OPEN_CLOSED;
    return minor(a->rdev) == NULL_DEVICE ? OPEN_NULL : OPEN_AGAIN;
}

enum open_how
shell_files_how(const struct attr *a)
{
    if (S_ISREG(a->mode))
        return a->nlink ? OPEN_AGAIN : OPEN_NULL;
    if (S_ISFIFO(a->mode))
        return a->nlink ? OPEN_AGAIN : OPEN_CLOSED;
    return S_ISCHR(a->mode) ? shell_files_how_device(a) : OPEN_NULL;
}

/* --- taking */

/* Returns the lowest descriptor of the same open file, so that duplicates stay
 * duplicates. */
static int
shell_files_first_of(const struct fd_table *fds, const struct file *f)
{
    size_t i = STDIO_FDS;

    while (fds->v[i].file != f)
        i++;
    return (int)i;
}

/* Describes one descriptor for a copy of the shell. Files without an inode
 * (pipes, sockets) become /dev/null there, and connections are reset. The bytes
 * in a FIFO cannot be copied, so a FIFO that has some is closed instead of
 * losing them silently. */
static struct open_file
shell_files_note(const struct fd_table *fds, int fd)
{
    struct file *f = fds->v[fd].file;
    int first = shell_files_first_of(fds, f);
    struct open_file o = {.fd = fd,
                          .same_as = first < fd ? first : 0,
                          .cloexec = fds->v[fd].cloexec,
                          .how = OPEN_NULL};
    struct attr a;

    if (outside_is_file(f)) {
        o.how = OPEN_RESET;
        return o;
    }
    if (!f->node.mnt || vnode_getattr(&f->node, &a) < 0)
        return o;
    o.how = shell_files_how(&a);
    bool has_bytes = S_ISFIFO(a.mode) && file_poll(f, NULL) & POLLIN;
    if (o.how == OPEN_CLOSED || has_bytes)
        return (struct open_file){.fd = fd, .how = OPEN_CLOSED};
    if (o.how == OPEN_NULL)
        return o;
    o.flags = f->flags;
    o.pos = f->has_pos ? f->pos : 0;
    o.at = inode_ref_of(&f->node);
    return o;
}

static bool
shell_files_is_open(const struct fd_table *fds, size_t fd)
{
    return fd < fds->cap && fds->v[fd].file;
}

static int
shell_files_compare(const void *a, const void *b)
{
    const struct open_file *x = a, *y = b;

    return x->fd - y->fd;
}

/* Descriptors that stayed closed are still saved until they are reported. */
int
shell_files_take(const struct shell *sh, OWN struct open_file **ret,
                 size_t *ret_n)
{
    const struct fd_table *fds = &sh->saved.fds;
    size_t n = 0, max = sh->n_closed;

    for (size_t i = STDIO_FDS; i < fds->cap; i++)
        max += fds->v[i].file != NULL;
    if (!max)
        return 0;
    struct open_file *v = calloc(max, sizeof *v);
    if (!v)
        return -ENOMEM;
    for (size_t i = STDIO_FDS; i < fds->cap; i++)
        if (fds->v[i].file)
            v[n++] = shell_files_note(fds, (int)i);
    for (size_t i = 0; i < sh->n_closed; i++)
        if (!shell_files_is_open(fds, (size_t)sh->closed[i]))
            v[n++] =
                (struct open_file){.fd = sh->closed[i], .how = OPEN_CLOSED};
    if (sh->n_closed)
        qsort(v, n, sizeof *v, shell_files_compare);
    *ret = v;
    *ret_n = n;
    return 0;
}

/* --- opening */

/* A writer is refused while there is no reader, so it gets one for the moment.
 * Neither waits, because no task opens them. */
static int
shell_files_open_fifo(struct kernel *k, const struct vnode *v, uint32_t flags,
                      OWN struct file **ret)
{
    CLEANUP(file_putp) struct file *reader = NULL;
    int r = 0;

    if ((flags & O_ACCMODE) == O_WRONLY)
        r = fifo_open(k, NULL, v, O_RDONLY, &reader);
    return r < 0 ? r : fifo_open(k, NULL, v, flags, ret);
}

/* The inode may be missing or have another type, because a loaded state is not
 * trusted. */
static int
shell_files_open_place(struct task *t, const struct open_file *o,
                       OWN struct file **ret)
{
    struct vnode v = inode_ref_node(t->kernel, &o->at);
    struct attr a;

    if (!v.mnt || vnode_getattr(&v, &a) < 0 ||
        shell_files_how(&a) != OPEN_AGAIN)
        return -ENOENT;
    struct fs *fs = v.mnt->fs;
    int r = S_ISFIFO(a.mode)
                ? shell_files_open_fifo(t->kernel, &v, o->flags, ret)
                : fs->ops->open(fs, &t->as, v.ino, o->flags, ret);
    if (r < 0)
        return r;
    if (!(*ret)->node.mnt)
        file_set_node(*ret, &v);
    if ((*ret)->has_pos)
        (*ret)->pos = o->pos;
    return 0;
}

/* -ENOENT: the descriptor stays closed. */
static int
shell_files_open_one(struct task *t, const struct open_file *o,
                     OWN struct file **ret)
{
    const struct at null = {.vfs = &t->kernel->vfs, .path = "/dev/null"};
    struct file *same = o->same_as ? fd_find(t, o->same_as) : NULL;

    if (same) {
        *ret = file_get(same);
        return 0;
    }
    if (o->how == OPEN_NULL)
        return vfs_open(&null, O_RDWR, 0, ret);
    if (o->how == OPEN_RESET)
        return outside_reset_file(t->kernel, ret);
    int r = o->how == OPEN_CLOSED ? -ENOENT : shell_files_open_place(t, o, ret);
    return r == -ENOMEM || r >= 0 ? r : -ENOENT;
}

static int
shell_files_add_closed(struct shell *sh, int fd)
{
    if (!VEC_ROOM(sh->closed, sh->n_closed))
        return -ENOMEM;
    sh->closed[sh->n_closed++] = fd;
    return 0;
}

/* A file that cannot be opened again stays closed, and the next command reports
 * its descriptor. */
int
shell_files_open(struct shell *sh, const struct open_file *v, size_t n)
{
    struct task *t = sh->res->task;
    int r = 0;

    for (size_t i = 0; r >= 0 && i < n; i++) {
        struct file *f;
        r = shell_files_open_one(t, &v[i], &f);
        if (r == 0)
            r = fd_replace(t, v[i].fd, f, v[i].cloexec);
        else if (r == -ENOENT)
            r = shell_files_add_closed(sh, v[i].fd);
    }
    return r < 0 ? r : 0;
}

/* --- reporting */

void
shell_files_report(struct shell *sh, struct capture *to)
{
    for (size_t i = 0; i < sh->n_closed; i++) {
        char line[96];
        int n = snprintf(line, sizeof line,
                         "descriptor %d is closed: its file could not be "
                         "opened again\n",
                         sh->closed[i]);
        capture_add(to, line, (size_t)n);
    }
    sh->n_closed = 0;
}
