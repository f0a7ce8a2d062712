/* From snapshots to records.
 *
 * Each part of a state compares itself with the last snapshot and sends only
 * its changes. Facts and open files are compared by value, pages by reference,
 * and history and files along the shared structure of their trees. The parts
 * are sent in the order of their record types, in which they can be loaded. */
#include "lib/state.h"

#include "base/blake2b.h"
#include "base/buf.h"
#include "kernel/kernel.h"
#include "lib/history.h"
#include "lib/sandbox.h"
#include "lib/shell.h"
#include "lib/skeleton.h"
#include "lib/snapshot.h"
#include "tree/image.h"
#include "tree/tree_records.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* --- the base of the records: root image and program of the shell */

/* Hashing the image takes a while, so the result is kept. The lock also makes
 * other threads wait for it. */
void
state_image_hash(struct root_image *i, uint8_t ret[32])
{
    pthread_mutex_lock(&i->shell.lock);
    if (i->image && !i->has_hash)
        blake2b_hash(i->file.bytes, i->file.len, i->hash);
    i->has_hash = true;
    memcpy(ret, i->hash, sizeof i->hash);
    pthread_mutex_unlock(&i->shell.lock);
}

/* Hashes the program of the shell. The hash also covers the layout of the
 * task's state, which is saved as it is. */
static void
state_save_hash_module(const struct image *image, uint8_t ret[32])
{
    const uint32_t layout[] = {RECORD_VERSION, sizeof(struct resident_state)};
    const struct tree *t = image_tree(image);
    const struct inode *i = tree_find(t, skeleton_find(t, SHELL_PATH));
    char buf[4096 - 1024];
    struct blake2b b;

    blake2b_init(&b);
    blake2b_add(&b, layout, sizeof layout);
    for (uint64_t at = 0; i && at < i->size; at += sizeof buf) {
        int64_t n = inode_read(i, at, buf, sizeof buf);
        blake2b_add(&b, buf, (size_t)n);
    }
    blake2b_end(&b, ret);
}

void
state_module_hash(struct root_image *i, uint8_t ret[32])
{
    pthread_mutex_lock(&i->shell.lock);
    if (i->image && !i->shell.has_hash)
        state_save_hash_module(i->image, i->shell.hash);
    i->shell.has_hash = true;
    memcpy(ret, i->shell.hash, sizeof i->shell.hash);
    pthread_mutex_unlock(&i->shell.lock);
}

bool
state_has_mount(const struct wsand_sandbox *sb, size_t n)
{
    const struct mount *m = snapshot_mount(sb, n);

    return m && !m->fs->is_memory && (!n || !m->read_only);
}

const struct tree *
state_base(const struct wsand_sandbox *sb, size_t n, const struct tree *empty)
{
    return n || !sb->image->image ? empty : image_tree(sb->image->image);
}

/* --- facts */

int
state_send_fact(const struct record_sink *to, enum record_fact fact,
                const void *value, size_t len)
{
    const struct record_key k = record_fact_key(fact);

    return record_send(to, &k, value, len);
}

static int
state_save_send_hash(struct wsand_sandbox *sb, const struct record_sink *to,
                     enum record_fact fact,
                     void (*hash)(struct root_image *, uint8_t *))
{
    uint8_t value[32];

    hash(sb->image, value);
    return state_send_fact(to, fact, value, sizeof value);
}

static int
state_save_send_version(const struct record_sink *to)
{
    const uint8_t value[4] = {0, 0, 0, RECORD_VERSION};

    return state_send_fact(to, FACT_version, value, sizeof value);
}

/* Writes the fact about the shell. Returns its length, or 0 without a shell. */
static size_t
state_save_shell_fact(const struct snapshot *s, uint8_t buf[RECORD_FIXED_MAX])
{
    if (!s || !s->has_shell)
        return 0;
    const struct record_shell r = {.status = (uint32_t)s->shell.status,
                                   .has_env = s->shell.has_env,
                                   .cwd_is_removed = s->shell.cwd_is_removed,
                                   .memory_bytes =
                                       shell_pages_size(s->shell.pages),
                                   .cwd_mount = (uint32_t)s->shell.cwd.mount,
                                   .cwd = s->shell.cwd.ino};
    return record_shell_put(&r, buf);
}

/* Compares the recorded forms, so that padding of structures does not count. */
static bool
state_save_is_same_fact(const struct snapshot *a, const struct snapshot *b)
{
    uint8_t x[RECORD_FIXED_MAX], y[RECORD_FIXED_MAX];
    size_t n = state_save_shell_fact(a, x);

    return n == state_save_shell_fact(b, y) && !memcmp(x, y, n);
}

static bool
state_save_is_same_task(const struct snapshot *a, const struct snapshot *b)
{
    return a && a->has_shell == b->has_shell &&
           !memcmp(&a->shell.state, &b->shell.state, sizeof a->shell.state);
}

static bool
state_save_is_same_rlimits(const struct snapshot *a, const struct snapshot *b)
{
    return a && a->has_shell == b->has_shell &&
           !memcmp(a->shell.rlimits, b->shell.rlimits, sizeof a->shell.rlimits);
}

