/* The files of a sandbox, from outside: names and attributes. files.c explains
 * the rules that all file functions share. */
#include "lib/files.h"

#include "base/vec.h"
#include "lib/sandbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* --- attributes */

static enum wsand_type
files_tree_type_of(uint32_t mode)
{
    if (S_ISREG(mode))
        return WSAND_FILE;
    if (S_ISDIR(mode))
        return WSAND_DIR;
    return S_ISLNK(mode) ? WSAND_SYMLINK : WSAND_OTHER;
}

/* Walks a path and reads the attributes; `walk` has the flags of path_walk. */
static int
files_tree_find_stat(const struct at *at, unsigned walk, struct wsand_stat *ret)
{
    struct attr a;
    struct walk w;

    int r = path_walk(at, walk, &w);
    if (r == 0)
        r = vnode_getattr(&w.node, &a);
    if (r == 0)
        *ret = (struct wsand_stat){.type = files_tree_type_of(a.mode),
                                   .mode = a.mode & 07777,
                                   .uid = a.uid,
                                   .gid = a.gid,
                                   .nlink = a.nlink,
                                   .bytes = a.size,
                                   .mtime_ns = a.mtime_ns};
    return r;
}

int
wsand_file_stat(struct wsand_sandbox *sb, const char *path, bool follow,
                struct wsand_stat *ret, struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    struct file_at f;

    int r = file_begin(sb, path, &f, err);
    if (r < 0)
        return r;
    r = files_tree_find_stat(&f.at, follow ? 0 : WALK_NOFOLLOW, ret);
    return file_end(sb, path, r, err);
}

int
wsand_file_chmod(struct wsand_sandbox *sb, const char *path, uint32_t mode,
                 struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    struct attr a = {.mode = mode & 07777};
    struct walk w;
    struct file_at f;

    int r = file_begin(sb, path, &f, err);
    if (r < 0)
        return r;
    r = path_walk(&f.at, 0, &w);
    if (r == 0)
        r = vnode_setattr(NULL, &w.node, &a, ATTR_MODE, true);
    return file_end(sb, path, r, err);
}

/* --- lists */

/* Collects the names of a folder. */
struct lister {
    struct dir_emit emit;
    struct wsand_list *list;
    int error;
};

static bool
files_tree_add_name(struct dir_emit *e, const char *name, size_t len,
                    uint64_t ino, unsigned dtype, uint64_t cookie)
{
    struct lister *l = CONTAINER_OF(e, struct lister, emit);
    struct wsand_list *list = l->list;

    (void)ino, (void)dtype, (void)cookie;
    char *copy = VEC_ROOM(list->v, list->n) ? strndup(name, len) : NULL;
    if (!copy)
        l->error = -ENOMEM;
    else
        list->v[list->n++] = (struct wsand_entry){.name = copy};
    return copy;
}

/* Folders list their entries in the order of creation. Lists are sorted, so
 * that folders with equal contents have equal lists. */
static int
files_tree_by_name(const void *a, const void *b)
{
    return strcmp(((const struct wsand_entry *)a)->name,
                  ((const struct wsand_entry *)b)->name);
}

/* Entries that have disappeared in the meantime (in /proc, or a host folder)
 * are omitted. */
static int
files_tree_stat_entries(const struct vnode *dir, struct wsand_list *list)
{
    size_t kept = 0;
    int r = 0;

    for (size_t i = 0; i < list->n; i++) {
        struct wsand_entry e = list->v[i];
        struct at at = {.vfs = dir->mnt->fs->vfs, .base = dir, .path = e.name};
        if (r == 0)
            r = files_tree_find_stat(&at, WALK_NOFOLLOW, &e.stat);
        if (r == -ENOENT) {
            free(e.name);
            r = 0;
            continue;
        }
        list->v[kept++] = e;
    }
    list->n = kept;
    return r;
}

/* The folder is held during the list, because the kernel may otherwise free an
 * inode that nobody has open. */
static int
list_dir(const struct at *at, struct wsand_list *list)
{
    struct lister l = {.emit.entry = files_tree_add_name, .list = list};
    struct walk w;

    int r = path_walk(at, WALK_DIRECTORY, &w);
    if (r < 0)
        return r;
    struct fs *fs = w.node.mnt->fs;
    vnode_hold(&w.node);
    r = fs->ops->readdir(fs, w.node.ino, 0, &l.emit);
    if (r == 0)
        r = l.error;
    if (r == 0)
        r = files_tree_stat_entries(&w.node, list);
    vnode_release(&w.node);
    if (r == 0 && list->n)
        qsort(list->v, list->n, sizeof *list->v, files_tree_by_name);
    return r;
}

int
wsand_file_list(struct wsand_sandbox *sb, const char *path,
                struct wsand_list *ret, struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    struct wsand_list list = {0};
    struct file_at f;

    int r = file_begin(sb, path, &f, err);
    if (r < 0)
        return r;
    r = list_dir(&f.at, &list);
    if (r == 0)
        *ret = list;
    else
        wsand_list_free(&list);
    return file_end(sb, path, r, err);
}

void
wsand_list_free(struct wsand_list *list)
{
    for (size_t i = 0; i < list->n; i++)
        free(list->v[i].name);
    free(list->v);
    *list = (struct wsand_list){0};
}

/* --- folders, links, names */

/* An existing folder is fine for mkdir -p; anything else is EEXIST. */
static int
files_tree_check_is_dir(const struct at *at)
{
    struct walk w;

    int r = path_walk(at, WALK_DIRECTORY, &w);
    return r == -ENOTDIR ? -EEXIST : r;
}

