/* From records to snapshots.
 *
 * Records come from a store or from a client, and nothing in them is trusted: a
 * loaded state must not contain anything that the guest could not have made
 * itself. Each record is checked by itself when it arrives, and the whole at
 * the end: links of inodes, quotas, and the files that the shell has open. */
#include "lib/state.h"

#include "base/buf.h"
#include "base/vec.h"
#include "kernel/kernel.h"
#include "kernel/vfs/tmpfs.h"
#include "lib/error.h"
#include "lib/export.h"
#include "lib/history.h"
#include "lib/place.h"
#include "lib/sandbox.h"
#include "lib/skeleton.h"
#include "lib/snapshot.h"
#include "tree/image.h"
#include "tree/tree_records.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FLAGS = O_ACCMODE | O_APPEND };

struct mount_draft {
    size_t mount;
    struct tree_draft draft;
};

/* A state that is being loaded. The sandbox does not change before
 * wsand_state_apply. */
struct wsand_state {
    struct wsand_sandbox *sb;
    struct tree empty; /* the base of mounts */
    struct mount_draft *trees;
    size_t n_trees;
    struct snapshot *s;    /* all but its trees */
    enum record_type type; /* of the last record */
    bool has_version, has_image, has_module, has_task;
    uint8_t image[32], module[32];
    char *script; /* with a NUL; NULL: none */
    struct buf patch;
};

/* --- creating and freeing */

static int
state_load_no_memory(struct wsand_error *err)
{
    return error_set(err, ENOMEM, "out of memory");
}

/* Begins the draft of one mount. Its quota is set at the end, when all mounts
 * are known. */
static int
state_load_add_tree(struct wsand_state *st, size_t mount)
{
    const struct quota none = {0};
    struct mount_draft *t = &st->trees[st->n_trees];
    const struct tree *base = state_base(st->sb, mount, &st->empty);

    if (!state_has_mount(st->sb, mount))
        return 0;
    t->mount = mount;
    int r = tree_draft_init(&t->draft, base, &none);
    if (r < 0)
        return r;
    t->draft.tree.seed =
        tmpfs_tree(mount_nth(&st->sb->kernel->vfs, mount)->fs)->seed;
    st->n_trees++;
    return 0;
}

/* Begins an empty state with one draft for each mount that is part of it. */
static int
state_load_fill(struct wsand_state *st)
{
    const struct quota all = {UINT64_MAX, UINT64_MAX};
    size_t n = 0;

    LIST_FOR_EACH(it, &st->sb->kernel->vfs.mounts)
        n++;
    st->trees = calloc(n + 1, sizeof *st->trees);
    st->s = calloc(1, sizeof *st->s);
    if (!st->trees || !st->s)
        return -ENOMEM;
    list_init(&st->s->link);
    list_init(&st->s->mqueues);
    int r = tree_init(&st->empty, &all, 0);
    for (size_t i = 0; r == 0 && i < n; i++)
        r = state_load_add_tree(st, i);
    return r;
}

int
wsand_state_begin(struct wsand_sandbox *sb, struct wsand_state **ret,
                  struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    struct wsand_state *st = calloc(1, sizeof *st);

    if (!st)
        return state_load_no_memory(err);
    st->sb = sb;
    buf_init(&st->patch, RECORD_PATCH_MAX);
    if (state_load_fill(st) < 0) {
        wsand_state_free(st);
        return state_load_no_memory(err);
    }
    *ret = st;
    return 0;
}

void
wsand_state_free(struct wsand_state *st)
{
    if (!st)
        return;
    for (size_t i = 0; i < st->n_trees; i++)
        tree_draft_fini(&st->trees[i].draft);
    free(st->trees);
    tree_fini(&st->empty);
    snapshot_free(st->s);
    free(st->script);
    buf_fini(&st->patch);
    free(st);
}

struct wsand_sandbox *
state_sandbox(const struct wsand_state *st)
{
    return st->sb;
}

const char *
state_script(const struct wsand_state *st)
{
    return st->script;
}

/* --- records by type: -EINVAL, -ENOMEM */

/* The size of the memory is limited here, before anything is allocated for
 * it. */
static int
state_load_put_shell(struct wsand_state *st, const void *value, size_t len)
{
    struct shell_state *s = &st->s->shell;
    struct record_shell r;

    if (record_shell_get(value, len, &r) < 0 || st->s->has_shell ||
        r.memory_bytes > st->sb->kernel->limits.max[LIMIT_memory])
        return -EINVAL;
    st->s->has_shell = true;
    s->status = (int)r.status;
    s->has_env = r.has_env;
    s->cwd = (struct inode_ref){r.cwd_mount, r.cwd};
    s->cwd_is_removed = r.cwd_is_removed;
    return r.memory_bytes ? shell_pages_new(r.memory_bytes, &s->pages) : 0;
}

