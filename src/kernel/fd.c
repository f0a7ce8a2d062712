/* Descriptor tables.
 *
 * A table is an array that grows by doubling. `lowest` is a lower bound of the
 * lowest free descriptor, so that opening many files takes linear time in
 * total. */
#include "kernel/kernel.h"
#include "kernel/lock.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static struct file *
fd_in_table(const struct task *t, int fd)
{
    return fd >= 0 && (size_t)fd < t->fds.cap ? t->fds.v[fd].file : NULL;
}

/* A call that waits goes on with its file, also after another thread has closed
 * the descriptor. */
struct file *
fd_find(struct task *t, int fd)
{
    const struct thread *th = t->thread;

    if (th && th->call.file && th == t->kernel->running &&
        fd == (int)th->call.first_arg)
        return th->call.file;
    return fd_in_table(t, fd);
}

struct file *
fd_file(struct task *t, int fd)
{
    struct file *f = fd_find(t, fd);

    assert(f);
    return f;
}

static int
fd_grow(struct fd_table *table, size_t need)
{
    size_t cap = table->cap ? table->cap : 16;

    while (cap < need)
        cap *= 2;
    struct fd_entry *v = realloc(table->v, cap * sizeof *v);
    if (!v)
        return -ENOMEM;
    memset(v + table->cap, 0, (cap - table->cap) * sizeof *v);
    table->v = v;
    table->cap = cap;
    return 0;
}

/* The rlimit of the process decides. If it is as high as the sandbox allows,
 * the limit of the sandbox is reported as hit. */
int
fd_reserve(struct task *t, int min)
{
    struct fd_table *table = &t->fds;
    size_t max = t->rlimits[RLIMIT_NOFILE].cur;
    size_t fd = (size_t)min > table->lowest ? (size_t)min : table->lowest;

    while (fd < table->cap && table->v[fd].file)
        fd++;
    if ((size_t)min <= table->lowest)
        table->lowest = fd;
    if (fd >= max) {
        if (fd >= t->kernel->limits.max[LIMIT_fds])
            t->kernel->limits.was_hit[LIMIT_fds] = true;
        return -EMFILE;
    }
    int r = fd < table->cap ? 0 : fd_grow(table, fd + 1);
    return r < 0 ? r : (int)fd;
}

int
fd_install(struct task *t, OWN struct file *f, int min, bool cloexec)
{
    int fd = fd_reserve(t, min);

    if (fd < 0)
        file_put(f);
    else
        t->fds.v[fd] = (struct fd_entry){f, cloexec};
    return fd;
}

/* Both or neither: a guest must not be left with one end of a pipe. */
int
fd_install_pair(struct task *t, OWN struct file *a, OWN struct file *b,
                bool cloexec, int32_t ret[2])
{
    int fd = fd_install(t, a, 0, cloexec);

    if (fd < 0) {
        file_put(b);
        return fd;
    }
    int fd2 = fd_install(t, b, 0, cloexec);
    if (fd2 < 0) {
        (void)fd_close(t, fd);
        return fd2;
    }
    ret[0] = fd;
    ret[1] = fd2;
    return 0;
}

/* The old file is closed after memory for the new descriptor is certain. */
int
fd_replace(struct task *t, int fd, OWN struct file *f, bool cloexec)
{
    int r = 0;

    if ((size_t)fd >= t->fds.cap)
        r = fd_grow(&t->fds, (size_t)fd + 1);
    if (r < 0) {
        file_put(f);
        return r;
    }
    (void)fd_close(t, fd);
    t->fds.v[fd] = (struct fd_entry){f, cloexec};
    return fd;
}

/* The descriptor is free before the file's own functions run: they may wake
 * others and use the table. The file is that of the table, never that of the
 * running call: a process may end in a call whose descriptor another thread has
 * given to another file. */
int
fd_close(struct task *t, int fd)
{
    struct file *f = fd_in_table(t, fd);

    if (!f)
        return -EBADF;
    t->fds.v[fd] = (struct fd_entry){0};
    if ((size_t)fd < t->fds.lowest)
        t->fds.lowest = (size_t)fd;
    if (t->kernel->locks)
        locks_close(t, f);
    if (f->ops->close)
        f->ops->close(f, t);
    file_put(f);
    return 0;
}

void
fd_close_pair(struct task *t, const int32_t fds[2])
{
    (void)fd_close(t, fds[0]);
    (void)fd_close(t, fds[1]);
}

/* The copy has all descriptors, with the same close-on-exec flags: fork keeps
 * them. */
int
fd_table_copy(struct fd_table *to, const struct fd_table *from)
{
    *to = (struct fd_table){.cap = from->cap, .lowest = from->lowest};
    to->v = malloc((from->cap ? from->cap : 1) * sizeof *to->v);
    if (!to->v) {
        to->cap = 0;
        return -ENOMEM;
    }
    for (size_t i = 0; i < from->cap; i++) {
        to->v[i] = from->v[i];
        if (to->v[i].file)
            (void)file_get(to->v[i].file);
    }
    return 0;
}

void
fd_close_all(struct task *t, bool only_cloexec)
{
    for (size_t i = 0; i < t->fds.cap; i++)
        if (t->fds.v[i].file && (!only_cloexec || t->fds.v[i].cloexec))
            (void)fd_close(t, (int)i);
    if (only_cloexec)
        return;
    free(t->fds.v);
    t->fds = (struct fd_table){0};
}
