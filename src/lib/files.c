/* The files of a sandbox, from outside: contents.
 *
 * All file functions act as root inside; files that they create belong to the
 * user of programs. Nothing runs in the sandbox meanwhile. A file is replaced
 * by writing a temporary one and renaming it, so that an error or a reader
 * never sees a part of it. */
#include "lib/files.h"

#include "kernel/vfs/file.h"
#include "kernel/vfs/tmpfs.h"
#include "lib/error.h"
#include "lib/sandbox.h"
#include "lib/shell.h"
#include "lib/sized.h"
#include "lib/user.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { READ_STEP_BYTES = 1 << 16, TEMP_TRIES = 1000, MODE_BITS = 07777 };

/* --- shared by all file functions */

/* A file function may run between time slices of a command (wsand_beside). The
 * limits that the command has hit are kept aside meanwhile, so that file_end
 * sees only those of the function itself. */
static void
files_put_hits_aside(struct wsand_sandbox *sb)
{
    bool *hit = sb->kernel->limits.was_hit;

    for (int i = 0; i < LIMIT_COUNT; i++)
        sb->was_hit[i] |= hit[i];
    memset(hit, 0, sizeof sb->was_hit);
}

static void
files_bring_hits_back(struct wsand_sandbox *sb)
{
    memcpy(sb->kernel->limits.was_hit, sb->was_hit, sizeof sb->was_hit);
    memset(sb->was_hit, 0, sizeof sb->was_hit);
}

/* Sets the folder that a relative path starts from. */
static int
files_set_base(struct wsand_sandbox *sb, const char *path, struct file_at *f)
{
    size_t slashes = *path == '~' ? strspn(path + 1, "/") : 0;
    int r = 0;

    f->at.path = path;
    if (*path == '~' && (slashes || !path[1])) {
        f->at.path = path[1 + slashes] ? path + 1 + slashes : user_of(sb)->home;
        r = sandbox_find_folder(sb, user_of(sb)->home, &f->base);
    } else if (*path != '/') {
        r = shell_folder(sb, &f->base);
    }
    if (f->base.mnt)
        f->at.base = &f->base;
    return r;
}

/* Every file function begins with file_begin and ends with file_end. */
int
file_begin(struct wsand_sandbox *sb, const char *path, struct file_at *ret,
           struct wsand_error *err)
{
    *ret = (struct file_at){
        .at = {.vfs = &sb->kernel->vfs, .owner = &sb->kernel->user}};
    int r = strlen(path) < PATH_BYTES_MAX ? files_set_base(sb, path, ret)
                                          : -ENAMETOOLONG;
    if (r < 0)
        return error_path(err, -r, path);
    files_put_hits_aside(sb);
    return 0;
}

/* A full file system is reported by the limit that was hit, with its value.
 * Other errors name the path. */
int
file_end(struct wsand_sandbox *sb, const char *path, int r,
         struct wsand_error *err)
{
    const struct limits *l = &sb->kernel->limits;
    bool is_full = r == -ENOSPC && l->was_hit[LIMIT_files];
    bool is_large = r == -ENOSPC && l->was_hit[LIMIT_file_bytes];

    files_bring_hits_back(sb);
    if (r >= 0)
        return 0;
    if (is_full)
        return error_limit(err, "file count", l->max[LIMIT_files]);
    if (is_large)
        return error_limit(err, "file bytes", l->max[LIMIT_file_bytes]);
    return error_path(err, -r, path);
}

/* Only regular files have contents for the host: reading a terminal or a FIFO
 * would have to wait. */
static int
files_check_regular(const struct vnode *v, struct attr *ret)
{
    int r = vnode_getattr(v, ret);

    if (r < 0)
        return r;
    if (S_ISDIR(ret->mode))
        return -EISDIR;
    return S_ISREG(ret->mode) ? 0 : -EINVAL;
}

/* --- reading */

/* The type is checked before the file is opened, because opening a FIFO or a
 * device may have effects. */
