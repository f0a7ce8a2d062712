/* The durable state of a sandbox, and snapshots as bytes: both are records.
 *
 * Problem: after each request the changes must be saved, at a cost that depends
 * on the changes and not on the size of the sandbox.
 *
 * Idea: the last reported state is kept as a snapshot (`recorded`). The new
 * state is another snapshot, and the two share everything that has not changed,
 * so comparing them visits only the differences. The new one becomes `recorded`
 * only after all records were sent; a failed call is therefore repeated by the
 * next one. */
#include "lib/state.h"

#include "base/blake2b.h"
#include "base/buf.h"
#include "kernel/kernel.h"
#include "kernel/vfs/tmpfs.h"
#include "lib/error.h"
#include "lib/export.h"
#include "lib/history.h"
#include "lib/sandbox.h"
#include "lib/shell_script.h"
#include "lib/snapshot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SAVED_MAGIC "WSANDSN2"

DEFINE_CLEANUP(struct wsand_state *, wsand_state_free)
DEFINE_CLEANUP(struct snapshot *, snapshot_free)

/* --- changes */

/* Asks the shell for its script, which makes the shell run. on_kick could
 * change files that are being sent, or send changes of its own, so it has to
 * wait; the poke makes up for kicks in the meantime. */
static int
state_take_script(struct wsand_sandbox *sb, struct shell_script *s)
{
    struct kernel *k = sb->kernel;
    void (*on_kick)(void *arg) = STEAL(k->on_kick);

    int r = shell_script_take(sb, s, NULL);
    k->on_kick = on_kick;
    kernel_poke(k);
    return r;
}

/* Records the script, for the case that another version of the shell loads the
 * state. A state without it is complete for this version, so failures are
 * ignored. */
static int
state_send_script(struct wsand_sandbox *sb, const struct record_sink *to,
                  bool *ret)
{
    CLEANUP(shell_script_fini) struct shell_script s;
    CLEANUP(buf_fini) struct buf text;

    shell_script_init(&s);
    buf_init(&text, RECORD_VALUE_MAX);
    int r = state_take_script(sb, &s);
    if (r == 0)
        export_put_manifest(&text, &s);
    *ret = r == 0 && !text.error;
    return *ret ? state_send_fact(to, FACT_script, text.p, text.len) : 0;
}

/* A recorded script is removed when the shell has changed since: an outdated
 * script would restore a wrong state. */
static int
state_send_changes(struct wsand_sandbox *sb, struct snapshot *now,
                   bool with_script, const struct record_sink *to,
                   bool *ret_script)
{
    const struct snapshot *last = sb->recorded;
    bool is_new = with_script && now->has_shell;
    int r = 0;

    *ret_script = sb->has_script && state_is_same_shell(last, now);
    if (is_new && !*ret_script)
        r = state_send_script(sb, to, ret_script);
    if (r == 0 && sb->has_script && !*ret_script)
        r = state_send_fact(to, FACT_script, NULL, 0);
    return r == 0 ? state_send(sb, last, now, to) : r;
}

/* Makes s the last reported state. Memory that only the old one uses is freed
 * in steps, because it may be large. */
static void
state_set_recorded(struct wsand_sandbox *sb, OWN struct snapshot *s)
{
    struct snapshot *old = sb->recorded;

    for (size_t i = 0; old && i < old->n_trees; i++) {
        struct mount *m = snapshot_mount(sb, old->trees[i].mount);
        tree_defer_free(&old->trees[i].tree, tmpfs_tree(m->fs));
    }
    snapshot_free(old);
    sb->recorded = s;
}

/* The new snapshot becomes `recorded` only after all records were sent. After
 * an error, the next call sends the same changes again. */
int
wsand_state_changes(struct wsand_sandbox *sb, const struct wsand_sink *to,
                    bool with_script, struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    CLEANUP(snapshot_freep) struct snapshot *now = NULL;
    const struct record_sink sink = {to->put, to->arg};
    bool has_script;

    int r = wsand_checkpoint(sb, err);
    if (r < 0)
        return r;
    r = snapshot_new(sb, false, &now);
    if (r == 0)
        r = state_send_changes(sb, now, with_script, &sink, &has_script);
    if (r != 0)
        return r < 0 ? error_errno(err, -r, "cannot save the state") : r;
    state_set_recorded(sb, STEAL(now));
    sb->has_script = has_script;
    return 0;
}

/* --- applying */

/* Restores the shell by its script, because its pages belong to another build
 * of bash. As for imports, this happens in a draft. */
static int
state_apply_script(struct wsand_state *st, const struct snapshot *s,
                   struct wsand_sandbox *sb, struct wsand_error *err)
{
    CLEANUP(shell_script_fini) struct shell_script script;
    const char *text = state_script(st);
    struct wsand_sandbox *draft = NULL;

    shell_script_init(&script);
    if (!text || s->n_trees > 1)
        return error_set(
            err, EINVAL,
            text ? "saved with another shell, and the sandbox has mounts"
                 : "saved with another shell, without a script");
    int r = export_get_manifest(text, strlen(text), &script, err);
    if (r == 0)
        r = sandbox_draft(sb, &s->trees[0].tree, &draft, err);
    if (r == 0)
        r = shell_script_run(draft, &script, err);
    if (r == 0) {
        history_put(draft->history);
        draft->history = history_get(s->history);
        r = snapshot_replace(sb, draft, err);
    }
    wsand_sandbox_free(draft);
    return r;
}

