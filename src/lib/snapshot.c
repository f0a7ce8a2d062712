/* Snapshots: the files, message queues and shell of a sandbox as a value. A
 * sandbox also keeps its initial state, for wsand_reset.
 *
 * Creating one clones persistent structures, so its cost does not depend on the
 * size of the sandbox. Restoring replaces the trees under the mounts
 * (vfs/exchange.c): first all processes end, so that nothing but init and the
 * mounts holds an inode. All steps that can fail come before the first visible
 * change. */
#include "lib/snapshot.h"

#include "base/counter.h"
#include "kernel/kernel.h"
#include "kernel/mqueue.h"
#include "kernel/shmfs.h"
#include "kernel/vfs/exchange.h"
#include "kernel/vfs/shmem.h"
#include "kernel/vfs/tmpfs.h"
#include "lib/error.h"
#include "lib/history.h"
#include "lib/process.h"
#include "lib/sandbox.h"
#include "lib/shell.h"

#include <errno.h>
#include <stdlib.h>

/* True if the mount has files of its own: not a host folder, and not another
 * mount's files at a second path. */
static bool
snapshot_has_tree(const struct mount *m)
{
    return !m->is_bind && tmpfs_is(m->fs);
}

struct mount *
snapshot_mount(const struct wsand_sandbox *sb, size_t n)
{
    struct mount *m = mount_nth(&sb->kernel->vfs, n);

    return m && snapshot_has_tree(m) ? m : NULL;
}

/* Files that are mapped are written back first. */
static int
snapshot_take_tree(struct mount_tree *t, const struct mount *m)
{
    shmem_sync_all(m->fs);
    t->mount = mount_number(m);
    int r = tree_clone(tmpfs_tree(m->fs), &t->tree);
    shmem_punch_all(m->fs);
    return r;
}

/* The numbers of mounts are the same in all copies of a sandbox. Mounts without
 * files of their own are numbered, but not copied. */
static int
snapshot_take_trees(struct snapshot *s, const struct kernel *k,
                    bool with_memory)
{
    s->trees = calloc(mount_count(&k->vfs) + 1, sizeof *s->trees);
    if (!s->trees)
        return -ENOMEM;
    LIST_FOR_EACH(it, &k->vfs.mounts) {
        const struct mount *m = CONTAINER_OF(it, struct mount, link);
        if (!snapshot_has_tree(m) || (m->fs->is_memory && !with_memory))
            continue;
        int r = snapshot_take_tree(&s->trees[s->n_trees], m);
        if (r < 0)
            return r;
        s->n_trees++;
    }
    return 0;
}

/* The caller has made a checkpoint before, if the shell's current state is
 * wanted. */
int
snapshot_new(struct wsand_sandbox *sb, bool with_memory,
             OWN struct snapshot **ret)
{
    struct snapshot *s = calloc(1, sizeof *s);

    if (!s)
        return -ENOMEM;
    list_init(&s->link);
    list_init(&s->mqueues);
    s->history = history_get(sb->history);
    int r = snapshot_take_trees(s, sb->kernel, with_memory);
    if (r == 0)
        r = mqueues_copy(&sb->kernel->mqueues, NULL, &s->mqueues);
    if (r == 0 && sb->shell) {
        r = shell_state_take(&s->shell, sb->shell);
        s->has_shell = r == 0;
    }
    if (r == 0)
        r = gone_list(sb, &s->gone);
    if (r < 0) {
        snapshot_free(s);
        return r;
    }
    *ret = s;
    return 0;
}

void
snapshot_free(OWN struct snapshot *s)
{
    if (!s)
        return;
    list_remove(&s->link);
    for (size_t i = 0; i < s->n_trees; i++)
        tree_fini(&s->trees[i].tree);
    free(s->trees);
    history_put(s->history);
    shell_state_fini(&s->shell);
    gone_fini(&s->gone);
    mqueues_fini(&s->mqueues);
    shell_pages_put(s->base);
    free(s);
}

void
snapshots_free(struct wsand_sandbox *sb)
{
    snapshot_free(STEAL(sb->initial));
    snapshot_free(STEAL(sb->recorded));
    LIST_FOR_EACH_SAFE(it, &sb->snapshots)
        snapshot_free(CONTAINER_OF(it, struct snapshot, link));
    sb->n_snapshots = 0;
}

const struct tree *
snapshot_tree(const struct snapshot *s, size_t mount)
{
    for (size_t i = 0; i < s->n_trees; i++)
        if (s->trees[i].mount == mount)
            return &s->trees[i].tree;
    return NULL;
}

/* The shell refers to inodes of the old files, so it cannot be kept. */
int
snapshot_set_files(struct snapshot *s, const struct tree *t)
{
    struct tree now;

    int r = tree_clone(t, &now);
    if (r < 0)
        return r;
    tree_fini(&s->trees[0].tree);
    s->trees[0].tree = now;
    if (s->has_shell)
        shell_state_fini(&s->shell);
    s->has_shell = false;
    return 0;
}