/* Limits the state of the task to values that system calls could have set. */
static void
state_load_bound_task(struct resident_state *s)
{
    const uint64_t never = SIG_BIT(SIGKILL) | SIG_BIT(SIGSTOP);

    s->action[SIGKILL] = s->action[SIGSTOP] = (struct sigaction_k){0};
    s->mask &= ~never;
    s->umask &= 0777;
}

/* A state of another layout belongs to another version of the shell, and is
 * left out. The script restores the shell then. */
static int
state_load_put_task(struct wsand_state *st, const void *value, size_t len)
{
    struct resident_state *task = &st->s->shell.state;

    if (len != sizeof *task)
        return 0;
    memcpy(task, value, len);
    state_load_bound_task(task);
    st->has_task = true;
    return 0;
}

/* record_check has verified the lengths of facts with a fixed size. */
static int
state_load_put_fact(struct wsand_state *st, const struct record_key *k,
                    const void *value, size_t len)
{
    static const uint8_t version[] = {0, 0, 0, RECORD_VERSION};

    switch (record_fact_of(k)) {
    case FACT_version:
        st->has_version = !memcmp(value, version, sizeof version);
        return 0;
    case FACT_image:
        memcpy(st->image, value, sizeof st->image);
        st->has_image = true;
        return 0;
    case FACT_module:
        memcpy(st->module, value, sizeof st->module);
        st->has_module = true;
        return 0;
    case FACT_shell:
        return state_load_put_shell(st, value, len);
    case FACT_task:
        return state_load_put_task(st, value, len);
    case FACT_rlimits:
        memcpy(st->s->shell.rlimits, value, sizeof st->s->shell.rlimits);
        st->s->shell.has_rlimits = true;
        return 0;
    case FACT_patch:
        buf_add(&st->patch, value, len);
        return st->patch.error;
    case FACT_processes:
        return gone_load(&st->s->gone, value, len);
    case FACT_script:
        free(st->script);
        st->script = strndup(value, len);
        return st->script ? 0 : -ENOMEM;
    case FACT_COUNT:
        break;
    }
    return -EINVAL;
}

/* Descriptors must be in order and below the limit, so that their number is
 * bounded. */
static int
state_load_put_file(struct wsand_state *st, const struct record_key *k,
                    const void *value, size_t len)
{
    struct shell_state *s = &st->s->shell;
    struct record_file f;

    if (record_file_get(value, len, &f) < 0 ||
        k->index >= st->sb->kernel->limits.max[LIMIT_fds] ||
        (s->n_files && k->index <= (uint64_t)s->files[s->n_files - 1].fd))
        return -EINVAL;
    if (!VEC_ROOM(s->files, s->n_files))
        return -ENOMEM;
    enum open_how how = f.inode ? OPEN_AGAIN : OPEN_NULL;
    if (f.is_closed)
        how = OPEN_CLOSED;
    s->files[s->n_files++] = (struct open_file){.fd = (int)k->index,
                                                .same_as = (int)f.same_as,
                                                .cloexec = f.cloexec,
                                                .how = how,
                                                .flags = f.flags,
                                                .pos = f.pos,
                                                .at = {f.mount, f.inode}};
    return 0;
}

static int
state_load_put_command(struct wsand_state *st, const struct record_key *k,
                       const void *value, size_t len)
{
    return history_load(&st->s->history, k->index, value, len);
}

static int
state_load_put_page(struct wsand_state *st, const struct record_key *k,
                    const void *value, size_t len)
{
    struct shell_pages *pages = st->s->shell.pages;

    return pages ? shell_pages_add(pages, (uint32_t)k->index, value, len)
                 : -EINVAL;
}

static int
state_load_put_tree(struct wsand_state *st, const struct record_key *k,
                    const void *value, size_t len)
{
    for (size_t i = 0; i < st->n_trees; i++)
        if (st->trees[i].mount == k->mount)
            return tree_draft_put(&st->trees[i].draft, k, value, len);
    return -EINVAL;
}

/* Places are for the store, which does not know the image. Here, the image
 * itself is available. */
static int
state_load_put_place(struct wsand_state *st, const struct record_key *k,
                     const void *value, size_t len)
{
    (void)st, (void)k, (void)value, (void)len;
    return 0;
}

typedef int putter(struct wsand_state *st, const struct record_key *k,
                   const void *value, size_t len);

