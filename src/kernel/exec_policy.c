/* Decides which programs may run: those that the host provided and, with a list
 * of names, only the listed ones.
 *
 * Problem: a guest may be root, so owners and modes prove nothing about the
 * origin of a file.
 *
 * Idea: the kernel keeps a clone of the tree that the host provided. A file is
 * the host's while it shares its content with that clone, and a name is the
 * host's while it leads to the same inode in both. Sharing cannot be forged: a
 * guest that writes the same bytes creates a different content.
 *
 * The name of a program is a name that the host gave it; a symbolic link of the
 * host is one more name. Links and copies made by the guest have no name, so
 * nothing can run under a different name. Multi-call programs select their
 * function by argv[0] or the path; therefore both must end in a name of the
 * file. */
#include "kernel/exec.h"
#include "kernel/kernel.h"
#include "kernel/vfs/tmpfs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The names that were met on the way to a file, and what was found out about
 * them. */
struct names {
    const char *const *allowed;
    const char *argv0, *path;           /* their last parts */
    bool is_allowed, is_argv0, is_path; /* one of the names is */
    bool is_ours; /* the host has given the file, by this name */
};

/* Two nodes are equal only if they are shared: neither the clone nor the tree
 * is changed in place while the other one refers to it. Equal nodes are the
 * same bytes. */
bool
exec_is_given(const struct kernel *k, const struct vnode *v)
{
    struct fs *root = mount_root(&k->vfs)->fs;

    if (v->mnt->fs != root || !tmpfs_is(root))
        return false;
    const struct inode *given = tree_find(k->given, v->ino);
    const struct inode *now = tree_find(tmpfs_tree(root), v->ino);
    if (!given || !now || inode_is_dir(given) || inode_is_dir(now))
        return false;
    return given->chunks.root == now->chunks.root && given->size == now->size;
}

/* True if the host provided the file, and this name of it. */
static bool
exec_policy_is_given_name(const struct kernel *k, const struct walk *w)
{
    uint64_t ino;

    if (w->dir.mnt->read_only && w->node.mnt->read_only)
        return true;
    return w->dir.mnt->fs == w->node.mnt->fs && exec_is_given(k, &w->node) &&
           tree_lookup(k->given, w->dir.ino, (struct name){w->name, w->len},
                       &ino) == 0 &&
           ino == w->node.ino;
}

/* Returns the last part of a path, without the dash that login shells add. */
static const char *
exec_policy_base_name(const char *argv0)
{
    const char *slash = strrchr(argv0, '/');

    if (slash)
        return slash + 1;
    return argv0 + (argv0[0] == '-');
}

static void
exec_policy_note_name(struct names *n, const char *name)
{
    for (const char *const *a = n->allowed; *a; a++)
        n->is_allowed |= !strcmp(*a, name);
    n->is_argv0 |= !strcmp(n->argv0, name);
    n->is_path |= !strcmp(n->path, name);
}

/* Examines one name of the path. Returns 1 if it is a symbolic link, whose
 * target replaces *path; the walk continues from there. */
static int
exec_policy_look(struct task *t, struct vnode *base, char *path,
                 struct names *n, struct vnode *ret)
{
    struct walk w;
    struct attr a;

    int r = task_walk(t, base, path, WALK_NOFOLLOW, &w);
    if (r == 0)
        r = vnode_getattr(&w.node, &a);
    if (r != 0)
        return r;
    n->is_ours = exec_policy_is_given_name(t->kernel, &w);
    if (n->is_ours)
        exec_policy_note_name(n, w.name);
    *base = w.dir;
    *ret = w.node;
    if (!S_ISLNK(a.mode))
        return 0;
    int64_t len = vnode_readlink(&t->as, &w.node, path, PATH_BYTES_MAX - 1);
    if (len < 0)
        return (int)len;
    path[len] = 0;
    return 1;
}

/* Links are followed here one at a time, since each of them is a name that
 * counts. The result must be the file that is about to run: a rename in between
 * is refused. */
static int
exec_policy_find_names(struct task *t, const struct exec_file *f, char *path,
                       struct names *n)
{
    struct vnode base = *f->base, node = {0};
    int r = 1;

    (void)snprintf(path, PATH_BYTES_MAX, "%s", f->path);
    for (int i = 0; r == 1 && i <= SYMLINKS_MAX; i++)
        r = exec_policy_look(t, &base, path, n, &node);
    if (r != 0)
        return r < 0 ? r : -ELOOP;
    return vnode_is_same(&node, f->node) ? 0 : -EACCES;
}

/* A script of the guest has no name of the host. Its interpreter is checked in
 * turn. */
int
exec_check_policy(struct task *t, const struct exec_file *f)
{
    struct names n = {.allowed = t->kernel->allow_tools,
                      .argv0 = exec_policy_base_name(f->argv0),
                      .path = exec_policy_base_name(f->path)};

    char *path = malloc(PATH_BYTES_MAX);
    if (!path)
        return -ENOMEM;
    int r = exec_policy_find_names(t, f, path, &n);
    free(path);
    if (r == 0 && n.is_allowed && n.is_argv0 && n.is_path)
        return 1;
    if (r == 0 && f->is_script && !n.is_ours)
        return 0;
    if (r == 0)
        r = -EACCES;
    kernel_deny(t->kernel, t);
    return r;
}