static int
files_open_for_reading(const struct at *at, OWN struct file **ret,
                       uint64_t *ret_size)
{
    struct attr a;
    struct walk w;

    int r = path_walk(at, 0, &w);
    if (r == 0)
        r = files_check_regular(&w.node, &a);
    if (r != 0)
        return r;
    *ret_size = a.size;
    return vfs_open(at, O_RDONLY | O_NONBLOCK, 0, ret);
}

/* Reserves the memory that the file's size suggests, or one more step. */
static int
files_reserve(char **data, size_t *cap, size_t len, size_t want)
{
    if (len < *cap)
        return 0;
    size_t more = want > len ? want - len : READ_STEP_BYTES;
    char *p = realloc(*data, len + more);
    if (!p)
        return -ENOMEM;
    *data = p;
    *cap = len + more;
    return 0;
}

/* Reads until the end, `length` bytes, or WSAND_READ_MAX. A file of a host
 * folder may grow meanwhile. */
static int
files_read_all(struct file *f, uint64_t offset, size_t length, size_t expected,
               char **data, size_t *len)
{
    size_t cap = 0;

    if (!f->ops->read)
        return -EINVAL;
    for (;;) {
        if (*len == length)
            return 0;
        int r = files_reserve(data, &cap, *len, expected);
        if (r < 0)
            return r;
        size_t n = cap < length ? cap - *len : length - *len;
        int64_t got = file_read(f, NULL, *data + *len, n, &offset);
        if (got <= 0)
            return (int)got;
        *len += (size_t)got;
        if (*len > WSAND_READ_MAX)
            return -EFBIG;
    }
}

/* Asks for one byte more than expected, so that the end is seen without growing
 * the buffer. */
static int
files_read_file(const struct at *at, uint64_t offset, size_t length,
                char **data, size_t *len)
{
    CLEANUP(file_putp) struct file *f = NULL;
    uint64_t size = 0;

    int r = files_open_for_reading(at, &f, &size);
    if (r != 0)
        return r;
    uint64_t left = size > offset ? size - offset : 0;
    left = left < length ? left : length;
    if (left > WSAND_READ_MAX)
        return -EFBIG;
    if (offset > INT64_MAX)
        return 0;
    return files_read_all(f, offset, length, (size_t)left + 1, data, len);
}

/* An empty file is an allocation as well, so that NULL never means success. */
int
wsand_file_read(struct wsand_sandbox *sb, const char *path, uint64_t offset,
                size_t length, void **ret_data, size_t *ret_len,
                struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    char *data = NULL;
    size_t len = 0;
    struct file_at f;

    int r = file_begin(sb, path, &f, err);
    if (r < 0)
        return r;
    r = files_read_file(&f.at, offset, length, &data, &len);
    if (r == 0 && !data && !(data = malloc(1)))
        r = -ENOMEM;
    r = file_end(sb, path, r, err);
    if (r < 0) {
        free(data);
        return r;
    }
    *ret_data = data;
    *ret_len = len;
    return 0;
}

/* --- writing */

/* A file that accepts nothing without an error would make this loop endless, so
 * a count of 0 is an error. */
static int
files_write_all(struct file *f, uint64_t pos, const char *data, size_t len)
{
    if (!f->ops->write)
        return -EINVAL;
    int r = file_append_pos(f, &pos);
    if (r < 0)
        return r;
    while (len) {
        int64_t n = file_write(f, NULL, data, len, &pos);
        if (n < 0)
            return (int)n;
        if (n == 0)
            return -EIO;
        data += n;
        len -= (size_t)n;
    }
    return 0;
}

static int
files_set_mode(const struct vnode *v, uint32_t mode)
{
    struct attr a = {.mode = mode & MODE_BITS};

    return vnode_setattr(NULL, v, &a, ATTR_MODE, true);
}

/* Changes the file in place, or creates it. */
static int
write_part(const struct at *at, const struct wsand_write *w)
{
    CLEANUP(file_putp) struct file *f = NULL;
    uint32_t flags = O_WRONLY | O_CREAT | O_NONBLOCK;
    struct attr a;
    struct walk walk;

    int r = path_walk(at, WALK_PARENT, &walk);
    if (r == 0 && walk.node.mnt)
        r = files_check_regular(&walk.node, &a);
    if (r < 0)
        return r;
    r = vfs_open(at, flags | (w->append ? O_APPEND : 0),
                 w->mode ? w->mode & MODE_BITS : 0644, &f);
    if (r == 0)
        r = files_write_all(f, w->offset, w->data, w->len);
    return r == 0 && w->mode ? files_set_mode(&f->node, w->mode) : r;
}

