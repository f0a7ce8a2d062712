/* /proc and /sys: from the table to a file system.
 *
 * An inode number says everything: the process (0: the system), the row, in fd/
 * and fdinfo/ the descriptor, and in task/ the thread. Nothing is stored, and
 * an inode number of a process that has ended leads nowhere. */
#include "kernel/proc/procfs.h"

#include "kernel/proc/procfs_impl.h"
#include "kernel/vfs/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* CONTENT_MAX bounds the memory of one open file. NUMBERS_FROM separates the
 * cookies of numbered entries from those of rows, of which there are fewer. */
enum { CONTENT_MAX = 1 << 20, NUMBERS_FROM = 1000 };

/* The parts of an inode number. */
struct place {
    int32_t pid; /* 0: the system */
    size_t row;  /* in proc_rows */
    int fd;      /* in fd/ and fdinfo/; the thread in task/; otherwise 0 */
};

/* From the highest bits to the lowest: 24 bits for the process, 8 for the row,
 * 32 for the descriptor. Row 0 does not exist, so no number is 0. */
static uint64_t
procfs_ino_of(struct place p)
{
    return (uint64_t)p.pid << 40 | (uint64_t)p.row << 32 | (uint32_t)p.fd;
}

/* Returns true for rows that describe a process. */
static bool
procfs_needs_task(const struct proc_row *row)
{
    return row->is == DIR_PID || (row->in >= DIR_PID && row->in <= DIR_TID);
}

/* Splits an inode number, and finds the process. -ENOENT if the process or the
 * descriptor is gone. Any number may arrive here: a saved state can name one.
 */
static int
procfs_decode(struct fs *fs, uint64_t ino, struct place *p, struct proc_ask *a)
{
    p->pid = (int32_t)(ino >> 40);
    p->row = ino >> 32 & 0xff;
    p->fd = (int)(ino & INT32_MAX);
    if (p->row < PROC_ROOT || p->row >= proc_row_count)
        return -ENOENT;
    struct kernel *k = kernel_of(fs->vfs);
    *a = (struct proc_ask){
        .procfs = (struct procfs *)fs, .kernel = k, .fd = p->fd};
    a->of = p->pid ? task_find(k, p->pid) : NULL;
    if (!a->of && (p->pid || procfs_needs_task(&proc_rows[p->row])))
        return -ENOENT;
    if (p->row == PROC_TID || proc_rows[p->row].in == DIR_TID) {
        a->tid = p->fd;
        a->thread = thread_find(a->of, p->fd);
        return a->thread || p->fd == p->pid ? 0 : -ENOENT;
    }
    bool is_fd = p->row == PROC_FD || p->row == PROC_FDINFO;
    return is_fd && !fd_find(a->of, p->fd) ? -ENOENT : 0;
}

/* Several rows may be the same directory; the first one serves as its
 * parent. */
static size_t
procfs_row_of_dir(enum proc_dir dir)
{
    for (size_t i = PROC_ROOT; i < proc_row_count; i++)
        if (proc_rows[i].is == dir)
            return i;
    return PROC_ROOT;
}

/* --- lookup */

/* Numbers have no leading zeros, so each entry has one name. */
static int
procfs_parse(struct name name)
{
    int n = 0;

    if (name.len > 6 || (name.s[0] == '0' && name.len > 1))
        return -1;
    for (size_t i = 0; i < name.len; i++) {
        if (name.s[i] < '0' || name.s[i] > '9')
            return -1;
        n = n * 10 + (name.s[i] - '0');
    }
    return n;
}

/* Finds entry n of a directory with numbered entries. Returns false if there is
 * none. */
static bool
procfs_find_number(const struct proc_ask *a, const struct place *dir, int n,
                   struct place *ret)
{
    switch (proc_rows[dir->row].is) {
    case DIR_ROOT:
        *ret = (struct place){n, PROC_PID, 0};
        return n > 0 && task_find(a->kernel, n);
    case DIR_TASK:
        *ret = (struct place){dir->pid, PROC_TID, n};
        return n == dir->pid || thread_find(a->of, n);
    case DIR_FD:
        *ret = (struct place){dir->pid, PROC_FD, n};
        return fd_find(a->of, n);
    case DIR_FDINFO:
        *ret = (struct place){dir->pid, PROC_FDINFO, n};
        return fd_find(a->of, n);
    default:
        return false;
    }
}

/* A name that is a number is a process, a thread or a descriptor; no row has
 * such a name. */