int
snapshot_thaw(const struct snapshot *s, struct wsand_sandbox *sb)
{
    struct kernel *k = sb->kernel;

    mqueues_fini(&k->mqueues);
    int r = mqueues_copy(&s->mqueues, k, &k->mqueues);
    if (r < 0)
        return r;
    return s->has_shell ? shell_state_thaw(&s->shell, sb, &sb->shell) : 0;
}

static struct snapshot *
snapshot_find(const struct wsand_sandbox *sb, uint64_t id)
{
    LIST_FOR_EACH(it, &sb->snapshots) {
        struct snapshot *s = CONTAINER_OF(it, struct snapshot, link);
        if (s->id == id)
            return s;
    }
    return NULL;
}

static int
snapshot_no_such(uint64_t id, struct wsand_error *err)
{
    return error_set(err, ENOENT, "no such snapshot: %llu",
                     (unsigned long long)id);
}

int
snapshot_find_error(const struct wsand_sandbox *sb, uint64_t id,
                    struct snapshot **ret, struct wsand_error *err)
{
    *ret = snapshot_find(sb, id);
    return *ret ? 0 : snapshot_no_such(id, err);
}

int
snapshot_check_limit(const struct wsand_sandbox *sb, struct wsand_error *err)
{
    if (sb->n_snapshots < sb->options.snapshots)
        return 0;
    return error_limit(err, "snapshot", sb->options.snapshots);
}

/* Returns the bytes that s keeps and `next` does not.
 *
 * Snapshots of a sandbox are usually a chain of small changes. The memory that
 * they keep is therefore bounded by the sum of the differences between
 * neighbours, and the newest one shares almost everything with the sandbox
 * itself. Message queues are not shared. */
static uint64_t
snapshot_lost_of(const struct snapshot *s, const struct snapshot *next)
{
    const struct tree none = {0};
    uint64_t bytes = mqueues_bytes(&s->mqueues);

    for (size_t i = 0; i < s->n_trees; i++) {
        const struct tree *t = snapshot_tree(next, s->trees[i].mount);
        bytes += tree_lost(&s->trees[i].tree, t ? t : &none);
    }
    return bytes + shell_pages_lost(s->shell.pages, next->shell.pages);
}

/* Compares with the current state, too: a loaded snapshot may have nothing in
 * common with it. */
static int
snapshot_lost_now(struct wsand_sandbox *sb, const struct snapshot *s,
                  uint64_t *ret)
{
    struct snapshot *now = NULL;

    int r = snapshot_new(sb, true, &now);
    if (r == 0)
        *ret = snapshot_lost_of(s, now);
    snapshot_free(now);
    return r;
}

/* The limit counts the parts that the snapshots keep beside the newest one, and
 * those of the new one that the sandbox itself does not have. */
int
snapshot_add(struct wsand_sandbox *sb, OWN struct snapshot *s, uint64_t *ret_id,
             struct wsand_error *err)
{
    struct snapshot *last =
        CONTAINER_OF(sb->snapshots.prev, struct snapshot, link);
    uint64_t lost = sb->n_snapshots ? snapshot_lost_of(last, s) : 0, now = 0;

    int r = snapshot_lost_now(sb, s, &now);
    if (r < 0)
        r = error_errno(err, -r, "cannot create a snapshot");
    else if (sb->snapshot_bytes + lost + now > sb->options.snapshot_bytes)
        r = error_limit(err, "snapshot bytes", sb->options.snapshot_bytes);
    if (r < 0) {
        snapshot_free(s);
        return r;
    }
    if (sb->n_snapshots)
        last->lost = lost;
    sb->snapshot_bytes += lost;
    s->id = ++sb->last_snapshot;
    list_push_back(&sb->snapshots, &s->link);
    COUNTER_ADD(sb->n_snapshots, 1);
    *ret_id = s->id;
    return 0;
}

/* The snapshot before it keeps for itself the parts that both of them kept, so
 * its difference is computed again. */
static void
snapshot_drop(struct wsand_sandbox *sb, OWN struct snapshot *s)
{
    struct list *before = s->link.prev, *after = s->link.next;

    sb->snapshot_bytes -= s->lost;
    if (before != &sb->snapshots) {
        struct snapshot *b = CONTAINER_OF(before, struct snapshot, link);
        sb->snapshot_bytes -= b->lost;
        b->lost = after == &sb->snapshots
                      ? 0
                      : snapshot_lost_of(
                            b, CONTAINER_OF(after, struct snapshot, link));
        sb->snapshot_bytes += b->lost;
    }
    snapshot_free(s);
    COUNTER_SUB(sb->n_snapshots, 1);
}

