/* Rights of descriptors.
 *
 * WASI programs have capabilities: a descriptor may only be used as its rights
 * say. A file that is opened through a directory has at most the rights that
 * the directory passes on. A descriptor that WASI has not opened itself, such
 * as an inherited one, has all rights of its kind. */
#include "kernel/wasi/wasi_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    RIGHTS_STREAM = RIGHT_FD_READ | RIGHT_FD_FDSTAT_SET_FLAGS | RIGHT_FD_WRITE |
                    RIGHT_FD_FILESTAT_GET | RIGHT_POLL_FD_READWRITE,
    RIGHTS_FILE = RIGHTS_STREAM | RIGHT_FD_DATASYNC | RIGHT_FD_SEEK |
                  RIGHT_FD_SYNC | RIGHT_FD_TELL | RIGHT_FD_ADVISE |
                  RIGHT_FD_ALLOCATE | RIGHT_FD_FILESTAT_SET_SIZE |
                  RIGHT_FD_FILESTAT_SET_TIMES,
    RIGHTS_DIRECTORY = RIGHT_FD_DATASYNC | RIGHT_FD_FDSTAT_SET_FLAGS |
                       RIGHT_FD_SYNC | RIGHT_PATH_CREATE_DIRECTORY |
                       RIGHT_PATH_CREATE_FILE | RIGHT_PATH_LINK_SOURCE |
                       RIGHT_PATH_LINK_TARGET | RIGHT_PATH_OPEN |
                       RIGHT_FD_READDIR | RIGHT_PATH_READLINK |
                       RIGHT_PATH_RENAME_SOURCE | RIGHT_PATH_RENAME_TARGET |
                       RIGHT_PATH_FILESTAT_GET | RIGHT_PATH_FILESTAT_SET_SIZE |
                       RIGHT_PATH_FILESTAT_SET_TIMES | RIGHT_FD_FILESTAT_GET |
                       RIGHT_FD_FILESTAT_SET_TIMES | RIGHT_PATH_SYMLINK |
                       RIGHT_PATH_REMOVE_DIRECTORY | RIGHT_PATH_UNLINK_FILE,
    RIGHTS_SOCKET = RIGHTS_STREAM | RIGHT_SOCK_SHUTDOWN | RIGHT_SOCK_ACCEPT,
    RIGHTS_OF_WRITERS =
        RIGHT_FD_WRITE | RIGHT_FD_ALLOCATE | RIGHT_FD_FILESTAT_SET_SIZE,
};

/* A right that the open file could not honour is left out, so that programs can
 * rely on what they are shown. */
struct rights
rights_of_kind(struct file *f)
{
    struct attr a = {0};
    struct rights r = {RIGHTS_STREAM, 0};

    (void)file_getattr(f, &a);
    if (S_ISDIR(a.mode))
        return (struct rights){RIGHTS_DIRECTORY, RIGHTS_ALL};
    if (S_ISSOCK(a.mode))
        return (struct rights){RIGHTS_SOCKET, RIGHTS_ALL};
    /* A terminal is a character device that cannot seek: isatty(3). */
    if (f->has_pos)
        r.base = RIGHTS_FILE;
    if (!file_is_readable(f))
        r.base &= ~(uint64_t)RIGHT_FD_READ;
    if (!file_is_writable(f))
        r.base &= ~(uint64_t)RIGHTS_OF_WRITERS;
    return r;
}

/* Returns the stored rights of a descriptor, or NULL if it refers to another
 * file by now. */
static struct wasi_fd *
rights_find(struct task *t, int fd)
{
    struct wasi *w = wasi_of(t);
    struct file *f = fd_find(t, fd);

    if (!f || (size_t)fd >= w->cap || w->fds[fd].file != f)
        return NULL;
    return &w->fds[fd];
}

struct rights
rights_get(struct task *t, int fd, struct file *f)
{
    const struct wasi_fd *d = rights_find(t, fd);

    return d ? d->rights : rights_of_kind(f);
}

/* The table grows like that of descriptors, and stays. */
static int
rights_grow(struct wasi *w, size_t need)
{
    size_t cap = w->cap ? w->cap : 16;

    while (cap < need)
        cap *= 2;
    struct wasi_fd *fds = realloc(w->fds, cap * sizeof *fds);
    if (!fds)
        return -ENOMEM;
    memset(fds + w->cap, 0, (cap - w->cap) * sizeof *fds);
    w->fds = fds;
    w->cap = cap;
    return 0;
}

/* The file is stored with the rights, so that a reused number does not inherit
 * them. */
int
rights_set(struct task *t, int fd, const struct rights *r, OWN char *preopen)
{
    struct wasi *w = wasi_of(t);

    if ((size_t)fd >= w->cap && rights_grow(w, (size_t)fd + 1) < 0) {
        free(preopen);
        return -ENOMEM;
    }
    free(w->fds[fd].preopen);
    w->fds[fd] = (struct wasi_fd){fd_find(t, fd), *r, preopen};
    return 0;
}

const char *
rights_preopen(struct task *t, int fd)
{
    const struct wasi_fd *d = rights_find(t, fd);

    return d ? d->preopen : NULL;
}

void
rights_drop(struct task *t, int fd)
{
    struct wasi *w = wasi_of(t);

    if (fd < 0 || (size_t)fd >= w->cap)
        return;
    free(w->fds[fd].preopen);
    w->fds[fd] = (struct wasi_fd){0};
}

/* The descriptor is checked before the rights: a closed one is EBADF in any
 * case. */
int
wasi_file(struct task *t, uint64_t fd, uint64_t need, struct file **ret)
{
    struct file *f = fd_find(t, (int)fd);

    if (!f)
        return -EBADF;
    if (need & ~rights_get(t, (int)fd, f).base)
        return -ENOTCAPABLE;
    *ret = f;
    return 0;
}

/* The rights are the smaller ones of two sets: those requested, and those of
 * the kind. */
int
wasi_install(struct task *t, OWN struct file *f, const struct rights *max)
{
    struct rights r = rights_of_kind(f);

    r.base &= max->base;
    r.inheriting &= max->inheriting;
    int fd = fd_install(t, f, 0, false);
    if (fd < 0)
        return fd;
    int err = rights_set(t, fd, &r, NULL);
    if (err < 0)
        (void)fd_close(t, fd);
    return err < 0 ? err : fd;
}