static int
procfs_lookup(struct fs *fs, uint64_t dir, struct name name, uint64_t *ret_ino)
{
    struct place at, found;
    struct proc_ask a;

    int r = procfs_decode(fs, dir, &at, &a);
    if (r < 0)
        return r;
    int n = procfs_parse(name);
    if (n >= 0) {
        if (!procfs_find_number(&a, &at, n, &found))
            return -ENOENT;
        *ret_ino = procfs_ino_of(found);
        return 0;
    }
    for (size_t i = PROC_ROOT; i < proc_row_count; i++) {
        const struct proc_row *row = &proc_rows[i];
        if (row->in != proc_rows[at.row].is || !row->name ||
            strlen(row->name) != name.len ||
            memcmp(row->name, name.s, name.len) != 0)
            continue;
        *ret_ino = procfs_ino_of((struct place){at.pid, i, at.fd});
        return 0;
    }
    return -ENOENT;
}

/* Directories of the system have no process, except in paths through
 * /proc/<pid>. */
static int
procfs_parent(struct fs *fs, uint64_t dir, uint64_t *ret_ino)
{
    struct place at;
    struct proc_ask a;

    int r = procfs_decode(fs, dir, &at, &a);
    if (r < 0)
        return r;
    enum proc_dir up = proc_rows[at.row].in;
    if (up == DIR_NONE) {
        *ret_ino = dir;
        return 0;
    }
    *ret_ino = procfs_ino_of((struct place){up == DIR_ROOT ? 0 : at.pid,
                                            procfs_row_of_dir(up),
                                            up == DIR_TID ? at.fd : 0});
    return 0;
}

/* --- attributes */

/* Returns the mode of a link in fd/, which shows how the file may be used. */
static uint32_t
procfs_fd_mode(const struct file *f)
{
    uint32_t mode = S_IFLNK | S_IXUSR;

    if (file_is_readable(f))
        mode |= S_IRUSR;
    if (file_is_writable(f))
        mode |= S_IWUSR;
    return mode;
}

/* Files of a process belong to its user, and have the time at which it
 * started. */
static int
procfs_getattr(struct fs *fs, uint64_t ino, struct attr *ret)
{
    struct place at;
    struct proc_ask a;

    int r = procfs_decode(fs, ino, &at, &a);
    if (r < 0)
        return r;
    const struct proc_row *row = &proc_rows[at.row];
    int64_t now = clock_real_ns(&kernel_of(fs->vfs)->clock);
    *ret = (struct attr){.ino = ino,
                         .mode = row->mode,
                         .nlink = S_ISDIR(row->mode) ? 2 : 1,
                         .blksize = 4096};
    if (row->is == DIR_FD || row->is == DIR_FDINFO)
        ret->mode = S_IFDIR | 0500;
    if (at.row == PROC_FD) {
        ret->mode = procfs_fd_mode(fd_find(a.of, at.fd));
        ret->size = 64;
    }
    if (a.of) {
        ret->uid = a.of->as.cred.uid;
        ret->gid = a.of->as.cred.gid;
        now += a.of->start_ns - clock_mono_ns(&kernel_of(fs->vfs)->clock);
    }
    ret->atime_ns = ret->mtime_ns = ret->ctime_ns = now;
    return 0;
}

/* --- links */

/* Returns the row of an inode, and the subject to pass to it. NULL and *err. */
static const struct proc_row *
procfs_row(struct fs *fs, uint64_t ino, struct proc_ask *ret, int *err)
{
    struct place at;

    *err = procfs_decode(fs, ino, &at, ret);
    return *err < 0 ? NULL : &proc_rows[at.row];
}

/* The reader matters for /proc/self only. */
static int64_t
procfs_readlink(struct fs *fs, const struct caller *as, uint64_t ino, char *buf,
                size_t size)
{
    struct proc_ask a;
    int r;
    const struct proc_row *row = procfs_row(fs, ino, &a, &r);

    if (!row)
        return r;
    a.reader = task_of(as);
    return row->link ? row->link(&a, buf, size) : -EINVAL;
}

/* Opening a magic link reopens the object, not the path in its text. */
static int
procfs_follow(struct fs *fs, uint64_t ino, struct vnode *ret,
              struct file **ret_file)
{
    struct proc_ask a;
    int r;
    const struct proc_row *row = procfs_row(fs, ino, &a, &r);

    if (!row)
        return r;
    r = row->follow ? row->follow(&a, ret) : -EINVAL;
    if (r == -ENXIO)
        *ret_file = fd_find(a.of, a.fd);
    return r;
}

/* --- reading directories */

/* An upper bound: numbers without an entry are skipped. */
static int
procfs_highest_thread(const struct task *t)
{
    int highest = t->pid;

    TASK_FOR_EACH_THREAD(th, t)
        highest = th->tid > highest ? th->tid : highest;
    return highest;
}

/* Returns the end of the numbers that a directory may have, or -1 if it has no
 * numbered entries. After the numbers of processes have wrapped, any number is
 * possible. */