/* --- the functions */

/* The checkpoint brings the saved pages of the shell up to date. */
int
wsand_snapshot_create(struct wsand_sandbox *sb, uint64_t *ret,
                      struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    struct snapshot *s;

    int r = snapshot_check_limit(sb, err);
    if (r == 0)
        r = wsand_checkpoint(sb, err);
    if (r < 0)
        return r;
    r = snapshot_new(sb, true, &s);
    if (r < 0)
        return error_errno(err, -r, "cannot create a snapshot");
    return snapshot_add(sb, s, ret, err);
}

/* Prepares the exchange of every tree. A mount point that does not exist in the
 * new tree is refused here, before anything has changed. Files in memory that
 * the snapshot does not have are replaced by `none`. */
static int
snapshot_prepare(struct wsand_sandbox *sb, const struct snapshot *s,
                 const struct tree *none, struct exchange *v,
                 struct wsand_error *err)
{
    struct kernel *k = sb->kernel;
    int r = 0;

    LIST_FOR_EACH(it, &k->vfs.mounts) {
        struct mount *m = CONTAINER_OF(it, struct mount, link);
        size_t number = mount_number(m);
        const struct tree *t = snapshot_tree(s, number);
        if (!t && number != MOUNT_MEMORY)
            continue;
        r = exchange_prepare(m, t ? t : none, v);
        if (r == -ENOTDIR)
            return error_set(err, EBUSY, "a folder is mounted there: %s",
                             v->culprit->path);
        if (r < 0)
            return error_errno(err, -r, "cannot restore the state");
        v++;
    }
    return r;
}

/* All processes end first, so that nothing in the sandbox refers to the inodes
 * that are replaced. From then on only the queues and the shell can fail. */
int
snapshot_restore(struct wsand_sandbox *sb, const struct snapshot *s,
                 struct wsand_error *err)
{
    CLEANUP(tree_fini) struct tree none = {0};
    const size_t max = s->n_trees + 1;
    struct exchange *v = calloc(max, sizeof *v);

    if (!v)
        return error_set(err, ENOMEM, "out of memory");
    int r = shmfs_tree_init(sb->kernel, &none) == 0
                ? snapshot_prepare(sb, s, &none, v, err)
                : error_set(err, ENOMEM, "out of memory");
    if (r == 0) {
        shell_free(STEAL(sb->shell));
        processes_end(sb);
        kernel_end_all(sb->kernel);
        for (size_t i = 0; i < max && v[i].top; i++)
            exchange_commit(&v[i]);
        history_put(sb->history);
        sb->history = history_get(s->history);
        gone_copy(&sb->gone, &s->gone);
        r = snapshot_thaw(s, sb);
        if (r < 0)
            r = error_errno(err, -r, "cannot restore the queues and shell");
    }
    for (size_t i = 0; i < max; i++)
        exchange_fini(&v[i]);
    free(v);
    return r;
}

/* Only the root of `from` is used: it is a draft, whose other mounts are
 * copies. */
int
snapshot_replace(struct wsand_sandbox *sb, struct wsand_sandbox *from,
                 struct wsand_error *err)
{
    struct snapshot *s = NULL;

    int r = wsand_checkpoint(from, err);
    if (r < 0)
        return r;
    r = snapshot_new(from, false, &s);
    if (r < 0)
        return error_errno(err, -r, "cannot copy the state");
    while (s->n_trees > 1)
        tree_fini(&s->trees[--s->n_trees].tree);
    r = snapshot_restore(sb, s, err);
    snapshot_free(s);
    return r;
}

int
wsand_snapshot_restore(struct wsand_sandbox *sb, uint64_t id,
                       struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    const struct snapshot *s = snapshot_find(sb, id);

    return s ? snapshot_restore(sb, s, err) : snapshot_no_such(id, err);
}

int
wsand_reset(struct wsand_sandbox *sb, struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    return snapshot_restore(sb, sb->initial, err);
}

int
wsand_snapshot_delete(struct wsand_sandbox *sb, uint64_t id,
                      struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    struct snapshot *s = snapshot_find(sb, id);

    if (!s)
        return snapshot_no_such(id, err);
    snapshot_drop(sb, s);
    return 0;
}

int
wsand_snapshot_list(struct wsand_sandbox *sb, uint64_t **ret_ids, size_t *ret_n,
                    struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    uint64_t *ids = calloc(sb->n_snapshots + 1, sizeof *ids);
    size_t n = 0;

    if (!ids)
        return error_set(err, ENOMEM, "out of memory");
    LIST_FOR_EACH(it, &sb->snapshots)
        ids[n++] = CONTAINER_OF(it, struct snapshot, link)->id;
    *ret_ids = ids;
    *ret_n = n;
    return 0;
}