static putter *const putters[] = {
    [RECORD_FACT] = state_load_put_fact,
    [RECORD_FILE] = state_load_put_file,
    [RECORD_COMMAND] = state_load_put_command,
    [RECORD_INODE] = state_load_put_tree,
    [RECORD_NAME] = state_load_put_tree,
    [RECORD_PAGE] = state_load_put_page,
    [RECORD_ATTRS] = state_load_put_tree,
    [RECORD_PLACE] = state_load_put_place,
    [RECORD_BLOCK] = state_load_put_tree,
};

/* --- checks of the whole */

static int
state_load_damaged(struct wsand_error *err, const char *what)
{
    return error_set(err, EINVAL, "not a saved state, or damaged: %s", what);
}

/* Checks all facts when the first other record arrives, before anything that
 * depends on them. A state with another build of the shell is loaded without
 * its shell. */
static int
state_load_check_facts(struct wsand_state *st, struct wsand_error *err)
{
    uint8_t hash[32];

    if (!st->has_version)
        return state_load_damaged(err, "no version, or an unknown one");
    state_image_hash(st->sb->image, hash);
    if (!st->has_image || memcmp(hash, st->image, sizeof hash) != 0)
        return error_set(err, EINVAL, "saved with another root image");
    if (!st->s->has_shell)
        return 0;
    if (!st->has_module)
        return state_load_damaged(err, "a shell without a program");
    int r = shell_image_load(st->sb->runtime, st->sb->image);
    if (r < 0)
        return error_errno(err, -r, "cannot create a shell");
    state_module_hash(st->sb->image, hash);
    st->s->has_other_module = memcmp(hash, st->module, sizeof hash) != 0;
    return st->has_task || st->s->has_other_module
               ? 0
               : state_load_damaged(err, "a shell without a task");
}

static int
state_load_record_error(struct wsand_error *err, const struct record_key *k,
                        int r)
{
    char what[64];

    if (r == -ENOMEM)
        return state_load_no_memory(err);
    (void)snprintf(what, sizeof what, "record %c %llu %llu", (char)k->type,
                   (unsigned long long)k->inode, (unsigned long long)k->index);
    return state_load_damaged(err, what);
}

/* Types must arrive in order. This makes it possible to check each record
 * against everything that it refers to. */
int
wsand_state_put(struct wsand_state *st, const void *key, size_t key_len,
                const void *value, size_t len, struct wsand_error *err)
{
    struct record_key k;

    if (record_check(key, key_len, value, len) < 0 || !value ||
        record_key_get(key, key_len, &k) != 0)
        return state_load_damaged(err, "a malformed record");
    if (k.type < st->type)
        return state_load_damaged(err, "records out of order");
    bool is_past_facts = k.type > RECORD_FACT && st->type <= RECORD_FACT;
    int r = is_past_facts ? state_load_check_facts(st, err) : 0;
    if (r < 0)
        return r;
    st->type = k.type;
    r = putters[k.type](st, &k, value, len);
    return r < 0 ? state_load_record_error(err, &k, r) : 0;
}

/* All mounts share one quota, so each tree gets what the ones before it have
 * left. */
static int
state_load_end_trees(struct wsand_state *st, struct wsand_error *err)
{
    const struct kernel *kernel = st->sb->kernel;
    const uint64_t *max = kernel->limits.max;
    struct quota left = {max[LIMIT_file_bytes], max[LIMIT_files]};
    const struct image_error why = {.reason = "not a saved state, or damaged: "
                                              "the files"};
    int r = 0;

    for (size_t i = 0; r == 0 && i < st->n_trees; i++) {
        struct tree_draft *d = &st->trees[i].draft;
        d->max = left;
        r = tree_draft_end(d);
        if (r < 0)
            return export_layer_error(kernel, &d->tree, r, &why, err);
        left.bytes -=
            left.bytes < d->tree.used.bytes ? left.bytes : d->tree.used.bytes;
        left.inodes -= d->tree.used.inodes;
    }
    return r;
}

/* Moves the trees to the snapshot. */
static int
state_load_take_trees(struct wsand_state *st)
{
    struct snapshot *s = st->s;

    s->trees = calloc(st->n_trees, sizeof *s->trees);
    if (!s->trees)
        return -ENOMEM;
    for (; s->n_trees < st->n_trees; s->n_trees++) {
        struct mount_draft *t = &st->trees[s->n_trees];
        s->trees[s->n_trees] =
            (struct mount_tree){.mount = t->mount, .tree = t->draft.tree};
    }
    st->n_trees = 0;
    return 0;
}