static int
procfs_highest(const struct proc_ask *a, const struct place *dir)
{
    switch (proc_rows[dir->row].is) {
    case DIR_ROOT:
        return a->kernel->has_wrapped_pids ? PID_MAX : a->kernel->last_pid;
    case DIR_TASK:
        return a->of ? procfs_highest_thread(a->of) : -1;
    case DIR_FD:
    case DIR_FDINFO:
        return a->of ? (int)a->of->fds.cap : -1;
    default:
        return -1;
    }
}

/* Emits the numbered entries from `from` on. The cookie after entry n is
 * NUMBERS_FROM + n + 1, beyond those of rows. */
static int
procfs_readdir_numbers(const struct proc_ask *a, const struct place *dir,
                       int from, struct dir_emit *emit)
{
    int max = procfs_highest(a, dir);
    struct place p;
    char name[16];

    for (int n = from; n <= max; n++) {
        if (!procfs_find_number(a, dir, n, &p))
            continue;
        int len = snprintf(name, sizeof name, "%d", n);
        if (!emit->entry(emit, name, (size_t)len, procfs_ino_of(p),
                         IFTODT(proc_rows[p.row].mode),
                         NUMBERS_FROM + (uint64_t)n + 1))
            return 0;
    }
    return 0;
}

/* Named entries first, then numbered ones. Their cookies do not overlap. */
static int
procfs_readdir(struct fs *fs, uint64_t ino, uint64_t cookie,
               struct dir_emit *emit)
{
    struct place at;
    struct proc_ask a;

    int r = procfs_decode(fs, ino, &at, &a);
    if (r < 0)
        return r;
    if (cookie > NUMBERS_FROM + INT32_MAX / 2)
        return 0;
    for (size_t i = cookie + PROC_ROOT; i < proc_row_count; i++) {
        const struct proc_row *row = &proc_rows[i];
        if (row->in != proc_rows[at.row].is || !row->name)
            continue;
        if (!emit->entry(emit, row->name, strlen(row->name),
                         procfs_ino_of((struct place){at.pid, i, at.fd}),
                         IFTODT(row->mode), i))
            return 0;
    }
    int from = cookie > NUMBERS_FROM ? (int)(cookie - NUMBERS_FROM) : 0;
    return procfs_readdir_numbers(&a, &at, from, emit);
}

/* --- open files */

/* The content is made when the file is opened, and again when it is read
 * from the start again: ps and top keep files open and rewind them. */
struct content {
    struct fs *fs;
    uint64_t ino;
    int64_t start_ns; /* of the process: its number may be used again */
    bool is_made, is_fresh;
    struct buf buf;
    size_t charged; /* of buf, to the memory limit */
};

/* The content counts as memory while the file is open. */
static int
procfs_charge(struct content *c)
{
    struct limits *l = &kernel_of(c->fs->vfs)->limits;

    if (!limits_charge(l, LIMIT_memory, c->buf.cap)) {
        buf_fini(&c->buf);
        return -ENOMEM;
    }
    c->charged = c->buf.cap;
    return 0;
}

/* Frees the content and its charge. */
static void
procfs_content_drop(struct content *c)
{
    buf_fini(&c->buf);
    limits_uncharge(&kernel_of(c->fs->vfs)->limits, LIMIT_memory, c->charged);
    c->charged = 0;
}

/* Makes the content again, for the same process: its number may belong to
 * another one by now. */
static int
procfs_generate(struct content *c)
{
    struct place at;
    struct proc_ask a;

    int r = procfs_decode(c->fs, c->ino, &at, &a);
    if (r == 0 && a.of && c->is_made && a.of->start_ns != c->start_ns)
        r = -ENOENT;
    if (r < 0)
        return r;
    const struct proc_row *row = &proc_rows[at.row];
    if (!row->text && !row->gen)
        return -ELOOP;
    c->start_ns = a.of ? a.of->start_ns : 0;
    c->is_fresh = !c->is_made && !a.of; /* a process may end until the read */
    c->is_made = true;
    procfs_content_drop(c);
    if (row->text)
        buf_puts(&c->buf, row->text);
    else
        r = row->gen(&a, &c->buf);
    if (r == 0)
        r = c->buf.error;
    return r < 0 ? r : procfs_charge(c);
}

/* A process that has ended since is reported as ESRCH, as on Linux. */
static int64_t
procfs_content_read(struct file *f, struct task *t, void *buf, size_t len,
                    uint64_t *pos)
{
    struct content *c = f->obj;

    (void)t;
    if (*pos == 0 && !c->is_fresh) {
        int r = procfs_generate(c);
        if (r < 0)
            return r == -ENOENT ? -ESRCH : r;
    }
    c->is_fresh = false;
    if (*pos >= c->buf.len)
        return 0;
    size_t left = c->buf.len - (size_t)*pos;
    size_t n = left < len ? left : len;
    memcpy(buf, c->buf.p + *pos, n);
    *pos += n;
    return (int64_t)n;
}

