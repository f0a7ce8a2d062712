/* Snapshots as bytes: reading. Nothing in them is trusted: what they describe
 * is no more than what the guest itself could have made. */
#include "lib/snapshot_save.h"

#include "kernel/kernel.h"
#include "kernel/vfs/tmpfs.h"
#include "lib/export.h"
#include "lib/history.h"
#include "lib/place.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { USER_ID = 1000, WASM_PAGE = 65536, FLAGS = O_ACCMODE | O_APPEND };

struct reader {
    struct wsand_sandbox *sb;
    const uint8_t *p, *end;
    struct snapshot *s;
    struct wsand_error *err;
};

static int
damaged(const struct reader *r)
{
    return error_set(r->err, EINVAL, "not a snapshot, or damaged");
}

static int
no_memory(const struct reader *r)
{
    return error_set(r->err, ENOMEM, "out of memory");
}

/* The next bytes, or NULL. */
static const void *
get(struct reader *r, uint64_t len)
{
    const uint8_t *p = r->p;

    if (len > (uint64_t)(r->end - p))
        return NULL;
    r->p += len;
    return p;
}

static bool
get_copy(struct reader *r, void *to, size_t len)
{
    const void *p = get(r, len);

    if (p)
        memcpy(to, p, len);
    return p;
}

/* A string, to be freed; NULL: damaged, or no memory. */
static char *
get_text(struct reader *r)
{
    const char *p = NULL;
    uint32_t len;

    if (get_copy(r, &len, sizeof len))
        p = get(r, len);
    return p && !memchr(p, 0, len) ? strndup(p, len) : NULL;
}

/* --- files */

static int
get_tree(struct reader *r, struct quota *left)
{
    const struct quota all = {UINT64_MAX, UINT64_MAX};
    struct image_error why = {0};
    uint32_t mount;
    uint64_t len;

    if (!get_copy(r, &mount, sizeof mount) || !get_copy(r, &len, sizeof len))
        return damaged(r);
    const void *tar = get(r, len);
    const struct mount *m = snapshot_mount(r->sb, mount);
    bool is_root = mount == 0, is_first = r->s->n_trees == 0;
    if (!tar || !m || is_root != is_first || snapshot_tree(r->s, mount) ||
        (!is_root && m->read_only))
        return damaged(r);
    struct mount_tree *to = &r->s->trees[r->s->n_trees];
    int e = is_root ? base_tree(r->sb->runtime, &to->tree)
                    : tree_init(&to->tree, &all, 0);
    if (e < 0)
        return no_memory(r);
    to->mount = mount;
    r->s->n_trees++;
    to->tree.max = *left;
    e = layer_apply(tar, len, &to->tree, NULL, &why);
    if (e < 0)
        return layer_error(r->sb->kernel, &to->tree, e, &why, r->err);
    left->bytes -= to->tree.used.bytes;
    left->inodes -= to->tree.used.inodes;
    return 0;
}

static int
get_trees(struct reader *r)
{
    const uint64_t *max = r->sb->kernel->limits.max;
    struct quota left = {max[LIMIT_file_bytes], max[LIMIT_files]};
    uint32_t n, mounts = 0;
    int e = 0;

    LIST_FOR_EACH(it, &r->sb->kernel->mounts)
    mounts++;
    if (!get_copy(r, &n, sizeof n) || !n || n > mounts)
        return damaged(r);
    r->s->trees = calloc(n, sizeof *r->s->trees);
    if (!r->s->trees)
        return no_memory(r);
    for (uint32_t i = 0; e == 0 && i < n; i++)
        e = get_tree(r, &left);
    return e;
}

static int
get_history(struct reader *r)
{
    uint32_t n;

    if (!get_copy(r, &n, sizeof n) || n > HISTORY_MAX)
        return damaged(r);
    while (n--) {
        char *text = get_text(r);
        if (!text)
            return damaged(r);
        history_add(&r->s->history, text, strlen(text));
        free(text);
    }
    return 0;
}

/* --- the shell */

/* Where a path leads now; ino 0: nowhere. */
static bool
get_place(struct reader *r, uint32_t mount, struct place *ret)
{
    const struct tree *t = snapshot_tree(r->s, mount);
    char *path = get_text(r);

    if (!path)
        return false;
    *ret = (struct place){.mount = mount};
    if (t && *path)
        ret->ino = place_find(t, path);
    else if (t && mount)
        ret->ino = TREE_ROOT;
    free(path);
    return true;
}

/* May the user open it so? */
static bool
may_open(const struct reader *r, const struct open_file *o)
{
    static const int want[] = {R_OK, W_OK, R_OK | W_OK, R_OK | W_OK};
    const struct cred user = {USER_ID, USER_ID};
    const struct mount *m = snapshot_mount(r->sb, o->at.mount);
    const struct tree *t = snapshot_tree(r->s, o->at.mount);
    const struct inode *i = t && o->at.ino ? tree_find(t, o->at.ino) : NULL;
    int wanted = want[o->flags & O_ACCMODE];
    struct attr a;

    if (!m || !i || !S_ISREG(i->mode) || (wanted & W_OK && m->read_only))
        return false;
    inode_getattr(i, o->at.ino, &a);
    return vfs_access(&user, &a, wanted) == 0;
}