/* Applies the patch. The recorded pages stay the base of the next patch. */
static int
state_load_end_pages(struct wsand_state *st, struct wsand_error *err)
{
    struct snapshot *s = st->s;

    s->base = shell_pages_get(s->shell.pages);
    s->patch_bytes = st->patch.len;
    if (!s->patch_bytes)
        return 0;
    struct shell_pages *pages = NULL;
    int r = shell_pages_patch(s->base, st->patch.p, st->patch.len, &pages);
    if (r != 0)
        return r == -ENOMEM ? state_load_no_memory(err)
                            : state_load_damaged(err, "the patch");
    shell_pages_put(s->shell.pages);
    s->shell.pages = pages;
    return 0;
}

/* --- places */

/* Returns the attributes of the inode at a place. The trees are those of the
 * snapshot, which the sandbox does not have yet; /dev and /proc are the same
 * with any state. -ENOENT: no inode is there. */
static int
state_load_getattr(const struct wsand_sandbox *sb, const struct snapshot *s,
                   const struct inode_ref *at, struct attr *ret)
{
    struct mount *m = mount_nth(&sb->kernel->vfs, at->mount);
    const struct tree *t = snapshot_tree(s, at->mount);
    const struct vnode v = {m, at->ino};
    uint64_t top = TREE_ROOT;

    if (m && m->is_bind && m->fs == mount_root(&sb->kernel->vfs)->fs) {
        t = snapshot_tree(s, 0);
        top = skeleton_find(t, m->path);
    } else if (m && !t && snapshot_mount(sb, at->mount)) {
        t = tmpfs_tree(m->fs); /* read-only: not part of the state */
    } else if (m && !t && !m->is_bind) {
        return vnode_getattr(&v, ret);
    }
    if (!m || !t || !place_is_below(t, at->ino, top))
        return -ENOENT;
    inode_getattr(tree_find(t, at->ino), at->ino, ret);
    return 0;
}

/* True if the user could open the file in this way. Otherwise a forged record
 * would give the guest a descriptor that it could not have opened. */
static bool
state_load_may_open(const struct wsand_sandbox *sb, const struct open_file *o,
                    const struct attr *a)
{
    static const int want[] = {R_OK, W_OK, R_OK | W_OK, R_OK | W_OK};
    int wanted = want[o->flags & O_ACCMODE];

    if (S_ISREG(a->mode) && wanted & W_OK &&
        mount_nth(&sb->kernel->vfs, o->at.mount)->read_only)
        return false;
    return vfs_access(&sb->kernel->user, a, wanted) == 0;
}

/* A regular file that is gone, or that the user may not open, becomes
 * /dev/null. All else is closed, for example the file in /proc of a process
 * that is gone. */
static enum open_how
state_load_how(const struct wsand_sandbox *sb, const struct snapshot *s,
               const struct open_file *o)
{
    const struct mount *m = mount_nth(&sb->kernel->vfs, o->at.mount);
    struct attr a;

    if (o->how != OPEN_AGAIN)
        return o->how;
    if (state_load_getattr(sb, s, &o->at, &a) < 0)
        return !m || tmpfs_is(m->fs) ? OPEN_NULL : OPEN_CLOSED;
    enum open_how how = shell_files_how(&a);
    if (how != OPEN_AGAIN || state_load_may_open(sb, o, &a))
        return how;
    return S_ISREG(a.mode) ? OPEN_NULL : OPEN_CLOSED;
}

/* Invalid places are replaced: the folder by one that was removed, files as
 * state_load_how says. */
static void
state_load_end_shell(const struct wsand_sandbox *sb, struct snapshot *s)
{
    struct attr cwd;

    if (state_load_getattr(sb, s, &s->shell.cwd, &cwd) < 0 ||
        !S_ISDIR(cwd.mode)) {
        s->shell.cwd = (struct inode_ref){0};
        s->shell.cwd_is_removed = true;
    }
    for (size_t i = 0; i < s->shell.n_files; i++) {
        struct open_file *o = &s->shell.files[i];
        o->flags &= (uint32_t)FLAGS;
        o->how = state_load_how(sb, s, o);
    }
}

/* The state is complete now. If it had only facts, they are checked here. */
int
state_end(struct wsand_state *st, OWN struct snapshot **ret,
          struct wsand_error *err)
{
    int r = st->type <= RECORD_FACT ? state_load_check_facts(st, err) : 0;
    if (r == 0)
        r = state_load_end_trees(st, err);
    if (r == 0)
        r = state_load_end_pages(st, err);
    if (r < 0)
        return r;
    if (state_load_take_trees(st) < 0)
        return state_load_no_memory(err);
    if (st->s->has_shell)
        state_load_end_shell(st->sb, st->s);
    *ret = STEAL(st->s);
    return 0;
}