/* Creates each missing folder of the path's first `len` bytes. */
static int
files_tree_make_all(const struct at *to, size_t len, uint32_t mode)
{
    char *path = strndup(to->path, len), *end = path;
    struct at at = *to;
    char after = '/';
    int r = path ? 0 : -ENOMEM;

    at.path = path;
    while (r == 0 && after) {
        end += strspn(end, "/");
        end += strcspn(end, "/");
        after = *end;
        *end = 0;
        r = vfs_make(&at, S_IFDIR | mode);
        if (r == -EEXIST)
            r = files_tree_check_is_dir(&at);
        *end = after;
    }
    free(path);
    return r;
}

/* A relative name without a slash has no parents to create. */
int
file_make_parents(const struct at *at)
{
    const char *name = strrchr(at->path, '/');

    if (!name || name == at->path)
        return 0;
    int r = files_tree_make_all(at, (size_t)(name - at->path), 0755);
    return r == -EEXIST ? -ENOTDIR : r;
}

int
wsand_file_mkdir(struct wsand_sandbox *sb, const char *path, uint32_t mode,
                 bool recursive, struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    struct file_at f;

    int r = file_begin(sb, path, &f, err);
    if (r < 0)
        return r;
    mode = mode ? mode & 07777 : 0755;
    r = recursive ? files_tree_make_all(&f.at, strlen(f.at.path), mode)
                  : vfs_make(&f.at, S_IFDIR | mode);
    return file_end(sb, path, r, err);
}

int
wsand_file_symlink(struct wsand_sandbox *sb, const char *target,
                   const char *path, struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    struct file_at f;

    int r = file_begin(sb, path, &f, err);
    if (r < 0)
        return r;
    r = strlen(target) < PATH_BYTES_MAX ? vfs_symlink(&f.at, target)
                                        : -ENAMETOOLONG;
    return file_end(sb, path, r, err);
}

int
wsand_file_rename(struct wsand_sandbox *sb, const char *from, const char *to,
                  struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    struct file_at a, b;

    int r = file_begin(sb, from, &a, err);
    if (r < 0)
        return r;
    r = file_begin(sb, to, &b, err);
    if (r < 0) {
        (void)file_end(sb, from, 0, NULL);
        return r;
    }
    return file_end(sb, from, vfs_rename(&a.at, &b.at, 0), err);
}

/* --- removal */

/* Receives the first entry of a folder. */
struct first {
    struct dir_emit emit;
    char name[NAME_BYTES_MAX + 1];
    bool found;
};

/* Stops the list after one entry: removing an entry may invalidate the position
 * in the folder. */
static bool
files_tree_take_first(struct dir_emit *e, const char *name, size_t len,
                      uint64_t ino, unsigned dtype, uint64_t cookie)
{
    struct first *f = CONTAINER_OF(e, struct first, emit);

    (void)ino, (void)dtype, (void)cookie;
    memcpy(f->name, name, len);
    f->name[len] = 0;
    f->found = true;
    return false;
}

/* Removes the object that `at` names. A folder that is not empty stays, and is
 * returned in *ret. */
static int
files_tree_remove_one(const struct at *at, struct vnode *ret)
{
    struct walk w;

    int r = vfs_unlink(at, 0);
    if (r == -EISDIR)
        r = vfs_unlink(at, UNLINK_DIR);
    if (r != -ENOTEMPTY)
        return r;
    r = path_walk(at, WALK_NOFOLLOW, &w);
    if (r == 0)
        *ret = w.node;
    return r;
}

/* One step of emptying the folder top, from the folder *dir inside it. Removes
 * an entry, descends if it is a folder with contents, and ascends when nothing
 * is left. Iterative, because a guest controls the depth. Returns 1 when top is
 * empty. */
static int
files_tree_remove_step(const struct vnode *top, struct vnode *dir)
{
    struct first f = {.emit.entry = files_tree_take_first};
    struct fs *fs = dir->mnt->fs;
    struct vnode to = *dir;

    int r = fs->ops->readdir(fs, dir->ino, 0, &f.emit);
    if (r < 0)
        return r;
    if (!f.found && vnode_is_same(dir, top))
        return 1;
    struct at at = {.vfs = fs->vfs, .base = dir, .path = f.name};
    r = f.found ? files_tree_remove_one(&at, &to)
                : fs->ops->parent(fs, dir->ino, &to.ino);
    if (r < 0)
        return r;
    vnode_hold(&to);
    vnode_release(dir);
    *dir = to;
    return 0;
}

/* Needs no memory for the path, however deep it is: the position is one inode,
 * and each folder knows its parent. */
static int
files_tree_remove_below(const struct vnode *top)
{
    struct vnode dir = *top;
    int r = 0;

    vnode_hold(&dir);
    while (r == 0)
        r = files_tree_remove_step(top, &dir);
    vnode_release(&dir);
    return r < 0 ? r : 0;
}

/* Most files need one unlink. Only a folder with contents needs the walk. */
int
wsand_file_rm(struct wsand_sandbox *sb, const char *path, bool recursive,
              struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    struct vnode dir = {0};
    struct file_at f;

    int r = file_begin(sb, path, &f, err);
    if (r < 0)
        return r;
    r = files_tree_remove_one(&f.at, &dir);
    if (r == 0 && dir.mnt) {
        r = recursive ? files_tree_remove_below(&dir) : -ENOTEMPTY;
        if (r == 0)
            r = vfs_unlink(&f.at, UNLINK_DIR);
    }
    return file_end(sb, path, r, err);
}