static int
get_file(struct reader *r, struct open_file *ret)
{
    const uint64_t *max = r->sb->kernel->limits.max;
    struct saved_file f;

    if (!get_copy(r, &f, sizeof f) || !get_place(r, f.mount, &ret->at) ||
        f.fd < STDIO_FDS || (uint64_t)f.fd >= max[LIMIT_fds] ||
        f.pos > INT64_MAX)
        return damaged(r);
    ret->fd = f.fd;
    ret->cloexec = f.cloexec;
    ret->flags = f.flags & (uint32_t)FLAGS;
    ret->pos = f.pos;
    ret->is_lost = f.is_lost || !may_open(r, ret);
    return 0;
}

static int
get_files(struct reader *r, uint32_t n)
{
    struct shell_state *s = &r->s->shell;
    int e = 0;

    if (n > (uint64_t)(r->end - r->p) / sizeof(struct saved_file))
        return damaged(r);
    s->files = calloc(n + 1, sizeof *s->files);
    if (!s->files)
        return no_memory(r);
    for (uint32_t i = 0; e == 0 && i < n; i++) {
        e = get_file(r, &s->files[i]);
        s->n_files += e == 0;
    }
    return e;
}

static int
get_pages(struct reader *r, uint64_t size, uint32_t n)
{
    uint32_t index, last = 0;

    if (!size && !n)
        return 0; /* a shell that has never run */
    if (size % WASM_PAGE || size > r->sb->kernel->limits.max[LIMIT_memory] ||
        size > UINT32_MAX)
        return damaged(r);
    if (shell_pages_new(size, &r->s->shell.pages) < 0)
        return no_memory(r);
    for (uint32_t i = 0; i < n; i++, last = index) {
        const uint8_t *page = NULL;
        if (get_copy(r, &index, sizeof index))
            page = get(r, SHELL_PAGE_BYTES);
        if (!page || (i && index <= last) || index >= size / SHELL_PAGE_BYTES)
            return damaged(r);
        if (shell_pages_add(r->s->shell.pages, index, page) < 0)
            return no_memory(r);
    }
    return 0;
}

/* No more than what its system calls would have let it set. */
static void
bound_state(struct resident_state *s)
{
    const uint64_t never = UINT64_C(1) << (SIGKILL - 1) | UINT64_C(1)
                                                              << (SIGSTOP - 1);

    s->action[SIGKILL] = s->action[SIGSTOP] = (struct sigaction_k){0};
    s->mask &= ~never;
    s->umask &= 0777;
}

static int
get_shell(struct reader *r)
{
    struct shell_state *s = &r->s->shell;
    struct saved_shell head;

    if (!r->sb->runtime->image || !get_copy(r, &head, sizeof head) ||
        head.state_bytes != sizeof s->state ||
        !get_copy(r, &s->state, sizeof s->state) || head.status < 0 ||
        head.status > 255 || !get_place(r, head.cwd_mount, &s->cwd))
        return damaged(r);
    bound_state(&s->state);
    s->status = head.status;
    s->has_env = head.has_env;
    const struct tree *t = snapshot_tree(r->s, s->cwd.mount);
    const struct inode *cwd = t ? tree_find(t, s->cwd.ino) : NULL;
    if (!cwd || !inode_is_dir(cwd))
        s->cwd = (struct place){.ino = TREE_ROOT};
    int e = get_files(r, head.n_files);
    return e < 0 ? e : get_pages(r, head.memory_bytes, head.n_pages);
}

/* --- all */

static int
check_head(struct reader *r)
{
    struct saved_head head;
    uint8_t hash[32];

    if (!get_copy(r, &head, sizeof head) ||
        memcmp(head.magic, SAVED_MAGIC, sizeof head.magic) != 0)
        return damaged(r);
    hash_of(r->p, (size_t)(r->end - r->p), hash);
    if (memcmp(hash, head.body, sizeof hash) != 0)
        return damaged(r);
    image_hash(r->sb->runtime, hash);
    if (memcmp(hash, head.image, sizeof hash) != 0)
        return error_set(r->err, EINVAL, "a snapshot over another root image");
    return 0;
}

static int
get_snapshot(struct reader *r)
{
    uint32_t has_shell;

    int e = get_trees(r);
    if (e == 0)
        e = get_history(r);
    if (e < 0)
        return e;
    if (!get_copy(r, &has_shell, sizeof has_shell) || has_shell > 1)
        return damaged(r);
    r->s->has_shell = has_shell;
    if (has_shell)
        e = get_shell(r);
    return e == 0 && r->p != r->end ? damaged(r) : e;
}

int
wsand_snapshot_load(struct wsand_sandbox *sb, const void *data, size_t len,
                    uint64_t *ret_id, struct wsand_error *err)
{
    SANDBOX_TURN(sb, err);
    struct reader r = {
        .sb = sb, .p = data, .end = (const uint8_t *)data + len, .err = err};

    int e = snapshot_check_limit(sb, err);
    if (e == 0)
        e = check_head(&r);
    if (e < 0)
        return e;
    r.s = calloc(1, sizeof *r.s);
    if (!r.s)
        return no_memory(&r);
    list_init(&r.s->link);
    e = get_snapshot(&r);
    if (e < 0) {
        snapshot_free(r.s);
        return e;
    }
    return snapshot_add(sb, r.s, ret_id, err);
}