bool
state_is_same_shell(const struct snapshot *a, const struct snapshot *b)
{
    return a->has_shell == b->has_shell && state_save_is_same_fact(a, b) &&
           state_save_is_same_task(a, b) && state_save_is_same_rlimits(a, b) &&
           a->shell.pages == b->shell.pages;
}

/* Sends a fact about the shell's task; without a shell, the fact is removed. */
static int
state_save_send_part(const struct snapshot *last, const struct snapshot *now,
                     const struct record_sink *to, enum record_fact fact,
                     const void *p, size_t len)
{
    if (now->has_shell)
        return state_send_fact(to, fact, p, len);
    return last && last->has_shell ? state_send_fact(to, fact, NULL, 0) : 0;
}

static int
state_save_send_shell(const struct snapshot *last, const struct snapshot *now,
                      const struct record_sink *to)
{
    const struct shell_state *s = &now->shell;
    uint8_t value[RECORD_FIXED_MAX];
    int r = 0;

    if (!state_save_is_same_fact(last, now)) {
        size_t n = state_save_shell_fact(now, value);
        r = state_send_fact(to, FACT_shell, n ? value : NULL, n);
    }
    if (r == 0 && !state_save_is_same_task(last, now))
        r = state_save_send_part(last, now, to, FACT_task, &s->state,
                                 sizeof s->state);
    if (r == 0 && !state_save_is_same_rlimits(last, now))
        r = state_save_send_part(last, now, to, FACT_rlimits, s->rlimits,
                                 sizeof s->rlimits);
    return r;
}

/* Without lost processes the value is NULL, which removes the fact. */
static int
state_save_send_gone(const struct snapshot *last, const struct snapshot *now,
                     const struct record_sink *to)
{
    static const struct gone none;
    const struct gone *was = last ? &last->gone : &none, *is = &now->gone;

    if (was->len == is->len && (!is->len || !memcmp(was->p, is->p, is->len)))
        return 0;
    return state_send_fact(to, FACT_processes, is->p, is->len);
}

/* Image and version are recorded once. The module is recorded with the first
 * shell. */
static int
state_save_send_facts(struct wsand_sandbox *sb, const struct snapshot *last,
                      const struct snapshot *now, const struct record_sink *to)
{
    bool has_module = last && last->has_shell && !last->has_other_module;
    int r =
        last ? 0 : state_save_send_hash(sb, to, FACT_image, state_image_hash);

    if (r == 0 && now->has_shell && !has_module)
        r = state_save_send_hash(sb, to, FACT_module, state_module_hash);
    else if (r == 0 && !now->has_shell && last && last->has_shell)
        r = state_send_fact(to, FACT_module, NULL, 0);
    if (r == 0)
        r = state_save_send_shell(last, now, to);
    if (r == 0)
        r = state_save_send_gone(last, now, to);
    return r == 0 && !last ? state_save_send_version(to) : r;
}

/* --- open files */

static size_t
file_value(const struct open_file *o, uint8_t buf[RECORD_FIXED_MAX])
{
    const struct record_file r = {.flags = o->flags,
                                  .cloexec = o->cloexec,
                                  .same_as = (uint32_t)o->same_as,
                                  .mount = (uint32_t)o->at.mount,
                                  .inode = o->how == OPEN_AGAIN ? o->at.ino : 0,
                                  .is_closed = o->how == OPEN_CLOSED,
                                  .pos = o->pos};

    return record_file_put(&r, buf);
}

/* Sends an open file that is new, changed or closed; was and now may be
 * NULL. */
static int
state_save_send_file(int fd, const struct open_file *was,
                     const struct open_file *now, const struct record_sink *to)
{
    const struct record_key k = {.type = RECORD_FILE, .index = (uint64_t)fd};
    uint8_t a[RECORD_FIXED_MAX], b[RECORD_FIXED_MAX];

    if (!now)
        return record_send(to, &k, NULL, 0);
    size_t n = file_value(now, b);
    if (was && file_value(was, a) == n && !memcmp(a, b, n))
        return 0;
    return record_send(to, &k, b, n);
}

/* A merge of two lists in the order of descriptors. */
static int
state_save_send_files(const struct snapshot *last, const struct snapshot *now,
                      const struct record_sink *to)
{
    static const struct shell_state none;
    const struct shell_state *a = last ? &last->shell : &none, *b = &now->shell;
    size_t i = 0, j = 0;
    int r = 0;

    while (r == 0 && (i < a->n_files || j < b->n_files)) {
        int was = i < a->n_files ? a->files[i].fd : INT_MAX;
        int is = j < b->n_files ? b->files[j].fd : INT_MAX;
        r = state_save_send_file(was < is ? was : is,
                                 was <= is ? &a->files[i++] : NULL,
                                 is <= was ? &b->files[j++] : NULL, to);
    }
    return r;
}

/* --- history and pages */

/* The argument of callbacks, which cannot return an error. */
struct sending {
    const struct record_sink *to;
    int error;
};

