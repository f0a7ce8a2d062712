/* States of shells: the value between two sandboxes. Open files are saved as
 * their place (mount and inode) with their position, because a copy of the
 * sandbox has inodes of the same numbers but objects of its own. */
#include "lib/shell_state.h"

#include "kernel/kernel.h"
#include "kernel/vfs/tmpfs.h"
#include "lib/sandbox.h"
#include "lib/shell.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

DEFINE_CLEANUP(struct shell *, shell_free)

/* --- taking */

static struct inode_ref
shell_state_ref_to(const struct kernel *k, const struct vnode *v)
{
    struct inode_ref p = {.ino = v->ino};

    LIST_FOR_EACH(it, &k->mounts) {
        if (CONTAINER_OF(it, struct mount, link) == v->mnt)
            break;
        p.mount++;
    }
    return p;
}

/* Returns the lowest descriptor of the same open file, so that duplicates stay
 * duplicates. */
static int
first_of(const struct fd_table *fds, const struct file *f)
{
    size_t i = STDIO_FDS;

    while (fds->v[i].file != f)
        i++;
    return (int)i;
}

/* Only what has a path can be opened again. */
static struct open_file
shell_state_open_file(const struct kernel *k, const struct fd_table *fds,
                      int fd)
{
    const struct file *f = fds->v[fd].file;
    int first = first_of(fds, f);
    struct open_file o = {.fd = fd,
                          .same_as = first < fd ? first : 0,
                          .cloexec = fds->v[fd].cloexec};
    struct attr a;

    if (!f->node.mnt || vnode_getattr(&f->node, &a) < 0 || !S_ISREG(a.mode) ||
        !a.nlink) {
        o.is_lost = true;
        return o;
    }
    o.flags = f->flags;
    o.pos = f->pos;
    o.at = shell_state_ref_to(k, &f->node);
    return o;
}

static int
shell_state_list_files(struct shell_state *s, const struct shell *sh)
{
    const struct fd_table *fds = &sh->saved.fds;
    size_t n = 0;

    for (size_t i = STDIO_FDS; i < fds->cap; i++)
        n += fds->v[i].file != NULL;
    if (!n)
        return 0;
    s->files = calloc(n, sizeof *s->files);
    if (!s->files)
        return -ENOMEM;
    for (size_t i = STDIO_FDS; i < fds->cap; i++)
        if (fds->v[i].file)
            s->files[s->n_files++] =
                shell_state_open_file(sh->sb->kernel, fds, (int)i);
    return 0;
}

static void
shell_state_take_cwd(struct shell_state *s, const struct kernel *k,
                     const struct vnode *cwd)
{
    struct fs *fs = cwd->mnt->fs;
    struct attr a;

    s->cwd = shell_state_ref_to(k, cwd);
    if (vnode_getattr(cwd, &a) == 0 && a.nlink)
        return;
    s->cwd_is_removed = true;
    if (fs->ops->parent(fs, cwd->ino, &s->cwd.ino) < 0)
        s->cwd.ino = 0;
}

/* Uses the checkpoint only, never the running shell: the state must be one
 * between two commands. */
int
shell_state_take(struct shell_state *ret, const struct shell *sh)
{
    struct shell_state s = {.state = sh->saved.state,
                            .status = sh->saved.status,
                            .has_env = sh->saved.has_env,
                            .has_rlimits = true};

    int r = shell_state_list_files(&s, sh);
    if (r < 0)
        return r;
    shell_state_take_cwd(&s, sh->sb->kernel, &sh->saved.cwd);
    memcpy(s.rlimits, sh->saved.rlimits, sizeof s.rlimits);
    s.pages = shell_pages_get(sh->pages);
    *ret = s;
    return 0;
}

void
shell_state_fini(struct shell_state *s)
{
    shell_pages_put(s->pages);
    free(s->files);
    *s = (struct shell_state){0};
}

/* --- thawing */

/* Returns the inode at a place in this sandbox; mnt is NULL if the mount does
 * not exist. */
static struct vnode
node_at(const struct kernel *k, const struct inode_ref *p)
{
    struct mount *m = mount_nth(k, p->mount);

    return (struct vnode){m, m ? p->ino : 0};
}

