/* The directories that a program starts with.
 *
 * Descriptor 3 is "/". If the program starts elsewhere, 4 is ".", the working
 * directory, and each directory of "/" follows under its own name. These are
 * needed because libcs drop the leading slash before they search for the
 * preopen with the longest matching name. Without them, absolute paths would be
 * resolved in the working directory. A libc stops at the first descriptor that
 * is not a preopen, so inherited descriptors in these positions move to higher
 * numbers. */
#include "kernel/vfs/dirfile.h"
#include "kernel/wasi/wasi_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { PREOPEN_FIRST = 3, PREOPENS_MAX = 64 };

/* Moves the file of descriptor `fd` to a higher number, so that `fd` is
 * free. */
static int
preopen_move_away(struct task *t, int fd)
{
    struct file *f = fd_find(t, fd);

    if (!f)
        return 0;
    int to = fd_install(t, file_get(f), fd + 1, t->fds.v[fd].cloexec);
    return to < 0 ? to : fd_close(t, fd);
}

/* The number must be exactly `fd`: libcs count from 3 on. */
static int
preopen_install(struct task *t, int fd, OWN struct file *f, const char *name)
{
    struct rights all = rights_of_kind(f);
    char *copy = strdup(name);
    int r = copy ? preopen_move_away(t, fd) : -ENOMEM;

    if (r < 0) {
        free(copy);
        file_put(f);
        return r;
    }
    r = fd_install(t, f, fd, true);
    if (r < 0) {
        free(copy);
        return r;
    }
    return rights_set(t, fd, &all, copy);
}

/* Opens a directory as descriptor fd. Returns 1, or 0 if it cannot be opened:
 * the program runs without it. */
static int
preopen(struct task *t, int fd, const char *path, const char *name)
{
    const struct at at = task_at(t, &t->cwd, path);
    struct file *f;

    int r = vfs_open(&at, O_DIRECTORY, 0, &f);
    if (r < 0)
        return r == -ENOMEM || r == -ENFILE ? r : 0;
    r = preopen_install(t, fd, f, name);
    return r < 0 ? r : 1;
}

/* The walk over the entries of "/". */
struct top {
    struct dir_emit emit;
    struct task *t;
    int next; /* descriptor */
    int err;
};

/* Entries that are no directories fail to open, and are skipped. */
static bool
preopen_entry(struct dir_emit *e, const char *name, size_t len, uint64_t ino,
              unsigned dtype, uint64_t cookie)
{
    struct top *top = CONTAINER_OF(e, struct top, emit);
    char path[NAME_BYTES_MAX + 2] = "/";

    (void)ino, (void)dtype, (void)cookie;
    if (name[0] == '.' && (len == 1 || (len == 2 && name[1] == '.')))
        return true;
    memcpy(path + 1, name, len);
    path[len + 1] = 0;
    int r = preopen(top->t, top->next, path, path);
    top->next += r > 0;
    top->err = r < 0 ? r : 0;
    return r >= 0 && top->next < PREOPEN_FIRST + PREOPENS_MAX;
}

/* Each top-level directory under its own name: see the head of the file. */
static int
preopen_top(struct task *t, int next)
{
    struct top top = {.emit.entry = preopen_entry, .t = t, .next = next};
    struct file *root = fd_find(t, PREOPEN_FIRST);

    if (!root)
        return 0;
    int r = dirfile_read(root, &top.emit);
    return r < 0 ? r : top.err;
}

/* A program that starts in the root needs one directory only. */
static int
preopen_each(struct task *t)
{
    int next = PREOPEN_FIRST;

    int r = preopen(t, next, "/", "/");
    if (r < 0 || vnode_is_same(&t->cwd, &t->as.root))
        return r < 0 ? r : 0;
    next += r;
    r = preopen(t, next, ".", ".");
    return r < 0 ? r : preopen_top(t, next + r);
}

/* On failure no preopen stays, since the next call tries again. */
int
preopen_all(struct task *t)
{
    int r = preopen_each(t);

    for (size_t i = 0; r < 0 && i < wasi_of(t)->cap; i++)
        if (wasi_of(t)->fds[i].preopen)
            (void)fd_close(t, (int)i);
    return r;
}