/* Creates a file with an unused name beside the one that it will replace. */
static int
files_open_temp(struct at *at, char *name, size_t size, OWN struct file **ret)
{
    int r = -EEXIST;

    at->path = name;
    for (int i = 0; r == -EEXIST && i < TEMP_TRIES; i++) {
        (void)snprintf(name, size, ".wsand-%d", i);
        r = vfs_open(at, O_WRONLY | O_CREAT | O_EXCL, 0600, ret);
    }
    return r;
}

static int
files_fill_temp(struct file *f, const struct wsand_write *w,
                const struct attr *old)
{
    uint32_t mode = w->mode ? w->mode : old->mode;

    int r = files_write_all(f, 0, w->data, w->len);
    return r < 0 ? r : files_set_mode(&f->node, mode);
}

/* Returns the quota that replacing this file will free. A file with several
 * names stays, and frees nothing. */
static struct quota
files_cost_of(const struct vnode *node)
{
    if (!node->mnt || !tmpfs_is(node->mnt->fs))
        return (struct quota){0};
    const struct inode *i = tree_find(tmpfs_tree(node->mnt->fs), node->ino);
    if (!i || i->nlink > 1)
        return (struct quota){0};
    return (struct quota){inode_bytes(i), inode_cost(i)};
}

/* Raises the quota while both files exist. Otherwise a file of more than half
 * the quota could not be replaced. */
static void
files_lend(const struct vnode *node, struct quota q)
{
    if (!q.bytes && !q.inodes)
        return;
    struct tree *t = tmpfs_tree(node->mnt->fs);
    t->max.bytes += q.bytes;
    t->max.inodes += q.inodes;
}

/* The file has either its old contents or all of the new ones. */
static int
write_beside(const struct walk *walk, struct vfs *v,
             const struct wsand_write *w, const struct attr *old)
{
    const struct cred owner = {.uid = old->uid, .gid = old->gid};
    struct at temp = {.vfs = v, .base = &walk->dir, .owner = &owner};
    struct at to = {.vfs = v, .base = &walk->dir, .path = walk->name};
    struct file *f = NULL;
    char name[32];

    int r = files_open_temp(&temp, name, sizeof name, &f);
    if (r < 0)
        return r;
    r = files_fill_temp(f, w, old);
    file_put(f);
    if (r == 0)
        r = vfs_rename(&temp, &to, 0);
    if (r < 0)
        (void)vfs_unlink(&temp, 0);
    return r;
}

/* The quota is lent for the time in which both files exist, and is reduced
 * again in any case. */
static int
write_whole(const struct at *at, const struct wsand_write *w)
{
    struct attr old = {
        .mode = 0644, .uid = at->owner->uid, .gid = at->owner->gid};
    struct walk walk;

    int r = path_walk(at, WALK_PARENT, &walk);
    if (r == 0 && walk.node.mnt)
        r = files_check_regular(&walk.node, &old);
    if (r == 0 && walk.slash)
        r = -EISDIR;
    if (r < 0)
        return r;
    struct quota lent = files_cost_of(&walk.node);
    files_lend(&walk.node, lent);
    r = write_beside(&walk, at->vfs, w, &old);
    files_lend(&walk.node, (struct quota){-lent.bytes, -lent.inodes});
    return r;
}

int
wsand_file_write(struct wsand_sandbox *sb, const struct wsand_write *given,
                 struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    struct wsand_write w;
    struct file_at f;

    int r = SIZED_TAKE(&w, given, "wsand_write", err);
    if (r == 0)
        r = file_begin(sb, w.path, &f, err);
    if (r != 0)
        return r;
    r = w.parents ? file_make_parents(&f.at) : 0;
    if (r == 0)
        r = w.append || w.has_offset ? write_part(&f.at, &w)
                                     : write_whole(&f.at, &w);
    return file_end(sb, w.path, r, err);
}