static void
state_save_send_command(void *arg, uint64_t number, struct shared *was,
                        struct shared *now)
{
    const struct record_key k = {.type = RECORD_COMMAND, .index = number};
    const char *text = now ? history_text(now) : NULL;
    struct sending *s = arg;

    (void)was;
    if (!s->error)
        s->error = record_send(s->to, &k, text, text ? strlen(text) : 0);
}

static int
state_save_send_history(const struct snapshot *last, const struct snapshot *now,
                        const struct record_sink *to)
{
    struct sending s = {.to = to};

    history_diff(last ? last->history : NULL, now->history,
                 state_save_send_command, &s);
    return s.error;
}

/* Zeros at the end of a page are omitted; loading adds them again. */
static int
state_save_send_page(void *arg, uint32_t index, const uint8_t *bytes)
{
    const struct record_key k = {.type = RECORD_PAGE, .index = index};
    const struct sending *s = arg;
    size_t n = bytes ? SHELL_PAGE_BYTES : 0;
    uint64_t word;

    for (; n; n -= sizeof word) {
        memcpy(&word, bytes + n - sizeof word, sizeof word);
        if (word)
            break;
    }
    return record_send(s->to, &k, bytes, n);
}

/* Pads the patch with zeros, so that its size seldom changes. The store then
 * overwrites it in place. */
static void
state_save_pad(struct buf *patch, size_t min)
{
    enum { STEP = 1024 };
    static const uint8_t zero[RECORD_PATCH_MAX];
    size_t len = (patch->len + STEP - 1) / STEP * STEP;

    if (len < min)
        len = min;
    if (patch->len && !patch->error)
        buf_add(patch, zero, len - patch->len);
}

/* Pages change a few words at a time, which the patch records. When the patch
 * is full, pages that have stopped changing are recorded again. */
static int
state_save_send_pages(const struct snapshot *last, struct snapshot *now,
                      const struct record_sink *to)
{
    const struct shell_pages *was = last ? last->shell.pages : NULL;
    struct sending s = {.to = to};
    CLEANUP(buf_fini) struct buf patch;
    struct shell_pages *base = NULL;

    buf_init(&patch, SIZE_MAX);
    if (last && was == now->shell.pages) {
        now->base = shell_pages_get(last->base);
        now->patch_bytes = last->patch_bytes;
        return 0;
    }
    bool is_full = last && last->patch_bytes == RECORD_PATCH_MAX;
    const struct shell_pages_change change = {
        .base = last ? last->base : NULL,
        .settled = is_full ? was : NULL,
        .now = now->shell.pages,
        .patch_max = RECORD_PATCH_MAX,
        .put = state_save_send_page,
        .arg = &s,
    };
    int r = shell_pages_update(&change, &patch, &base);
    state_save_pad(&patch, last && !is_full ? last->patch_bytes : 0);
    if (r == 0 && (patch.len || (last && last->patch_bytes)))
        r = state_send_fact(to, FACT_patch, patch.len ? patch.p : NULL,
                            patch.len);
    shell_pages_put(now->base);
    now->base = base;
    now->patch_bytes = patch.len;
    return r;
}

/* --- files */

/* Without a last state, files are compared with the base, so only differences
 * from the root image are recorded. */
static int
state_save_send_trees(struct wsand_sandbox *sb, const struct snapshot *last,
                      const struct snapshot *now, enum record_type type,
                      const struct tree *empty, const struct record_sink *to)
{
    int r = 0;

    for (size_t i = 0; r == 0 && i < now->n_trees; i++) {
        size_t mount = now->trees[i].mount;
        const struct tree *base = state_base(sb, mount, empty);
        const struct tree *was = last ? snapshot_tree(last, mount) : NULL;
        if (state_has_mount(sb, mount))
            r = tree_records(base, was ? was : base, &now->trees[i].tree, type,
                             (uint32_t)mount, to);
    }
    return r;
}

/* The order of the calls is the order of record types, which state_load.c
 * checks. */
int
state_send(struct wsand_sandbox *sb, const struct snapshot *last,
           struct snapshot *now, const struct record_sink *to)
{
    const struct quota all = {UINT64_MAX, UINT64_MAX};
    CLEANUP(tree_fini) struct tree empty = {0};

    int r = tree_init(&empty, &all, 0);
    if (r == 0)
        r = state_save_send_facts(sb, last, now, to);
    if (r == 0)
        r = state_save_send_files(last, now, to);
    if (r == 0)
        r = state_save_send_history(last, now, to);
    if (r == 0)
        r = state_save_send_trees(sb, last, now, RECORD_INODE, &empty, to);
    if (r == 0)
        r = state_save_send_trees(sb, last, now, RECORD_NAME, &empty, to);
    if (r == 0)
        r = state_save_send_pages(last, now, to);
    if (r == 0)
        r = state_save_send_trees(sb, last, now, RECORD_ATTRS, &empty, to);
    if (r == 0)
        r = state_save_send_trees(sb, last, now, RECORD_PLACE, &empty, to);
    return r == 0
               ? state_save_send_trees(sb, last, now, RECORD_BLOCK, &empty, to)
               : r;
}