/* The loaded state becomes the last reported one, so the next changes are
 * relative to it. */
int
wsand_state_apply(struct wsand_state *st, struct wsand_error *err)
{
    CLEANUP(wsand_state_freep) struct wsand_state *own = st;
    CLEANUP(snapshot_freep) struct snapshot *s = NULL;
    struct wsand_sandbox *sb = state_sandbox(own);
    SANDBOX_LEASE(sb, err);

    int r = state_end(st, &s, err);
    if (r != 0)
        return r;
    r = s->has_other_module ? state_apply_script(st, s, sb, err)
                            : snapshot_restore(sb, s, err);
    if (r < 0)
        return r;
    state_set_recorded(sb, STEAL(s));
    sb->has_script = state_script(st);
    return 0;
}

/* --- snapshots as bytes: a head, then all records */

/* The hash detects damage. It does not protect against forgery, so the records
 * are checked like any others. */
struct saved_head {
    char magic[8];
    uint8_t body[32]; /* hash of what follows */
};

static void
state_hash_of(const void *p, size_t len, uint8_t ret[32])
{
    struct blake2b b;

    blake2b_init(&b);
    blake2b_add(&b, p, len);
    blake2b_end(&b, ret);
}

static int
state_add_record(void *arg, const void *key, size_t key_len, const void *value,
                 size_t len)
{
    const struct record_head h = {RECORD_PUT, (uint16_t)key_len, (uint32_t)len};
    uint8_t head[RECORD_HEAD_BYTES];
    struct buf *b = arg;

    record_head_put(&h, head);
    buf_add(b, head, sizeof head);
    buf_add(b, key, key_len);
    buf_add(b, value, len);
    return b->error;
}

/* The head is written twice: first as a placeholder, then with the hash of the
 * bytes that follow. */
int
wsand_snapshot_save(struct wsand_sandbox *sb, uint64_t id, void **ret_data,
                    size_t *ret_len, struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    CLEANUP(buf_fini) struct buf b;
    struct saved_head head = {.magic = SAVED_MAGIC};
    const struct record_sink to = {state_add_record, &b};
    struct snapshot *s;

    buf_init(&b, SIZE_MAX);
    int r = snapshot_find_error(sb, id, &s, err);
    if (r < 0)
        return r;
    buf_add(&b, &head, sizeof head);
    r = state_send(sb, NULL, s, &to);
    if (r < 0)
        return error_errno(err, -r, "cannot save the snapshot");
    state_hash_of(b.p + sizeof head, b.len - sizeof head, head.body);
    memcpy(b.p, &head, sizeof head);
    *ret_len = b.len;
    *ret_data = buf_steal(&b);
    return 0;
}

static int
state_damaged(struct wsand_error *err)
{
    return error_set(err, EINVAL, "not a snapshot, or damaged");
}

/* Passes each record on. All lengths are checked against the end of the
 * bytes. */
static int
state_put_records(struct wsand_state *st, const uint8_t *p, size_t len,
                  struct wsand_error *err)
{
    const uint8_t *end = p + len;
    struct record_head h;
    int r = 0;

    while (r == 0 && p < end) {
        if (end - p < RECORD_HEAD_BYTES || record_head_get(p, &h) < 0 ||
            h.op != RECORD_PUT)
            return state_damaged(err);
        p += RECORD_HEAD_BYTES;
        if ((size_t)(end - p) < (size_t)h.key_len + h.value_len)
            return state_damaged(err);
        r = wsand_state_put(st, p, h.key_len, p + h.key_len, h.value_len, err);
        p += h.key_len + h.value_len;
    }
    return r;
}

static int
state_check_head(const uint8_t *data, size_t len, struct wsand_error *err)
{
    struct saved_head head;
    uint8_t hash[32];

    if (len < sizeof head)
        return state_damaged(err);
    memcpy(&head, data, sizeof head);
    state_hash_of(data + sizeof head, len - sizeof head, hash);
    bool is_well = !memcmp(head.magic, SAVED_MAGIC, sizeof head.magic) &&
                   !memcmp(hash, head.body, sizeof hash);
    return is_well ? 0 : state_damaged(err);
}

/* Pages of another shell cannot be restored, and a snapshot contains no
 * script. */
int
wsand_snapshot_load(struct wsand_sandbox *sb, const void *data, size_t len,
                    uint64_t *ret_id, struct wsand_error *err)
{
    SANDBOX_LEASE(sb, err);
    CLEANUP(wsand_state_freep) struct wsand_state *st = NULL;
    CLEANUP(snapshot_freep) struct snapshot *s = NULL;
    const size_t head = sizeof(struct saved_head);

    int r = snapshot_check_limit(sb, err);
    if (r == 0)
        r = state_check_head(data, len, err);
    if (r == 0)
        r = wsand_state_begin(sb, &st, err);
    if (r == 0)
        r = state_put_records(st, (const uint8_t *)data + head, len - head,
                              err);
    if (r == 0)
        r = state_end(st, &s, err);
    if (r == 0 && s->has_other_module)
        r = error_set(err, EINVAL, "a snapshot of another shell");
    return r < 0 ? r : snapshot_add(sb, STEAL(s), ret_id, err);
}