static int
shell_state_open_again(struct shell *sh, const struct open_file *o,
                       OWN struct file **ret)
{
    struct kernel *k = sh->sb->kernel;
    struct vnode v = node_at(k, &o->at);
    struct file *same = o->same_as ? fd_find(sh->res->task, o->same_as) : NULL;
    struct attr a;

    if (same) {
        *ret = file_get(same);
        return 0;
    }
    if (o->is_lost || !v.mnt || vnode_getattr(&v, &a) < 0 || !S_ISREG(a.mode))
        return vfs_open(k, NULL, &sh->res->task->root, "/dev/null", O_RDWR, 0,
                        ret);
    int r = v.mnt->fs->ops->open(v.mnt->fs, NULL, v.ino, o->flags, ret);
    if (r == 0 && !(*ret)->node.mnt)
        file_set_node(*ret, &v);
    if (r == 0)
        (*ret)->pos = o->pos;
    return r;
}

static int
open_all(struct shell *sh, const struct shell_state *s)
{
    int r = 0;

    for (size_t i = 0; r >= 0 && i < s->n_files; i++) {
        const struct open_file *o = &s->files[i];
        struct file *f;
        r = shell_state_open_again(sh, o, &f);
        if (r == 0)
            r = fd_replace(sh->res->task, o->fd, f, o->cloexec);
    }
    return r < 0 ? r : 0;
}

/* Saved limits are untrusted: they may lower the shell's limits, but never
 * raise them. */
static void
set_rlimits(struct task *t, const struct rlimit_k *to)
{
    for (size_t i = 0; i < RLIMIT_COUNT; i++) {
        struct rlimit_k *r = &t->rlimits[i];
        r->max = to[i].max < r->max ? to[i].max : r->max;
        r->cur = to[i].cur < r->max ? to[i].cur : r->max;
    }
}

/* A shell stays in a folder that was removed, and so does its copy. No copy of
 * a tree contains such a folder, because it has no name. The new shell
 * therefore gets a folder of its own in the same state: empty, without a path,
 * and with the same parent. Programs then behave in it as on Linux. */
static int
shell_state_enter_removed(struct task *t, const struct inode_ref *parent)
{
    struct kernel *k = t->kernel;
    const struct attr a = {
        .mode = S_IFDIR | 0755, .uid = t->cred.uid, .gid = t->cred.gid};
    struct mount *m = mount_nth(k, parent->mount);
    bool is_known = m && tmpfs_is(m->fs);
    struct vnode v = {is_known ? m : mount_root(k), 0};

    int r = tree_removed_dir(tmpfs_tree(v.mnt->fs), is_known ? parent->ino : 0,
                             &a, clock_real_ns(&k->clock), &v.ino);
    if (r < 0)
        return r;
    task_set_cwd(t, &v, &v, "");
    vnode_release(&v);
    return 0;
}

static int
shell_state_enter(struct task *t, const struct shell_state *s)
{
    struct vnode cwd = node_at(t->kernel, &s->cwd);
    struct attr a;

    if (s->cwd_is_removed || !cwd.mnt || vnode_getattr(&cwd, &a) < 0)
        return shell_state_enter_removed(t, &s->cwd);
    task_set_cwd(t, &cwd, &cwd, "");
    return 0;
}

/* A new shell gets the pages and the task of the state. Its machine is created
 * with its first command. */
int
shell_state_thaw(const struct shell_state *s, struct wsand_sandbox *sb,
                 OWN struct shell **ret)
{
    CLEANUP(shell_freep) struct shell *sh = NULL;

    int r = shell_new(sb, &sh);
    if (r != 0)
        return r;
    sh->pages = shell_pages_get(s->pages);
    r = open_all(sh, s);
    if (r < 0)
        return r;
    struct task *t = sh->res->task;
    resident_set_state(t, &s->state);
    if (s->has_rlimits)
        set_rlimits(t, s->rlimits);
    r = shell_state_enter(t, s);
    if (r < 0)
        return r;
    sh->status = s->status;
    sh->has_env = s->has_env;
    r = shell_save_task(sh);
    if (r == 0)
        *ret = STEAL(sh);
    return r;
}