/* Also for content that has no file yet. */
static void
procfs_content_free(OWN struct content *c)
{
    procfs_content_drop(c);
    free(c);
}

static void
procfs_content_release(struct file *f)
{
    procfs_content_free(f->obj);
}

static const struct file_ops content_ops = {
    .read = procfs_content_read,
    .seek = file_seek_endless,
    .release = procfs_content_release,
};

/* The content is made when the file is opened, so that errors are found
 * there. */
static int
procfs_open(struct fs *fs, const struct caller *as, uint64_t ino,
            uint32_t flags, OWN struct file **ret)
{
    (void)as;
    if ((flags & O_ACCMODE) != O_RDONLY)
        return -EACCES;
    struct content *c = malloc(sizeof *c);
    if (!c)
        return -ENOMEM;
    *c = (struct content){.fs = fs, .ino = ino};
    buf_init(&c->buf, CONTENT_MAX);
    int r = procfs_generate(c);
    if (r < 0) {
        procfs_content_free(c);
        return r;
    }
    r = file_new(fs->vfs, &content_ops, c, flags, ret);
    if (r == 0)
        (*ret)->has_pos = true;
    return r;
}

/* --- the file system */

/* Linux refuses to cut a file of /proc with EACCES, like opening it for
 * writing, and other changes with EPERM. */
static int
procfs_setattr(struct fs *fs, uint64_t ino, const struct attr *a, unsigned what)
{
    (void)fs;
    (void)ino;
    (void)a;
    return what & ATTR_SIZE ? -EACCES : -EPERM;
}

/* The types are the magic numbers of Linux, by which programs recognise /proc
 * and /sys. */
static int
procfs_statfs(struct fs *fs, struct fs_stat *ret)
{
    (void)fs;
    *ret = (struct fs_stat){.type = 0x9fa0, .bsize = 4096};
    return 0;
}

static void
procfs_free(OWN struct fs *fs)
{
    free(fs);
}

static int
procfs_sysfs_statfs(struct fs *fs, struct fs_stat *ret)
{
    (void)fs;
    *ret = (struct fs_stat){.type = 0x62656572, .bsize = 4096};
    return 0;
}

/* The operations of both file systems: they work on rows, whatever the root. */
#define TABLE_OPS                                                            \
    .lookup = procfs_lookup, .parent = procfs_parent,                        \
    .getattr = procfs_getattr, .readlink = procfs_readlink,                  \
    .follow = procfs_follow, .readdir = procfs_readdir, .open = procfs_open, \
    .free = procfs_free

static const struct fs_ops procfs_ops = {
    .name = "proc", TABLE_OPS, .statfs = procfs_statfs};
static const struct fs_ops sysfs_ops = {
    .name = "sysfs", TABLE_OPS, .statfs = procfs_sysfs_statfs};
static const struct fs_change_ops procfs_change_ops = {
    .setattr = procfs_setattr,
};

/* The process of a folder /proc/<pid>, or 0. The kernel asks through a pointer
 * (kernel->proc_pid), because it does not know this layer: pidfd_send_signal
 * accepts such a folder in place of a pidfd. */
static int
procfs_pid(const struct vnode *v)
{
    bool is_process = v->mnt && v->mnt->fs->ops == &procfs_ops &&
                      (v->ino >> 32 & 0xff) == PROC_PID;

    return is_process ? (int)(v->ino >> 40) : 0;
}

/* /proc and /sys share everything but their root and their names. */
static int
procfs_new_table(struct kernel *k, const struct fs_ops *ops, size_t root,
                 OWN struct fs **ret)
{
    struct procfs *p = calloc(1, sizeof *p);

    if (!p)
        return -ENOMEM;
    p->fs = (struct fs){.ops = ops,
                        .change = &procfs_change_ops,
                        .vfs = &k->vfs,
                        .dev = ++k->vfs.next_dev,
                        .root = procfs_ino_of((struct place){0, root, 0})};
    *ret = &p->fs;
    return 0;
}

int
procfs_new(struct kernel *k, OWN struct fs **ret)
{
    int r = procfs_new_table(k, &procfs_ops, PROC_ROOT, ret);

    if (r == 0) {
        struct procfs *p = (struct procfs *)*ret;
        rng_fill(&k->rng, p->boot_id, sizeof p->boot_id);
        k->proc_pid = procfs_pid;
    }
    return r;
}

int
sysfs_new(struct kernel *k, OWN struct fs **ret)
{
    return procfs_new_table(k, &sysfs_ops, SYSFS_ROOT, ret);
}
