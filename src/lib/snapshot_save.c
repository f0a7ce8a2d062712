/* Snapshots as bytes: writing. */
#include "lib/snapshot_save.h"

#include "base/blake2b.h"
#include "kernel/kernel.h"
#include "lib/export.h"
#include "lib/history.h"
#include "lib/place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void
hash_of(const void *p, size_t len, uint8_t ret[32])
{
    struct blake2b b;

    blake2b_init(&b);
    blake2b_add(&b, p, len);
    blake2b_end(&b, ret);
}

void
image_hash(struct wsand_runtime *rt, uint8_t ret[32])
{
    pthread_mutex_lock(&rt->shell.lock);
    if (rt->image && !rt->has_image_hash)
        hash_of(rt->image_file.bytes, rt->image_file.len, rt->image_hash);
    rt->has_image_hash = true;
    memcpy(ret, rt->image_hash, sizeof rt->image_hash);
    pthread_mutex_unlock(&rt->shell.lock);
}

static void
put_u32(struct buf *b, size_t n)
{
    uint32_t v = (uint32_t)n;

    buf_add(b, &v, sizeof v);
}

static void
put_text(struct buf *b, const char *s)
{
    put_u32(b, strlen(s));
    buf_puts(b, s);
}

/* --- files */

static int
put_tree(struct wsand_sandbox *sb, const struct mount_tree *m, struct buf *b,
         struct wsand_error *err)
{
    const struct quota all = {UINT64_MAX, UINT64_MAX};
    CLEANUP(tree_fini) struct tree base = {0};
    struct image_error why = {0};
    uint64_t len = 0;

    put_u32(b, m->mount);
    size_t at = b->len;
    buf_add(b, &len, sizeof len);
    int r =
        m->mount ? tree_init(&base, &all, 0) : base_tree(sb->runtime, &base);
    if (r == 0)
        r = layer_write(&base, &m->tree, NULL, b, &why);
    if (r < 0)
        return layer_error(sb->kernel, &m->tree, r, &why, err);
    len = b->len - at - sizeof len;
    memcpy(b->p + at, &len, sizeof len);
    return 0;
}

/* What is read-only is the same in any sandbox with these mounts. */
static bool
is_saved(const struct wsand_sandbox *sb, const struct mount_tree *m)
{
    const struct mount *mnt = snapshot_mount(sb, m->mount);

    return !m->mount || (mnt && !mnt->read_only);
}

static int
put_trees(struct wsand_sandbox *sb, const struct snapshot *s, struct buf *b,
          struct wsand_error *err)
{
    size_t n = 0;
    int r = 0;

    for (size_t i = 0; i < s->n_trees; i++)
        n += is_saved(sb, &s->trees[i]);
    put_u32(b, n);
    for (size_t i = 0; r == 0 && i < s->n_trees; i++)
        if (is_saved(sb, &s->trees[i]))
            r = put_tree(sb, &s->trees[i], b, err);
    return r;
}

/* --- the shell */

/* The path of a place, or "" if it has none that will be found again. */
static int
put_place(const struct snapshot *s, const struct place *p, struct buf *b)
{
    const struct tree *t = snapshot_tree(s, p->mount);
    char *path = NULL;

    int r = t ? place_path(t, p->ino, &path) : -ENOENT;
    put_text(b, path ? path : "");
    free(path);
    return r == -ENOMEM ? r : 0;
}

static int
put_file(const struct snapshot *s, const struct open_file *o, struct buf *b)
{
    const struct saved_file f = {.fd = o->fd,
                                 .cloexec = o->cloexec,
                                 .is_lost = o->is_lost,
                                 .flags = o->flags,
                                 .mount = (uint32_t)o->at.mount,
                                 .pos = o->pos};

    buf_add(b, &f, sizeof f);
    if (!o->is_lost)
        return put_place(s, &o->at, b);
    put_text(b, "");
    return 0;
}

static int
put_shell(const struct snapshot *s, struct buf *b)
{
    const struct shell_state *sh = &s->shell;
    const struct saved_shell head = {
        .state_bytes = sizeof sh->state,
        .status = sh->status,
        .has_env = sh->has_env,
        .n_files = (uint32_t)sh->n_files,
        .memory_bytes = shell_pages_size(sh->pages),
        .n_pages = (uint32_t)shell_pages_n(sh->pages),
        .cwd_mount = (uint32_t)sh->cwd.mount,
    };

    buf_add(b, &head, sizeof head);
    buf_add(b, &sh->state, sizeof sh->state);
    int r = put_place(s, &sh->cwd, b);
    for (size_t i = 0; r == 0 && i < sh->n_files; i++)
        r = put_file(s, &sh->files[i], b);
    for (size_t i = 0; r == 0 && i < head.n_pages; i++) {
        uint32_t index;
        const uint8_t *page = shell_pages_at(sh->pages, i, &index);
        put_u32(b, index);
        buf_add(b, page, SHELL_PAGE_BYTES);
    }
    return r;
}

/* --- all */

static int
put_snapshot(struct wsand_sandbox *sb, const struct snapshot *s, struct buf *b,
             struct wsand_error *err)
{
    struct saved_head head = {.magic = SAVED_MAGIC};

    image_hash(sb->runtime, head.image);
    buf_add(b, &head, sizeof head);
    int r = put_trees(sb, s, b, err);
    if (r < 0)
        return r;
    put_u32(b, history_n(s->history));
    for (size_t i = 0; i < history_n(s->history); i++)
        put_text(b, history_at(s->history, i));
    put_u32(b, s->has_shell);
    if (s->has_shell)
        r = put_shell(s, b);
    if (r == 0)
        r = b->error;
    if (r < 0)
        return error_errno(err, -r, "cannot save the snapshot");
    hash_of(b->p + sizeof head, b->len - sizeof head, head.body);
    memcpy(b->p, &head, sizeof head);
    return 0;
}

int
wsand_snapshot_save(struct wsand_sandbox *sb, uint64_t id, void **ret_data,
                    size_t *ret_len, struct wsand_error *err)
{
    SANDBOX_TURN(sb, err);
    CLEANUP(buf_fini) struct buf b;
    struct snapshot *s;

    buf_init(&b, SIZE_MAX);
    int r = snapshot_find_error(sb, id, &s, err);
    if (r == 0)
        r = put_snapshot(sb, s, &b, err);
    if (r < 0)
        return r;
    *ret_len = b.len;
    *ret_data = buf_steal(&b);
    return 0;
}
