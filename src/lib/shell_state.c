/* States of shells: the value between two sandboxes. */
#include "lib/shell_state.h"

#include "kernel/kernel.h"
#include "kernel/vfs/tmpfs.h"
#include "lib/sandbox.h"
#include "lib/shell.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

DEFINE_CLEANUP(struct shell *, shell_free)

/* --- taking */

static void
shell_state_take_cwd(struct shell_state *s, const struct vnode *cwd)
{
    struct fs *fs = cwd->mnt->fs;
    struct attr a;

    s->cwd = inode_ref_of(cwd);
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

    int r = shell_files_take(sh, &s.files, &s.n_files);
    if (r < 0)
        return r;
    shell_state_take_cwd(&s, &sh->saved.cwd);
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

/* Saved limits are untrusted: they may lower the shell's limits, but never
 * raise them. */
static void
shell_state_set_rlimits(struct task *t, const struct rlimit_k *to)
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
        .mode = S_IFDIR | 0755, .uid = t->as.cred.uid, .gid = t->as.cred.gid};
    struct mount *m = mount_nth(&k->vfs, parent->mount);
    bool is_known = m && tmpfs_is(m->fs);
    struct vnode v = {is_known ? m : mount_root(&k->vfs), 0};

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
    struct vnode cwd = inode_ref_node(t->kernel, &s->cwd);
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
    r = shell_files_open(sh, s->files, s->n_files);
    if (r < 0)
        return r;
    struct task *t = sh->res->task;
    resident_set_state(t, &s->state);
    if (s->has_rlimits)
        shell_state_set_rlimits(t, s->rlimits);
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
